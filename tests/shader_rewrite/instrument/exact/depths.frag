#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

layout(depth_any) out float gl_FragDepth;

void main()
{
    uvec2 p = uvec2(gl_FragCoord.xy);
    target = color;
    gl_FragDepth = gl_FragCoord.z;
    if (((p.x + p.y) & 1u) != 0u)
        gl_FragDepth *= 0.5;
}
