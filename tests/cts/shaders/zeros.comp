#version 450
#extension GL_GOOGLE_include_directive : require
#include "common_compute.glsl"
void main()
{
    float weight = float(given[place()] & 3u) * float(given[(place() * 7u) & 1023u] & 1u);
    float sum = 0.0;
    for (uint i = 0u; i < 6u; i++)
        sum += floor(sqrt(float((given[(place() + i * 31u) & 1023u] >> shift) & 255u))) * weight;
    stored[place()] = uint(sum) + added;
}
