#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

float precise_sum()
{
    precise float s = get(0u) * get(1u) + get(2u) * get(3u);
    return s;
}

void main()
{
    float x = get(0u), y = get(1u), z = get(2u);
    put(0u, fma(x, y, z));
    put(1u, mix(x, y, z));
    put(2u, mix(x, y, z > 0.5));
    put(3u, min(x, y)); put(4u, max(y, z)); put(5u, clamp(x, min(y, z), max(y, z)));
    put(6u, x < y ? x : y); put(7u, !(x >= y) ? 1.0 : z);
    put(8u, abs(-x) * sign(y)); put(9u, step(x, y)); put(10u, isnan(x) ? 1.0 : isinf(y) ? 2.0 : 3.0);
    put(11u, x * y + z); put(12u, precise_sum());
    put(13u, float(int(clamp(x, -1e9, 1e9)))); put(14u, float(uint(clamp(y, 0.0, 1e9)))); put(15u, trunc(z) + ceil(x));
}
