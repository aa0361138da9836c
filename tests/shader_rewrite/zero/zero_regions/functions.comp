#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* What GLSL.std.450 makes of zeroes. */
void main()
{
    float w = max(value(0), 0.0), x = value(1) + 5.0;
    put(0, fma(w, sin(x), x));
    put(1, mix(x, sin(x * x), w) + 1.0);
    put(2, x + w * smoothstep(0.0, 1.0, w) + step(0.5, w) * cos(x));
    put(3, pow(w, 3.0) * sin(x) + sqrt(w) * x + x);
    put(4, x + sin(w) * x + floor(w) * x + fract(w) + sign(w) * x + abs(w));
    vec3 v = vec3(w, w * x, w + w);
    put(5, length(v) * x + dot(v, vec3(x, sin(x), 1.0)) + x);
    put(6, clamp(w, -1.0, 2.0) * x + min(w, 3.0) * x + max(w, 2.0) + x);
    put(7, x + cross(v, vec3(x, 1.0, 2.0)).y + distance(v, vec3(0.0)) * x);
}
