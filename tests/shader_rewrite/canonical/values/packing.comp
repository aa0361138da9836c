#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

void main()
{
    vec2 v = vec2(get(0u), get(1u));
    vec4 w = vec4(v, get(2u), get(3u));
    uint i = gl_GlobalInvocationID.x * 16u;
    result[i] = packHalf2x16(v);
    result[i + 1u] = packUnorm4x8(w);
    result[i + 2u] = packSnorm2x16(v);
    put4(3u, vec4(unpackHalf2x16(data[i % data.length()]), unpackSnorm2x16(result[i + 2u])));
    put4(7u, unpackUnorm4x8(result[i + 1u]));
    int e;
    float m = frexp(v.x, e);
    put(11u, m);
    result[i + 12u] = uint(e);
    put(13u, ldexp(m, e + 1));
    float whole;
    put(14u, modf(v.y, whole));
    put(15u, whole);
}
