#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
layout(binding = 8) uniform sampler2D image;
layout(push_constant) uniform Push { float level; } push;
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Sums that are the texture's level of detail, or what it is made of, where the value is zero. */
void main()
{
    float w = max(value(0), 0.0), x = value(1), v = max(value(2), 0.0), level = push.level;
    put(0, textureLod(image, vec2(x, 0.25), level).x);
    put(1, textureLod(image, vec2(0.5, x), level * 0.5 + 0.25).y);
    put(2, results[at * 8u + 4u] * w + level);
    float sum = v + level;
    if (x > 1.0)
        sum = v * results[at * 8u + 5u] + level;
    put(3, sum);
    put(6, results[at * 8u + 5u] * v + level * 0.5 + 0.25);
    put(7, w * cos(x) + 1.0);
}
