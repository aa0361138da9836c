#version 450
layout(location = 0) out vec4 color;
/* The derivative needs every lane of a quad: so does a check whether what it is taken of is 0. Where
 * that is so the ripples are for nothing. */
void main()
{
    float wave = sin(gl_FragCoord.x * 0.5) * cos(gl_FragCoord.y);
    float width = fwidth(wave);
    float x = gl_FragCoord.x, y = gl_FragCoord.y;
    float ripples = sin(x) * cos(y) + sin(x * 2.0) * cos(y * 3.0) + exp(sin(y * 5.0)) + exp(cos(x * 7.0)) +
                    pow(abs(sin(x * 11.0)), 1.5) + pow(abs(cos(y * 13.0)), 2.5);
    color = vec4(wave * ripples, width, 0.0, 1.0);
}
