#version 450
layout(local_size_x = 8, local_size_y = 5, local_size_z = 2) in;
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
    uint sum = gl_LocalInvocationID.z;
    for (uint a = 0u; a < gl_LocalInvocationID.x; a++) {
        for (uint b = a; b < gl_LocalInvocationID.y + 1u; b++) {
            for (uint c = 0u; c < 2u + gl_LocalInvocationID.z; c++) {
                if ((a + b + c) % 3u == 1u)
                    break;
                sum += a * b + c;
            }
            if (sum % 5u == 2u)
                continue;
            sum += gl_WorkGroupID.y;
        }
    }
    if (gl_WorkGroupID.x == 1u && gl_LocalInvocationID.y == 3u)
        sum += 17u;
    put(sum);
}
