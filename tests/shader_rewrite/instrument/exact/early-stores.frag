#version 450
layout(early_fragment_tests) in;
layout(location = 0) in vec4 color;
layout(location = 0) out vec4 target;
layout(std430, binding = 0) buffer Counts { uint counts[]; };

void main()
{
    atomicAdd(counts[0], 1u);
    target = color;
    if (!gl_HelperInvocation)
        atomicAdd(counts[1], 1u);
}
