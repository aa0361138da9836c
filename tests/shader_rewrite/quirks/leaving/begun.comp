// A float begins with a literal, and goes on with what was read: in a turn that is copied, and in
// one that a driver unrolls, it is a constant, of which its compiler computes something else than
// the device does.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In {
    float x[];
};
layout(set = 0, binding = 1) buffer Out {
    float values[];
};

void main()
{
    const uint i = gl_LocalInvocationIndex;
    const uint turns = uint(x[0]) * 3u; // 3
    precise float roots = 0.0, logarithms = 0.0, sines = 0.0;
    for (uint j = 0u; j < turns; j++) {
        precise float a = 0.7;
        for (uint k = 0u; k < turns; k++) {
            roots = pow(a, 0.37) - roots * 0.25;
            logarithms = log2(a + 0.3) - logarithms * 0.25;
            sines = sin(a) - sines * 0.25;
            a = x[(i + k + j) & 511u] * 0.1;
            if (a > 0.4)
                values[i * 8u + 3u] = roots;
        }
    }
    values[i * 8u] = roots;
    values[i * 8u + 1u] = logarithms;
    values[i * 8u + 2u] = sines;
    precise float counted = 0.0;
    for (int k = 0; k < 8; k++)
        counted += sin(float(k) * 1.7) * x[(i + uint(k)) & 511u] + pow(x[i] + 0.3, float(k));
    values[i * 8u + 4u] = counted;
    precise float again = 0.0, b = 0.7;
    for (int k = 0; k < 8; k++) {
        again += pow(b, 0.37) + x[i] / (b + 0.1);
        b = x[(i + uint(k)) & 511u] * 0.3;
    }
    values[i * 8u + 5u] = again;
}
