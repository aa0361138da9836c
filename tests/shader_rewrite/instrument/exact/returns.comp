#version 450
layout(local_size_x = 21, local_size_y = 2) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

uint get(uint i) { return data[(gl_GlobalInvocationID.x * 3u + gl_GlobalInvocationID.y * 5u + i) % data.length()]; }
void put(uint x)
{
    uvec3 n = gl_NumWorkGroups * gl_WorkGroupSize;
    result[(gl_GlobalInvocationID.z * n.y + gl_GlobalInvocationID.y) * n.x + gl_GlobalInvocationID.x] = x;
}

uint search(uint from, uint limit)
{
    for (uint i = 0u; i < limit; i++) {
        uint x = get(from + i);
        if ((x & 15u) == 3u)
            return i;
        if (x > 0xf0000000u)
            return limit + x % 5u;
    }
    return 77u;
}

void main()
{
    uint a = search(0u, 6u);
    if (a == 77u) {
        put(a);
        return;
    }
    for (uint i = 0u; i < a; i++) {
        uint b = search(i, 3u);
        if (b == 2u) {
            put(b + i * 100u);
            return;
        }
    }
    put(search(a, a % 4u));
}
