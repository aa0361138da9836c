#version 450
layout(location = 0) in vec4 v;
layout(location = 0) out vec4 color;
void main()
{
    if (v.x > 0.5)
        gl_FragDepth = v.y;
    else
        gl_FragDepth = gl_FragCoord.z;
    gl_SampleMask[0] = v.z > 0.0 ? 1 : 3;
    color = v;
}
