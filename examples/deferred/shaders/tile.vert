#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

// The screen in small quads, one an instance. A draw takes every quad of one group; the groups are interleaved like
// the fields of a screen, so that each costs about as much as any other and the light pass can be spread evenly.
layout(push_constant, std430) uniform Group {
    uint number;
    uint groups;
    uint columns; // quads of a group in a row of quads
} group;

const float SIDE = 4.0; // pixels, PM_QUAD_SIDE

void main()
{
    uint y = gl_InstanceIndex / group.columns;
    uint x = (group.number + 17u * y) % group.groups + group.groups * (gl_InstanceIndex % group.columns);
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
    gl_Position = vec4((vec2(x, y) + corner) * SIDE * frame.size.zw * 2.0 - 1.0, 0.0, 1.0);
}
