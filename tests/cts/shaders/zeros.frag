#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
// A weight that is mostly zero, and much that hangs on it.
void main()
{
    float weight = in_triangle == 1u && (place() & 64u) != 0u ? 2.0 : 0.0;
    vec4 light = vec4(0.0);
    for (int i = 0; i < 4; i++) {
        vec4 part = vec4(ivec4(base() >> uint(i)) & 31);
        light += floor(sqrt(part * part)) * weight;
    }
    color = (vec4(base() & 63u) + light * 0.5) / 255.0;
}
