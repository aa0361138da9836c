#version 450
// As discard.frag, but lanes go on as helpers.
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_EXT_demote_to_helper_invocation : require
layout(std430, set = 0, binding = 0) buffer Marks { uint marks[]; };
layout(std430, set = 0, binding = 1) buffer Lanes { uint lanes[]; };
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
#define MARK(k) atomicAdd(marks[k], 1u)
#define LANES(k) if (!helperInvocationEXT()) lanes[pixel * 8u + k] = subgroupBallotBitCount(subgroupBallot(true))
void main()
{
    uint pixel = uint(gl_FragCoord.x) + uint(gl_FragCoord.y) * 64u;
    MARK(0);
    LANES(0);
    float bands = fract(color.x * 5.0 + color.y * 3.0);
    if (bands < 0.3) {
        MARK(1);
        LANES(1);
        if (triangle % 2u == 0u)
            demote;
    }
    vec2 slope = vec2(dFdx(bands), dFdy(bands));
    float sum = 0.0;
    for (int i = 0; i < int(color.z * 7.0); i++) {
        MARK(3);
        sum += bands;
    }
    if (color.y > 0.2) {
        MARK(4);
        LANES(4);
        sum += 1.0;
    }
    target = vec4(1.0, sum, slope);
}
