#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : enable
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
    uint n = get(0u) & 7u, sum = 0u;
    for (uint i = 0u; i < n; i++) {
        if ((get(i) & 1u) != 0u)
            sum += i;
        else if (i > 4u)
            return;
    }
    put(sum);
}
