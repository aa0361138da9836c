#version 450
#extension GL_GOOGLE_include_directive : require
#include "common_compute.glsl"
shared uint group[32];
void main()
{
    uint lane = gl_LocalInvocationID.x;
    group[lane] = given[place()] + added;
    barrier();
    for (uint step = 16u; step > 0u; step >>= 1u) {
        if (lane < step)
            group[lane] += group[lane + step];
        barrier();
    }
    stored[place()] = group[0] + (lane >> shift);
}
