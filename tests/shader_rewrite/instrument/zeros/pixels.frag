#version 450
#extension GL_GOOGLE_include_directive : require
#include "log.glsl"
#include "values.glsl"
// No derivative: helpers do not matter. Pixels go by discard.
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

void main()
{
    uint pixel = uint(gl_FragCoord.x) + uint(gl_FragCoord.y) * 64u, leader = 0u;
    if (!gl_HelperInvocation)
        leader = find_leader(pixel);
    float f = gl_HelperInvocation ? 1.0 : value(pixel, 0u);
    vec3 v = vec3(f, value(pixel, 1u), value(pixel, 2u)) * 2.0;
    if (!gl_HelperInvocation) {
        uint n = visit_with(leader, 0u, pixel);
        scalars[n].f[0] = f;
        vectors[n].v3[0] = v;
    }
    if ((value_bits(pixel, 1u) & 0x1000u) != 0u)
        discard;
    float g = f * 3.0;
    if (!gl_HelperInvocation) {
        uint n = visit_with(leader, 1u, pixel);
        scalars[n].f[1] = g;
    }
    target = vec4(f == 0.0, v.y == 0.0, g == 0.0, 1.0);
}
