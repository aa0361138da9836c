#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_demote_to_helper_invocation : require
#include "log.glsl"
#include "values.glsl"
// As quads.frag; and lanes go on as helpers before the second place.
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

void main()
{
    uint pixel = uint(gl_FragCoord.x) + uint(gl_FragCoord.y) * 64u, leader = 0u;
    if (!helperInvocationEXT())
        leader = find_leader(pixel);
    float f = value(pixel, 0u);
    if (!helperInvocationEXT()) {
        uint n = visit_with(leader, 0u, pixel);
        scalars[n].f[0] = f;
    }
    if ((value_bits(pixel, 1u) & 0x1000u) != 0u)
        demote;
    float g = f * 2.0;
    if (!helperInvocationEXT()) {
        uint n = visit_with(leader, 1u, pixel);
        scalars[n].f[1] = g;
    }
    float slope = dFdx(g) + dFdy(f);
    float last = f * 4.0;
    if (!helperInvocationEXT()) {
        uint n = visit_with(leader, 2u, pixel);
        scalars[n].f[2] = last;
    }
    target = vec4(f == 0.0, g == 0.0, slope == 0.0, 1.0);
}
