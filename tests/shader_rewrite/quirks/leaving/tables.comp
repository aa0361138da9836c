// A table of constants read by the turn, and what a loop of literals comes to behind it: constants
// once the loop is unrolled, of which a driver's compiler computes something else than the device.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In {
    float x[];
};
layout(set = 0, binding = 1) buffer Out {
    float values[];
};
const float weights[8] = float[](0.31, 0.77, 1.23, 1.9, 2.4, 2.9, 3.3, 4.1);

void main()
{
    const uint i = gl_LocalInvocationIndex;
    precise float s = 0.0;
    for (int k = 0; k < 8; k++) {
        precise float t = sin(weights[k]) * x[(i + k) & 511u] * 0.013;
        s = s + t + pow(weights[k], 0.37) + exp(weights[k] * -0.31);
    }
    values[i * 8u] = s;
    s = 0.0;
    precise float amplitude = 0.7, norm = 0.0;
    for (int k = 0; k < 8; k++) {
        precise float t = amplitude * x[(i + k) & 511u] * 0.013;
        s = s + t;
        norm = norm + amplitude;
        amplitude = amplitude * 0.61;
    }
    precise float behind = s / norm + pow(norm, 0.37) + sin(amplitude * 11.0);
    values[i * 8u + 1u] = behind;
}
