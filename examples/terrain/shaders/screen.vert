#version 450

// One triangle over the screen, at the far end.
layout(location = 0) out vec2 ndc;

void main()
{
    ndc = vec2(gl_VertexIndex << 1 & 2, gl_VertexIndex & 2) * 2.0 - 1.0;
    gl_Position = vec4(ndc, 1.0, 1.0);
}
