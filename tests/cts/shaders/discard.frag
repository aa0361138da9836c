#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
void main()
{
    uvec4 v = base();
    if ((v.x & 3u) == 1u)
        discard;
    if (v.z > 9u)
        v.y += 20u;
    color = shown(v);
}
