#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
/* Values that are written where an earlier one was tested: in its S, in its R, and used behind. */
void main()
{
    float a = max(value(0), 0.0), x = value(2), y = value(3);
    float p = sin(sin(x)) * a;
    float b = min(p + value(1), 7.0);
    float q = cos(exp2(-abs(y))) * b;
    vec2 both = vec2(b, q + p);
    for (uint k = 0u; k < (at & 3u); k++) {
        float c = max(both.x * value(4u + k), 0.0);
        both += vec2(sin(x + both.y) * a, cos(y) * c);
        if (c < 0.5)
            both.y += exp2(-abs(x)) * b;
    }
    results[at * 8u] = both.x;
    results[at * 8u + 1u] = both.y;
    results[at * 8u + 2u] = exp2(-abs(q)) * b + sin(y) * q;
    results[at * 8u + 3u] = dot(both, vec2(a, b)) * sqrt(abs(x)) + p;
}
