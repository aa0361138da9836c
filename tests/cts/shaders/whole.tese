#version 450
// The triangle as it was; its corners turn the other way in the domain, whose origin is above.
layout(triangles, equal_spacing, cw) in;
layout(location = 0) in vec4 color[];
layout(location = 1) in uint triangle[];
layout(location = 0) out vec4 out_color;
layout(location = 1) flat out uint out_triangle;
void main()
{
    uint corner = gl_TessCoord.x > 0.5 ? 0u : gl_TessCoord.y > 0.5 ? 1u : 2u;
    gl_Position = gl_in[corner].gl_Position;
    out_color = color[corner];
    out_triangle = triangle[corner];
}
