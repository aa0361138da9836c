#version 450
layout(location = 0) out vec4 color;
/* The derivative needs every lane of a quad: so does a check whether what it is taken of is 0. */
void main()
{
    float wave = sin(gl_FragCoord.x * 0.5) * cos(gl_FragCoord.y);
    float width = fwidth(wave);
    color = vec4(wave / max(width, 0.001), width, 0.0, 1.0);
}
