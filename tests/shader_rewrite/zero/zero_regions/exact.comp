#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
/* Functions that are 1 of zero, and quotients of it, as the driver computes them. */
void main()
{
    float a = max(value(0), 0.0), b = min(value(1), 0.0), x = value(2), y = abs(value(3)) + 0.5;
    results[at * 8u] = exp2(a) * sin(x) + 1.0;
    results[at * 8u + 1u] = exp(b * y) + cos(x);
    results[at * 8u + 2u] = cos(a * x) * 2.0;
    results[at * 8u + 3u] = pow(y, a) + 1.0;
    results[at * 8u + 4u] = a / y * cos(x) + 3.0;
    vec3 v = exp2(vec3(a, b, a + b)) + pow(vec3(y, 2.0, 0.25), vec3(b, a, a));
    results[at * 8u + 5u] = dot(v, vec3(1.0, 2.0, 4.0));
    results[at * 8u + 6u] = cos(b) - exp(a);
    results[at * 8u + 7u] = b / (y * y) + sqrt(y);
}
