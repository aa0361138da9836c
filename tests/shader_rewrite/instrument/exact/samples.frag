#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

void main()
{
    target = color * (gl_SampleID == 1 ? 0.5 : 1.0);
    if (uint(gl_FragCoord.y) % 2u == 0u)
        target.y = 0.25;
}
