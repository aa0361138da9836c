#version 450
// Bits that are only looked at as floats: -0 is zero, too.
layout(local_size_x = 37) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x;
    uint bits = data[at];
    if (data[at + 64u] % 3u == 0u)
        bits = data[at + 128u];
    float f = uintBitsToFloat(bits);
    result[at] = floatBitsToUint(f * uintBitsToFloat(data[at + 256u]) + f * 0.5);
}
