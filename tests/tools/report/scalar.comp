#version 450
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 8) in;

// Vectors right behind a scalar, and 12 bytes apart: for devices with scalarBlockLayout.
layout(set = 0, binding = 0, scalar) buffer Values
{
    float weight;
    vec3 values[];
};

void main()
{
    vec3 value = values[gl_GlobalInvocationID.x];
    float faded = weight * value.x;
    if (value.y > 0.0) {
        vec3 detail = sin(value) * exp(value) + pow(abs(value), vec3(1.3)) * log(abs(value) + 1.0);
        detail += sin(detail) * exp(-detail) + pow(abs(detail), vec3(0.7)) * log(abs(detail) + 2.0);
        values[gl_GlobalInvocationID.x] = value + faded * detail;
    }
}
