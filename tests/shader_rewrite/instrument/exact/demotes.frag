#version 450
#extension GL_EXT_demote_to_helper_invocation : enable
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

layout(binding = 8) uniform sampler2D image;

void main()
{
    uvec2 p = uvec2(gl_FragCoord.xy);
    vec4 c = color;
    if ((p.x ^ p.y) % 5u == 1u)
        demote;
    for (uint i = 0u; i < 3u; i++) {
        c += texture(image, color.xy * float(i + 1u)) * 0.25;
        if (p.x % 7u == i)
            demote;
    }
    if (p.y % 3u == 0u)
        c += fwidth(c);
    target = c;
}
