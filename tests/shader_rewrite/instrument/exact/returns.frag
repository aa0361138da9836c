#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

/* No derivatives: behind a return that a part of a quad took they are undefined. */
void main()
{
    uvec2 p = uvec2(gl_FragCoord.xy);
    if (p.y % 5u == 3u && p.x > 4u) {
        target = vec4(0.25);
        return;
    }
    vec4 c = color;
    for (uint i = 0u; i < p.x % 7u; i++) {
        c.y *= 0.5;
        if ((p.y + i) % 9u == 0u) {
            target = c.yxzw;
            return;
        }
    }
    target = c;
}
