// Arithmetic on vectors, and on numbers that are powers of two.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "run.glsl"

void main()
{
    const vec4 value = vectors[first], other = vectors[first + 1u];
    const uvec4 numbers = uvec4(uints[first], uints[first + 1u], uints[first + 2u], lane);
    const vec4 lit = (value + pushed.scale) * other - value.wzyx * pushed.offsets[0];
    const uvec4 mixed = ((numbers ^ pushed.counts[0]) + numbers.wzyx * pushed.counts[1]) >> (numbers & 7u);
    precise const vec4 quarter = lit / 4.0;
    precise const float eighth = value.x / -8.0;
    const uint quotient = numbers.x / 16u, rest = numbers.y % 32u, product = numbers.z * 64u;
    put(0u, lit);
    put(1u, quarter + vec4(eighth));
    put(2u, vec4(mixed >> 8));
    put(3u, vec4(quotient, rest, product & 0xffffu, mixed.x & 0xffu));
}
