#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
layout(depth_less) out float gl_FragDepth;

void main()
{
    target = color * float(triangle + 1u) * 0.1;
    gl_FragDepth = gl_FragCoord.z * (triangle == 3u ? 0.5 : 1.0);
    if (color.y > 0.7)
        gl_SampleMask[0] = gl_SampleMaskIn[0] & 0x5;
    else
        gl_SampleMask[0] = gl_SampleMaskIn[0];
}
