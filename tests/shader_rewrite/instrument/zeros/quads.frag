#version 450
#extension GL_GOOGLE_include_directive : require
#include "log.glsl"
#include "values.glsl"
// A derivative follows the first values, so that their quads' helpers matter; nothing the last one.
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

void main()
{
    uint pixel = uint(gl_FragCoord.x) + uint(gl_FragCoord.y) * 64u, leader = 0u;
    if (!gl_HelperInvocation)
        leader = find_leader(pixel);
    float f = value(pixel, 0u);
    vec3 v = vec3(f, value(pixel, 1u), value(pixel, 2u)) * 2.0;
    if (!gl_HelperInvocation) {
        uint n = visit_with(leader, 0u, pixel);
        scalars[n].f[0] = f;
        vectors[n].v3[0] = v;
    }
    float slope = dFdx(v.x) + dFdy(f);
    float last = f * 4.0;
    if (!gl_HelperInvocation) {
        uint n = visit_with(leader, 1u, pixel);
        scalars[n].f[1] = last;
    }
    target = vec4(f == 0.0, last == 0.0, slope == 0.0, 1.0);
}
