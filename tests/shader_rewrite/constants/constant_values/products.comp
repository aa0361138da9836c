#version 450
#extension GL_GOOGLE_include_directive : enable
#include "known.glsl"
#include "compute.glsl"
/* Vectors and matrices of which some or all is zero or one. */
void main()
{
    vec4 v = vec4(value(0), value(1), value(2), value(3));
    put(0, dot(known.turn * v, push.tint));
    put(1, dot(v * known.turn, vec4(1.0)));
    put(2, dot(known.other * v.xyz, known.fog) + known.shift.x);
    put(3, length(known.fog * v.xyz + known.shift.xyx) * push.scale);
    vec3 lit = vec3(0.0);
    for (int i = 0; i < 2; i++)
        lit += known.lights[i].color * known.lights[i].power * max(dot(known.lights[i].place.xyz, v.xyz), 0.0);
    put(4, dot(lit, vec3(0.3, 0.6, 0.1)));
    put(5, (v.x * push.tint.x + v.y * push.tint.y) * push.tint.z - v.z * push.tint.w);
    put(6, v.w * push.bias + push.scale * sin(v.x) + exp2(push.bias) * 0.25);
    put(7, known.turn[3][1] * v.x + known.turn[0].z * cos(v.y));
}
