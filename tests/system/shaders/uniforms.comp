#version 450
#extension GL_GOOGLE_include_directive : require
#include "uniforms.glsl"

layout(local_size_x = 32) in;
layout(set = 0, binding = 2) buffer Out { float out_values[]; };

void main()
{
    float sum = float(gl_LocalInvocationIndex) * words.scale;
    out_values[push.slot * 32 + int(gl_LocalInvocationIndex)] = shade(sum);
}
