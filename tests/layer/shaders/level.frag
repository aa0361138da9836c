#version 450
// One of many shaders, by its constant 7 (levels.c).
layout(location = 0) out vec4 color;
void main()
{
    vec4 sum = vec4(0.0);
    for (int i = 0; i < int(gl_FragCoord.x) % 7; i++) {
        if (((i + int(gl_FragCoord.y)) & 1) != 0)
            sum += vec4(0.1);
        else
            sum.x -= 0.2;
    }
    color = sum;
}
