#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
/* Two early values whose uses are in one loop: the second check goes around the first, or it. */
void main()
{
    float a = value(0), b = value(1), x = 0.0;
    for (uint k = 0u; k < 1u + (at & 3u); k++) {
        float p = value(2u + k), q = value(6u - k);
        x += sin(p) * cos(q) * exp2(q) * a;
        x += cos(p) * sin(q) * exp2(p) * b;
    }
    results[at * 8u] = x;
    results[at * 8u + 1u] = a * x + b;
}
