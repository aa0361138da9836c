#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

// Whole workgroups go each way, though the words that say which are read from memory.
void main()
{
    uint x = data[gl_WorkGroupID.x], sum = 1u;
    if ((x & 1u) != 0u) {
        sum += data[gl_LocalInvocationIndex];
        if ((x & 2u) != 0u)
            sum *= 7u;
        else
            sum ^= data[x & 255u];
        sum += 11u;
    } else {
        sum = data[gl_LocalInvocationIndex + 64u];
        for (uint i = 0u; i < (x >> 2 & 7u); i++)
            sum = sum * 3u + data[i];
    }
    result[gl_GlobalInvocationID.x] = sum;
}
