#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Functions of what is constant where the value is zero, which compilers compute otherwise. */
void main()
{
    float w = max(value(0), 0.0), v = abs(value(1)), x = value(2);
    int i = int(clamp(value(3), 0.0, 100.0));
    put(0, pow(w + 0.5, w + 0.5) * x + sin(w + 1.25));
    vec3 power = pow(vec3(w) + vec3(0.3, 0.7, 0.11), vec3(2.2));
    put(1, dot(power, vec3(0.2126, 0.7152, 0.0722)));
    put(2, exp(w + 0.3) + log2(w + 3.3) * x);
    put(3, inversesqrt(v + 2.0) + 1.0 / (v + 3.0));
    put(4, normalize(vec3(v + 1.0, v - 3.0, 0.7)).y + x * v);
    put(5, cos(float(i) * 0.5 + 0.7) + exp2(float(i) * -0.3 + 0.1));
    put(6, results[at * 8u + 6u] * w + tan(w + 0.4));
    put(7, atan(v + 0.35, v + 1.7) + pow(abs(x) + 0.1, w + 2.0) + x / (w + 3.0));
}
