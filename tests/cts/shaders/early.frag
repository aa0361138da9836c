#version 450
#extension GL_GOOGLE_include_directive : require
layout(early_fragment_tests) in;
#include "common.glsl"
void main()
{
    uvec4 v = base();
    atomicMax(stored[in_triangle], place());
    color = shown(v.yxzw);
}
