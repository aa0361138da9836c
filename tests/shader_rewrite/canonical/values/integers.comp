#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

void main()
{
    uint a = data[gl_GlobalInvocationID.x % data.length()], b = data[(gl_GlobalInvocationID.x + 1u) % data.length()];
    int c = int(a), d = int(b) | 1;
    uint i = gl_GlobalInvocationID.x * 16u;
    result[i] = (a * 3u + 7u) * 5u - (7u - a);
    result[i + 1u] = a / (b | 1u) + a % (b | 3u);
    result[i + 2u] = uint(c / (d == -1 ? 3 : d));
    result[i + 3u] = uint(abs(c) % 17) + uint(-c * -d);
    result[i + 4u] = (a << (b & 31u)) ^ (a >> 3);
    result[i + 5u] = uint(c >> 5) + uint(bitfieldExtract(c, 3, 9));
    result[i + 6u] = bitfieldInsert(a, b, 4, 11) + bitfieldReverse(b);
    result[i + 7u] = uint(bitCount(a) + findMSB(b | 1u) + findLSB(a | 16u));
    uint carry, low;
    result[i + 8u] = uaddCarry(a, b, carry) + carry;
    umulExtended(a, b, carry, low);
    result[i + 9u] = carry ^ low;
    result[i + 10u] = uint(min(c, d)) + max(a, b) + uint(clamp(c, -100, 100));
    bool p = a > b, q = c > d;
    result[i + 11u] = uint(p && q) + uint(p || !q) * 2u + uint(p ^^ q) * 4u;
    ivec3 v = ivec3(c, d, 3);
    v.zx += v.yy * 2;
    result[i + 12u] = uint(v.x ^ v.z) + uvec4(a, b, 3u, 4u)[b & 3u];
    result[i + 13u] = a * 2u + a * 3u;
    result[i + 14u] = (a + 5u) + 6u - (a - 9u);
    result[i + 15u] = p == q ? ~a : a ^ b;
}
