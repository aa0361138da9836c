#version 450
layout(local_size_x = 37) in;
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
    uint x = get(0u), sum = 1u;
    if ((x & 1u) != 0u) {
        sum += 3u;
        if ((x & 2u) != 0u) {
            if ((x & 4u) != 0u)
                sum *= 7u;
            else
                sum ^= get(1u);
        } else if ((x & 8u) != 0u) {
            put(sum);
            return;
        }
        sum += 11u;
    } else {
        sum = get(2u);
        if (gl_LocalInvocationIndex > 30u) {
            put(sum + 5u);
            return;
        }
    }
    put(sum);
}
