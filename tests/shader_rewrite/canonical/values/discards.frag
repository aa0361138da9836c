#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
layout(binding = 8) uniform sampler2D image;

void cut(vec4 c)
{
    if (c.x + c.y < 0.3)
        discard;
}

void main()
{
    cut(color);
    vec4 c = texture(image, color.xy * 4.0);
    for (int i = 0; i < 4; i++) {
        if (c[i] > 0.9 && ((int(gl_FragCoord.x) + i) & 7) == 0)
            discard;
        c[i] = c[i] * 0.8 + 0.1;
    }
    target = c + vec4(dFdx(c.xy), dFdy(c.zw));
}
