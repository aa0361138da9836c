#version 450
// No fragment is drawn.
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 result;

void main()
{
    result = sin(color) * cos(color.yzxw) + exp2(-color.zwxy) * sqrt(abs(color.wxyz));
    discard;
}
