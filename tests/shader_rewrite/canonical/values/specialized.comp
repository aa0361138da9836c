#version 450
layout(local_size_x_id = 3) in;
layout(constant_id = 0) const bool square = false;
layout(constant_id = 1) const int taps = 3;
layout(constant_id = 2) const float scale = 0.5;
layout(constant_id = 4) const uint mode = 1u;
const int twice = taps * 2 + 1;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

void main()
{
    float weights[twice];
    uint id = gl_GlobalInvocationID.x;
    for (int i = 0; i < twice; i++)
        weights[i] = uintBitsToFloat(data[(id + uint(i)) % data.length()]) * scale;
    float sum = 0.0;
    for (int i = -taps; i <= taps; i++)
        sum += square ? weights[i + taps] * weights[i + taps] : weights[i + taps];
    switch (mode) {
    case 0u: sum = -sum; break;
    case 1u: sum *= scale; break;
    default: sum = sum * scale * 0.3;
    }
    result[id * 16u] = floatBitsToUint(sum);
    result[id * 16u + 1u] = gl_WorkGroupSize.x;
}
