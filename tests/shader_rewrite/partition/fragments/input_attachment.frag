#version 450
// What an attachment had is read: it stays whole.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;
layout(input_attachment_index = 0, set = 0, binding = 8) uniform subpassInput before;

void main()
{
    vec4 a = sin(color) * cos(color.yzxw) + subpassLoad(before);
    result = exp2(-a) + sqrt(abs(color.wzyx));
}
