#version 450
layout(local_size_x = 64) in;
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
    uint sum = 0u;
    for (uint i = 0u; i < 7u; i++) {
        switch (get(i) % 8u) {
        case 0u: continue;
        case 1u: sum += 1u;
        case 2u: sum += 2u; break;
        case 3u:
            if ((sum & 1u) == 0u)
                break;
            sum *= 3u;
        case 4u:
        case 5u: sum ^= 0x55u; break;
        case 6u: put(sum); return;
        default: sum += 9u;
        }
        sum += 1000u;
    }
    put(sum);
}
