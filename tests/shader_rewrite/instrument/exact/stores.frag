#version 450
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;

layout(std430, binding = 0) buffer Counts { uint counts[]; };

void main()
{
    uvec2 p = uvec2(gl_FragCoord.xy);
    atomicAdd(counts[0], 1u);
    if (p.x % 4u == 1u) {
        atomicAdd(counts[1], 1u);
        if (p.y % 4u == 2u)
            discard;
    }
    target = color;
    atomicAdd(counts[2], 1u);
}
