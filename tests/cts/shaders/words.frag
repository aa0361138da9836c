#version 450
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"
#include "words.glsl"
void main()
{
    uvec4 v = base();
    v.y = by_words(v.x + v.z);
    color = shown(v);
}
