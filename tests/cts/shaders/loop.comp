#version 450
#extension GL_GOOGLE_include_directive : require
#include "common_compute.glsl"
void main()
{
    uint v = given[place()];
    for (uint i = 0u; i < (place() & 15u); i++) {
        v = v * 5u + i + added;
        if ((v & 63u) == 9u)
            break;
    }
    stored[place()] = v;
}
