#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
void main()
{
    uvec4 v = base();
    if ((v.x & 1u) == 0u)
        atomicMax(stored[place() & 1023u], v.x + v.y + 1u);
    color = shown(v);
}
