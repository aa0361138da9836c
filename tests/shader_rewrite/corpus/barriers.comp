#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Data { float data[]; };
shared float tile[64];
void main()
{
    uint l = gl_LocalInvocationIndex;
    tile[l] = data[gl_GlobalInvocationID.x];
    barrier();
    for (uint stride = 32u; stride > 0u; stride >>= 1) {
        if (l < stride)
            tile[l] += tile[l + stride];
        barrier();
    }
    memoryBarrierShared();
    if (l == 0u)
        data[gl_WorkGroupID.x] = tile[0];
}
