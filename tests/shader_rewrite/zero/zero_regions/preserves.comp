#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
/* As Direct3D 9 multiplies. */
float times(float a, float b) { return (b == 0.0 ? 0.0 : a) * (a == 0.0 ? 0.0 : b); }
float fused(float a, float b, float c)
{
    return fma(b == 0.0 ? 0.0 : a, a == 0.0 ? 0.0 : b, c);
}
/* Products whose other factor is finite, and perhaps of one sign. */
void main()
{
    float a = value(0), b = value(1), c = value(2), x = value(3), y = value(4);
    float work = exp2(abs(x)) - sin(y);
    results[at * 8u] = times(a, work) + c;
    results[at * 8u + 1u] = fused(b, work, times(a, b));
    float lit = step(x, work);
    results[at * 8u + 2u] = a * lit + b * (1.0 - lit) * c;
    float whole = float(floatBitsToUint(work) >> 3);
    results[at * 8u + 3u] = fma(b, whole, c) - a * (0.5 - whole);
    float some = work < 0.0 ? 2.0 : 0.25;
    results[at * 8u + 4u] = c * some + x;
    results[at * 8u + 5u] = dot(vec2(a, b), vec2(some, lit)) + y;
    bool more = a * whole - b < c * -some;
    results[at * 8u + 6u] = more ? x : times(times(c, work), y) - 1.0;
    float sum = y;
    for (uint i = 0u; i < (at & 3u); i++)
        sum = fused(b, unpackUnorm4x8(floatBitsToUint(work) + i).y, sum);
    results[at * 8u + 7u] = sum;
}
