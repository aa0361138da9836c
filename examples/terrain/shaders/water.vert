#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) out vec3 world;

// A square at sea level, twice as wide as the land.
void main()
{
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    world = vec3(corner.x * frame.land.x, frame.land.z, corner.y * frame.land.x);
    gl_Position = frame.view_projection * vec4(world, 1.0);
}
