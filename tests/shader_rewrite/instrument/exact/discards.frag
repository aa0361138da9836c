#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

void main()
{
    uvec2 p = uvec2(gl_FragCoord.xy);
    if ((p.x * 7u + p.y * 3u) % 11u == 0u)
        discard;
    vec4 c = color + dFdx(color.x);
    for (uint i = 0u; i < 4u; i++) {
        if (p.x % 9u == i + 2u && p.y > 20u)
            discard;
        c.y *= 0.5;
    }
    target = c;
}
