#version 450
#extension GL_GOOGLE_include_directive : enable
#define OF_ONE
#include "known.glsl"
layout(binding = 8) uniform sampler2D picture;
layout(location = 0) in vec4 given;
layout(location = 0) out vec4 color;
/* Discards, returns, derivatives and texture reads, some only on the way that is taken. */
void main()
{
    vec4 base = given;
    if (known.modes[0] == 1u)
        base *= texture(picture, given.xy * known.turn[0].x);
    if (push.mode == 2u)
        base += textureLod(picture, given.yx, float(push.count & 3u));
    if (known.modes[1] != 0u && base.w < known.cut)
        discard;
    float edge = fwidth(base.x * push.scale);
    if (known.count == 1) {
        color = base + edge;
        return;
    }
    vec3 lit = known.fog;
    for (int i = 0; i < known.count; i++)
        lit += known.lights[i & 1].color * (1.0 + given.z) * known.lights[i & 1].power;
    color = vec4(base.rgb * lit, base.a) + edge * push.bias;
    if (known.modes[2] == 3u)
        color = pow(abs(color) + 0.1, vec4(known.gamma));
    else if (push.tint.x > 0.0)
        color *= push.tint;
}
