#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

shared float tile[64];
shared uint histogram[8];

void main()
{
    uint l = gl_LocalInvocationIndex;
    tile[l] = get(0u);
    if (l < 8u)
        histogram[l] = 0u;
    barrier();
    for (uint stride = 32u; stride > 0u; stride >>= 1) {
        if (l < stride)
            tile[l] = max(tile[l], 0.0) + tile[l + stride] * 0.5;
        barrier();
    }
    atomicAdd(histogram[data[l % data.length()] & 7u], 1u);
    barrier();
    put(0u, tile[l / 8u] + tile[0]);
    result[gl_GlobalInvocationID.x * 16u + 1u] = histogram[l & 7u];
}
