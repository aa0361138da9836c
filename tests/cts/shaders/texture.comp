#version 450
#extension GL_GOOGLE_include_directive : require
#include "common_compute.glsl"
void main()
{
    uvec4 texel = uvec4(texelFetch(picture, ivec2(place() & 63u, place() >> 6), 0) * 255.0 + 0.5);
    uint v = texel.x + (texel.y << 8);
    if (texel.w == 255u)
        v += (given[place()] >> shift) + added;
    stored[place()] = v;
}
