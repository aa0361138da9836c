#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(push_constant, std430) uniform Object {
    vec4 rows[3];
    vec4 tint;
    vec4 detail;
} object;

layout(location = 0) in vec3 position;
layout(location = 2) in vec2 texture_uv;

layout(location = 2) out vec2 uv;

void main()
{
    vec4 p = vec4(position, 1.0);
    vec3 world = vec3(dot(object.rows[0], p), dot(object.rows[1], p), dot(object.rows[2], p));
    if (object.detail.z > 0.0) {
        float phase = frame.eye.w * 1.7 + object.tint.w * 6.28 + dot(world.xz, vec2(0.3, 0.2));
        world.xz += object.detail.z * position.y * position.y * vec2(sin(phase), cos(phase * 0.8));
    }
    uv = texture_uv * object.detail.x;
    gl_Position = frame.sun_view_projection * vec4(world, 1.0);
}
