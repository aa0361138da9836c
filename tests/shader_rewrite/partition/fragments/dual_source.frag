#version 450
// Two outputs of one location, for blending: it stays whole.
layout(location = 0) in vec4 color;
layout(location = 0, index = 0) out vec4 first;
layout(location = 0, index = 1) out vec4 second;

void main()
{
    first = sin(color) * cos(color.yzxw);
    second = exp2(-first) + sqrt(abs(color.wzyx));
}
