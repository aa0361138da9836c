#version 450
layout(local_size_x = 29) in;
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
    uint n = get(0u) % 9u, sum = 0u;
    for (uint i = 0u; i < n; i++) {
        if ((get(i) & 3u) == 3u)
            continue;
        for (uint j = 0u; j < 6u; j++) {
            if (j * i > 13u)
                break;
            if ((sum & 1u) != 0u) {
                sum += 2u * j + 1u;
                continue;
            }
            sum += get(j) & 255u;
        }
        if (sum > 900u)
            break;
        sum += 5u;
    }
    put(sum);
}
