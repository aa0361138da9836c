#version 450
// Counts fragments that are occluded, too: its tests may not be early.
layout(location = 0) out vec4 color;
void main()
{
    if ((int(gl_FragCoord.x) & 3) == 1)
        discard;
    color = vec4(1.0);
}
