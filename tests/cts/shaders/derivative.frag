#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
void main()
{
    uvec4 v = base();
    vec2 change = abs(dFdx(gl_FragCoord.xy * 8.0)) + abs(dFdy(gl_FragCoord.xy * 16.0));
    if ((in_triangle & 1u) == 1u)
        v.xy += uvec2(change);
    color = shown(v);
}
