#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { uint results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
shared uint tile[64], sum;
/* What adds nothing, or stores what is there already, where a factor is zero. */
void main()
{
    uint n = uint(max(value(0), 0.0)) & 3u, m = floatBitsToUint(value(1)) >> 20 | 3u;
    float work = sin(value(2)) * cos(value(3));
    results[at * 8u] = 5u + at;
    results[at * 8u] += n * (uint(abs(work) * 7.0) & 7u);
    atomicAdd(results[at * 8u + 1u], n * m);
    uint old = atomicOr(results[at * 8u + 2u], n * (m | 8u));
    results[at * 8u + 3u] = old + 1u;
    /* Another place that may be the same, between the load and the store. */
    uint here = results[at * 8u + (m & 3u)];
    results[at * 8u + (n & 1u)] = 9u;
    results[at * 8u + (m & 3u)] = here + n * m;
    tile[gl_LocalInvocationIndex] = m;
    if (gl_LocalInvocationIndex == 0u)
        sum = 1u;
    barrier();
    atomicAdd(sum, n * m);
    tile[gl_LocalInvocationIndex] ^= n * (uint(exp2(value(2))) & 15u);
    barrier();
    results[at * 8u + 4u] = sum + tile[gl_LocalInvocationIndex ^ 1u];
    results[at * 8u + 5u] = floatBitsToUint(uintBitsToFloat(results[at * 8u + 5u]) + float(n) * work);
    atomicMax(results[at * 8u + 6u], n * m);
    results[at * 8u + 7u] = n > 0u ? m : results[at * 8u + 7u];
}
