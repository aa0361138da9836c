#version 450
#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main()
{
    vec2 p = uv * 8.0;
    if (dot(p, p) > 30.0)
        demote;
    float e = 0.0;
    for (int i = 0; i < 5 && !helperInvocationEXT(); i++)
        e += fract(p.x * float(i));
    if (fract(p.y) > 0.9)
        demote;
    color = vec4(dFdx(p), e, 1.0);
}
