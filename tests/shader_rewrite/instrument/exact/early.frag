#version 450
layout(early_fragment_tests) in;
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

void main()
{
    target = color;
    if (uint(gl_FragCoord.x) % 3u == 0u)
        target.x = 1.0;
}
