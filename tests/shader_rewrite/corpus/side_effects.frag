#version 450
layout(early_fragment_tests) in;
layout(std430, binding = 0) buffer Hits { uint hits[]; };
layout(binding = 1, r32ui) uniform uimage2D heads;
layout(location = 0) out vec4 color;
void main()
{
    uint old = imageAtomicAdd(heads, ivec2(gl_FragCoord.xy), 1u);
    if (old < 4u)
        atomicAdd(hits[old], 1u);
    color = vec4(old);
}
