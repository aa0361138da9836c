#version 450
// Something else at each location, to a few metres in each direction.
layout(location = 0) in vec4 position;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 out_0;
layout(location = 1) out vec4 out_1;
layout(location = 2) out vec4 out_2;
layout(location = 3) out vec4 out_3;

void main()
{
    gl_Position = position;
    out_0 = color * 9.0 - 3.0;
    out_1 = color.yzwx * 2.0 - 1.0;
    out_2 = color.zwxy * 3.0 - 1.0;
    out_3 = color.wxyz;
}
