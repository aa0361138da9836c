#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
void main()
{
    gl_FragDepth = float(in_triangle + 1u) / 16.0;
    color = shown(base().zyxw);
}
