#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
void main()
{
    uvec4 v = base();
    if ((v.x & 7u) == 3u)
        v = v.yzxw * 3u;
    else if (in_triangle == 2u)
        v.x ^= 0x55u;
    if (gl_FrontFacing)
        v.y += 7u;
    color = shown(v);
}
