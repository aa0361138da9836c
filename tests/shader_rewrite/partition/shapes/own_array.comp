#version 450
// A shader's own array is in one pass with all that reads and writes it; loops stay whole.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
#define MORE a = a * 0.5 + c; b = sin(b) - a; c = c * 0.25 + b;
void main()
{
    uint i = gl_GlobalInvocationID.x;
    float own[8];
    float x = floats[i], y = x + 0.25, z = y * x, w = z * y + x;
    for (uint k = 0; k < 8; k++)
        own[k] = floats[(i + k) % 1024] * w;
    float sum = 0;
    for (uint k = 0; k < uints[i] % 16; k++)
        sum += own[(k + i) % 8] * float(k);
    own[uints[i] % 8] = sum;
    float a = own[i % 8] + sum, b = a * w + z, c = b * b - y;
    MORE MORE MORE MORE MORE MORE MORE MORE MORE MORE
    results[i] = a + b;
    results[i + 512] = c * x + a;
    integers[i] = uint(sum > a) * 3 + uints[i];
}
