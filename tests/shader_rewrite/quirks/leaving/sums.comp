// Nothing but sums and products, all NoContraction: a driver that unrolls the loop by SPIRV-Tools
// does not keep that, so that it puts the factors together that are constants then.
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
    precise float s = 0.0, amplitude = 0.7, norm = 0.0;
    for (int k = 0; k < 8; k++) {
        precise float t = amplitude * (x[(i + k) & 511u] * 0.013 - 0.4);
        s = s + t;
        norm = norm + amplitude;
        amplitude = amplitude * 0.61;
    }
    precise float product = s * norm;
    values[i * 8u] = product;
}
