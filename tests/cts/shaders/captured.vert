#version 450
// As the vertex shader of all, captured.
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(xfb_buffer = 0, xfb_stride = 20, xfb_offset = 0) out gl_PerVertex { vec4 gl_Position; };
layout(location = 0) out vec4 out_color;
layout(location = 1, xfb_buffer = 0, xfb_offset = 16) flat out uint out_triangle;
void main()
{
    gl_Position = position;
    out_color = color;
    out_triangle = uint(gl_VertexIndex) / 3u;
}
