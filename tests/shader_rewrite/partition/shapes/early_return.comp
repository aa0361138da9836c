#version 450
// Invocations that return write nothing later on.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    float x = floats[i];
    if (i % 3 == 0)
        return;
    results[i] = x * 2.0 + 1.0;
    float y = sin(x) + x * x;
    if (i % 5 == 1) {
        results[i + 512] = y - x;
        return;
    }
    float z = y * x + cos(y);
    results[i + 512] = z * z + y;
    integers[i] = floatBitsToUint(z) ^ i;
}
