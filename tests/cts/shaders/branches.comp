#version 450
#extension GL_GOOGLE_include_directive : require
#include "common_compute.glsl"
void main()
{
    uint v = given[place()];
    if (v == 0u)
        v = 17u + added;
    else if ((v & 1u) == 1u)
        v = v * 3u + (v >> shift);
    stored[place()] = v;
}
