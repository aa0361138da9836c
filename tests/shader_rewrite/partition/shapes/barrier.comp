#version 450
// What touches workgroup memory is in one pass, whatever else is cut.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
shared float tile[64];
void main()
{
    uint i = gl_GlobalInvocationID.x, local = gl_LocalInvocationIndex;
    float x = floats[i], y = x * x + 0.5, z = y * x - 2.0, w = sin(z) * y;
    tile[local] = w + x;
    barrier();
    float left = tile[(local + 63) % 64], right = tile[(local + 1) % 64];
    barrier();
    tile[local] = left - right;
    barrier();
    float far = tile[63 - local];
    float a = far * w + z, b = a * a - left, c = cos(b) + right * a;
    results[i] = a;
    results[i + 512] = b + c * y;
    integers[i] = uint(a > b) + local;
}
