#version 450
// Some hundred operations in a row: what is cut into passes.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };

#define STEP(n) x = sin(x * n + y) + 0.25 * x; y = y * y - x * 0.5 + n;
#define STEPS(n) STEP(n) STEP(n + 0.1) STEP(n + 0.2) STEP(n + 0.3) STEP(n + 0.4)

void main()
{
    uint at = gl_GlobalInvocationID.x;
    float x = values[at], y = values[at] * 0.5;
    STEPS(1.0) STEPS(2.0) STEPS(3.0) STEPS(4.0)
    values[at] = x + y;
}
