#version 450
// A loop that is left by a return alone: what is behind it is reached only once returns go there.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i];
    float x = floats[i], y = x * 3.0 - 1.0;
    results[i] = y * x;
    if (u % 4 == 0)
        for (uint k = 0;; k++) {
            y = y * 0.5 + float(k);
            if (k >= u % 7) {
                results[i + 512] = y;
                return;
            }
        }
    integers[i + 512] = floatBitsToUint(y);
    y = sin(y) + x;
    results[i + 1024] = y;
    results[i + 1536] = y * y + x;
}
