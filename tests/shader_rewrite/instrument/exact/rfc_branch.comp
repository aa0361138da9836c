#version 450
// The offload RFC's microbenchmarks, "E2E Test Design": a loop whose cold path is taken once in a period. Uniform where
// all lanes take it in the same turn, divergent where each has a turn of its own.
layout(local_size_x = 70) in; // partial subgroups of 4, 8 and 32
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };
layout(push_constant) uniform Push { uint period, divergent; };

void main()
{
    uint gid = gl_GlobalInvocationID.x, hot = data[gid], cold = 1u;
    for (uint i = 0u; i < 416u; i++) {
        if ((gid * divergent + i) % period == 0u)
            cold = cold * 747796405u + i;
        else
            hot = (hot ^ i) * 2891336453u;
    }
    result[gid] = hot + cold;
}
