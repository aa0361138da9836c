#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

void main()
{
    uvec2 p = uvec2(gl_FragCoord.xy);
    vec4 c = color;
    if ((p.x & 2u) != 0u) {
        c *= 0.5;
        for (uint i = 0u; i < (p.y & 7u); i++) {
            if (((p.x >> i) & 1u) != 0u)
                continue;
            c.x *= 0.5;
            if (i > p.x % 6u)
                break;
        }
    } else if (p.y % 5u == 3u) {
        c.z = 0.75;
    }
    switch ((p.x + p.y) % 4u) {
    case 0u: c.y = 1.0; break;
    case 1u: c.z += 0.5;
    case 2u: c.w = 0.125; break;
    default: break;
    }
    target = c + vec4(dFdx(c.x), dFdy(c.y), 0.0, fwidth(color.z));
}
