#version 450
// Selections that belong together, by what they share, and are too large for a pass only then: they are cut open.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
shared float first;
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i];
    float x = floats[i], y = x * 3.0 - 1.0;
    if (gl_LocalInvocationIndex == 0u) {
        float z = x * y + float(u);
        z = z * z - x;
        z = abs(z) * 0.5 + y;
        first = z * x;
    }
    barrier();
    float w = sin(x) * y + cos(y) * x;
    if (u % 3u != 0u) {
        float z = first * y + w;
        z = z * w - y * x;
        z = abs(z) + x * 0.25;
        w += z * first;
    }
    results[i] = w * x + y;
    results[i + 512] = exp2(min(w, 3.0)) - x * y;
}
