#version 450
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 out_color;
layout(location = 1) flat out uint out_triangle;

void main()
{
    gl_Position = position;
    out_color = color;
    out_triangle = uint(gl_VertexIndex) / 3u;
}
