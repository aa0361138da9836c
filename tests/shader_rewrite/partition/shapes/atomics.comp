#version 450
// What changes memory runs once, in order, and only where it did.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 3) coherent buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    float x = floats[i], y = x * x - 3.0, z = y * 0.5 + x;
    atomicAdd(integers[9000], 1);
    float w = sin(z) + y;
    if (w > 0.0)
        atomicMax(integers[9001], uint(w * 100.0));
    float a = w * x + z, b = a * y - w;
    atomicAdd(integers[9002 + i % 7], uint(abs(b) * 10.0) % 64);
    integers[i] = 5;
    float c = a * b + cos(a);
    integers[i] += uint(abs(c)) % 100;
    results[i] = c + float(integers[i]);
}
