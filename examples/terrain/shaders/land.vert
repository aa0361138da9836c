#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) in vec3 position;
layout(location = 0) out vec3 world;

void main()
{
    world = position;
    gl_Position = frame.view_projection * vec4(position, 1.0);
}
