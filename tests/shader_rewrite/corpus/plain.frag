#version 450
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 color;
void main()
{
    vec4 sum = v;
    for (int i = 0; i < 4; i++) {
        if (sum.x > v.y)
            sum += v.zwxy;
    }
    color = sum;
}
