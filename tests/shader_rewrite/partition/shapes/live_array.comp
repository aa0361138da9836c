#version 450
// A shader's own arrays, read and written from its begin to its end: they lie in memory where a pass has no room for all
// of it.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
#define STEP(n) a = a * 0.5 + own[(i + n) % 8]; own[(i * 3 + n) % 8] = b - a; b = sin(b) + own[uints[i + n] % 8] * a;
void main()
{
    uint i = gl_GlobalInvocationID.x;
    float own[8];
    for (uint k = 0; k < 8; k++)
        own[k] = floats[(i + k) % 1024];
    float a = floats[i], b = a + 0.25;
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)
    // A loop that both reads and writes it is whole.
    for (uint k = 0; k < uints[i] % 8; k++)
        own[k] = own[7 - k] * 0.5 + b;
    STEP(12) STEP(13) STEP(14) STEP(15)
    results[i] = a + b;
    results[i + 512] = own[i % 8] + own[(i + 3) % 8];
    integers[i] = uint(a > b) * 3 + uints[i];
}
