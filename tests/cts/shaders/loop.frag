#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
void main()
{
    uvec4 v = base();
    for (uint i = 0u; i < (place() & 7u); i++) {
        if (v.y == 80u + i)
            break;
        v.x = v.x * 3u + i;
        if ((v.x & 1u) == 0u)
            continue;
        v.z++;
    }
    color = shown(v);
}
