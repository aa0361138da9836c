#version 450
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) buffer Data { uint8_t bytes[]; };
layout(std430, binding = 1) buffer Halves { f16vec4 halves[]; };
layout(std430, binding = 2) buffer Wide { int64_t wide[64]; double doubles[]; };
void main()
{
    uint i = gl_LocalInvocationIndex;
    uint8_t b = bytes[i];
    int16_t h = int16_t(b) - 7s;
    if (h > 0s)
        halves[i] *= float16_t(h);
    switch (int(b)) {
    case 255: wide[i] = 1l << 40; break;
    case 3: doubles[i] *= 1e300lf; break;
    }
}
