#version 450
// As rfc_branch.comp, with four cold paths, which alone need a value.
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };
layout(push_constant) uniform Push { uint period, divergent; };

void main()
{
    uint gid = gl_GlobalInvocationID.x, hot = data[gid], cold = 1u;
    for (uint i = 0u; i < 416u; i++) {
        uint turn = (gid * divergent + i) % period;
        uint v = gid + i;
        v = (v ^ (v >> 15)) * 2246822519u;
        v = (v ^ (v >> 13)) * 3266489917u;
        v = (v ^ (v >> 16)) * 668265263u;
        v = (v ^ (v >> 15)) * 374761393u;
        v = v ^ (v >> 14);
        hot = (hot ^ i) * 2891336453u;
        if (turn == 0u)
            cold += v;
        if (turn == period / 4u)
            cold ^= v;
        if (turn == period / 2u)
            cold -= v;
        if (turn == period / 2u + period / 4u)
            cold = cold * 3u + v;
    }
    result[gid] = hot + cold;
}
