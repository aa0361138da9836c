#version 450
// Marks and, per pixel, how many lanes of its subgroup were there: what blocks must have counted.
#extension GL_KHR_shader_subgroup_ballot : require
layout(std430, set = 0, binding = 0) buffer Marks { uint marks[]; };
layout(std430, set = 0, binding = 1) buffer Lanes { uint lanes[]; };
layout(location = 0) in vec4 color;
layout(location = 1) flat in uint triangle;
layout(location = 0) out vec4 target;
#define MARK(k) atomicAdd(marks[k], 1u)
#define LANES(k) if (!gl_HelperInvocation) lanes[pixel * 8u + k] = subgroupBallotBitCount(subgroupBallot(true))
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
            discard;
        bands += 0.5;
    } else {
        MARK(2);
        LANES(2);
        bands = sqrt(bands);
    }
    vec2 slope = vec2(0.0);
    if (triangle % 2u == 1u) // where nothing was discarded: derivatives are not defined beside what was
        slope = vec2(dFdx(bands), dFdy(bands));
    float sum = 0.0;
    for (int i = 0; i < int(color.z * 7.0); i++) {
        MARK(3);
        sum += bands;
        if (sum > 3.0)
            break;
    }
    if (triangle == 1u) {
        MARK(4);
        LANES(4);
        if (color.y > 0.4)
            discard;
        MARK(5);
        LANES(5);
    }
    target = vec4(1.0, sum, slope);
}
