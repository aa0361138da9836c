#version 450
// Two outputs of one location: it stays whole.
layout(location = 0) in vec4 color;
layout(location = 0) out vec2 first;
layout(location = 0, component = 2) out vec2 second;

void main()
{
    vec4 a = sin(color) * cos(color.yzxw);
    first = a.xy;
    second = exp2(-a.zw) + sqrt(abs(color.xy));
}
