#version 450
layout(location = 0) out vec4 color;
void main()
{
    color = vec4(0.0);
    for (int i = 0; i < int(gl_FragCoord.x) % 5; i++) {
        if (((i + int(gl_FragCoord.y)) & 2) != 0)
            color.y += 0.1;
    }
}
