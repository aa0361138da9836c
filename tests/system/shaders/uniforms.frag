#version 450
#extension GL_GOOGLE_include_directive : require
#include "uniforms.glsl"

layout(location = 0) out vec4 color;

void main()
{
    float sum = shade(gl_FragCoord.y * 0.01 * words.scale);
    color = vec4(sum, sin(sum) * words.strength, float(push.slot), 1.0);
}
