#version 450
layout(local_size_x = 50) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

uint get(uint i) { return data[(gl_GlobalInvocationID.x * 3u + gl_GlobalInvocationID.y * 5u + i) % data.length()]; }
void put(uint x)
{
    uvec3 n = gl_NumWorkGroups * gl_WorkGroupSize;
    result[(gl_GlobalInvocationID.z * n.y + gl_GlobalInvocationID.y) * n.x + gl_GlobalInvocationID.x] = x;
}

shared uint tile[50];

void main()
{
    uint l = gl_LocalInvocationIndex;
    tile[l] = get(l);
    if ((get(0u) & 1u) == 0u)
        tile[l] += 3u;
    barrier();
    for (uint stride = 1u; stride < 50u; stride *= 3u) {
        uint other = tile[(l + stride) % 50u];
        barrier();
        if (l % 3u == 0u)
            tile[l] += other;
        barrier();
    }
    put(tile[49u - l]);
}
