#version 450
// Types of 8 and 16 bits that can be stored, and nothing else: not even a constant can be made of them.
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require

layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(set = 0, binding = 1) buffer Results { float results[]; };
layout(set = 0, binding = 2) buffer Shorts { uint16_t shorts[]; };
layout(set = 0, binding = 3) buffer Bytes { u8vec4 bytes[]; };
layout(set = 0, binding = 4) buffer Halves { f16vec2 halves[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x;
    uint count = words[at];
    float weight = float(count);
    float light = 0.0;
    if (count > 0u)
        light = pow(abs(sin(results[at + 1u]) * cos(results[at + 2u])), 1.7) * exp(results[at + 3u]) *
                log(results[at + 4u] + 9.0);
    results[at] = light * weight;
    shorts[at] = uint16_t(count * words[at + 1u]);
    bytes[at] = u8vec4(uvec4(count) * words[at + 2u]);
    halves[at] = f16vec2(vec2(light, weight) * weight);
}
