#version 450
// The triangle as it was.
layout(triangles) in;
layout(triangle_strip, max_vertices = 3) out;
layout(location = 0) in vec4 color[];
layout(location = 1) flat in uint triangle[];
layout(location = 0) out vec4 out_color;
layout(location = 1) flat out uint out_triangle;
void main()
{
    for (int i = 0; i < 3; i++) {
        gl_Position = gl_in[i].gl_Position;
        out_color = color[i];
        out_triangle = triangle[i];
        EmitVertex();
    }
    EndPrimitive();
}
