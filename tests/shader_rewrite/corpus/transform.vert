#version 450
layout(location = 0) in vec3 position;
layout(location = 0) out vec4 v;
layout(push_constant) uniform Push { mat4 m; } push;
void main()
{
    gl_Position = push.m * vec4(position, 1.0);
    v = position.x > 0.0 ? gl_Position : vec4(float(gl_VertexIndex));
}
