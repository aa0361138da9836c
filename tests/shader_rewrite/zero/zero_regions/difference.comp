#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
/* What 0 * x = 0 changes: NaN where x is infinite or NaN, and the sign of a zero. */
void main()
{
    uint at = gl_GlobalInvocationID.x * 8u;
    float w = max(values[at], 0.0), x = values[at + 1u];
    float product = w * x;
    results[at] = product;
    results[at + 1u] = product + 3.0;
    results[at + 2u] = product * x + x;
    results[at + 3u] = w > 0.0 ? 1.0 : 2.0;
}
