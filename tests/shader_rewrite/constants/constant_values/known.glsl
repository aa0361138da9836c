layout(push_constant) uniform Push {
    uint mode, count;
    float scale, bias;
    ivec4 bits;
    vec4 tint;
} push;
struct Light { vec4 place; vec3 color; float power; };
layout(binding = 9) uniform Known {
    uint modes[4];
    Light lights[2];
    mat4 turn;
    layout(row_major) mat3 other;
    int count;
    float cut, gamma;
    vec2 shift;
    vec3 fog;
#ifdef OF_ONE
/* An array of one descriptor, as translation layers have. */
} known_of_one[1];
#define known known_of_one[0]
#else
} known;
#endif
