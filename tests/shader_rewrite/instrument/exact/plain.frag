#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

void main()
{
    target = vec4(color.xyz, 1.0);
}
