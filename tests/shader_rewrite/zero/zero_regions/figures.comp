#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* The paper's Figures 1, 3 and 4. */
float expensive(float x)
{
    return sin(x * 3.0) + exp2(-x * x) + 1.5;
}
void main()
{
    float r0 = expensive(value(0)), r1 = max(value(1), 0.0), r5 = value(2) + 3.0;
    float r2 = r0 * r1;
    float r3 = r2 * expensive(value(3));
    put(0, r3 + r5);
    float a = value(4) * r1, b = a * 2.0, c = b * expensive(value(5) + r5);
    put(1, c * c + r5);
    float r8 = clamp(value(6), 0.0, 1.0);
    if (value(7) > 0.5)
        put(2, expensive(r5) * r8 + 1.0);
    else
        put(2, r8 > 0.0 ? expensive(r8) : 4.0);
}
