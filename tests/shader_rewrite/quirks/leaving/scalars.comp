// A quotient about the middle, away from it and back, as vectors: a driver that folds floats inexactly leaves these as
// they are, and makes one product of the same in scalars.
#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer In {
    vec2 x[];
};
layout(set = 0, binding = 1) buffer Out {
    vec2 values[];
};

void main()
{
    const uint i = gl_LocalInvocationIndex;
    for (uint k = 0u; k < 4u; k++) {
        const vec2 p = (x[(4u * i + k) & 255u] / vec2(640.0, 360.0) - 0.5) * 2.0;
        values[4u * i + k] = p / 2.0 + 0.5;
    }
}
