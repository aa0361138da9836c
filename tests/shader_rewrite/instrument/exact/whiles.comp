#version 450
layout(local_size_x = 13) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

uint get(uint i) { return data[(gl_GlobalInvocationID.x * 3u + gl_GlobalInvocationID.y * 5u + i) % data.length()]; }
void put(uint x)
{
    uvec3 n = gl_NumWorkGroups * gl_WorkGroupSize;
    result[(gl_GlobalInvocationID.z * n.y + gl_GlobalInvocationID.y) * n.x + gl_GlobalInvocationID.x] = x;
}

void main()
{
    uint x = get(0u) | 1u, steps = 0u;
    do {
        x = (x & 1u) != 0u ? x * 3u + 1u : x >> 1;
        steps++;
    } while (x != 1u && steps < 20u);
    while (true) {
        steps += 3u;
        if (steps % 7u == 0u)
            break;
        if (steps > 60u) {
            steps = 1u;
            break;
        }
    }
    while (steps > 100u)
        steps -= get(1u);
    put(steps);
}
