// The differential harness's interface (tests/shader_rewrite/differential/random_shader.h): 8 groups
// of 64 lanes, each of which reads 128 elements of its own and writes 4 vectors.
layout(local_size_x = 8, local_size_y = 4, local_size_z = 2) in;
struct Light {
    float nearest;
    float farthest;
    float share;
    float edge;
};
layout(push_constant) uniform Pushed {
    vec4 tint;
    vec4 scale;
    vec4 offsets[2];
    uvec4 counts[4];
} pushed;
layout(binding = 0) readonly buffer Floats { float floats[]; };
layout(binding = 1) readonly buffer Uints { uint uints[]; };
layout(binding = 2) readonly buffer Vectors { vec4 vectors[]; };
layout(binding = 3) buffer Out { vec4 written[]; };
// The same words as the push constants.
layout(binding = 9) uniform Words {
    Light lights[2];
    vec4 tint;
    vec4 scale;
    uvec4 counts[4];
} words;
uint lane = gl_WorkGroupID.x * 64u + gl_LocalInvocationIndex;
uint first = gl_WorkGroupID.x * 128u + gl_LocalInvocationIndex;
void put(uint k, vec4 x) { written[lane * 4u + k] = x; }
