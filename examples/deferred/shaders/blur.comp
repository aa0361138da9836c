#version 450
#extension GL_GOOGLE_include_directive : require
#include "post.glsl"
layout(local_size_x = 64) in;

// One direction of a Gaussian blur; a line of pixels is read once into shared memory.
layout(push_constant, std430) uniform Direction { uint vertical; } direction;

const int RADIUS = 12;
shared vec3 line[64 + 2 * RADIUS];

vec3 load(ivec2 p, ivec2 size)
{
    p = clamp(p, ivec2(0), size - 1);
    if (direction.vertical != 0u)
        return imageLoad(bloom_b, p.yx).rgb;
    return imageLoad(bloom_a, p).rgb;
}

void main()
{
    ivec2 size = imageSize(bloom_a);
    if (direction.vertical != 0u)
        size = size.yx;
    int start = int(gl_WorkGroupID.x) * 64, row = int(gl_WorkGroupID.y);
    int self = int(gl_LocalInvocationIndex);
    for (int i = self; i < 64 + 2 * RADIUS; i += 64)
        line[i] = load(ivec2(start + i - RADIUS, row), size);
    barrier();
    if (start + self >= size.x)
        return;
    vec3 sum = vec3(0.0);
    float total = 0.0;
    for (int i = -RADIUS; i <= RADIUS; i++) {
        float w = exp(-float(i * i) * (1.0 / 40.0));
        sum += line[self + RADIUS + i] * w;
        total += w;
    }
    sum /= total;
    ivec2 p = ivec2(start + self, row);
    if (direction.vertical != 0u)
        imageStore(bloom_a, p.yx, vec4(sum, 1.0));
    else
        imageStore(bloom_b, p, vec4(sum, 1.0));
}
