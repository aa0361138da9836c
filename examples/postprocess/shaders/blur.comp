#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 64) in;

layout(set = 1, binding = 0, rgba16f) uniform writeonly image2D blurred_image;

// One direction of the bloom's blur: a narrow and a wide Gaussian. A line of pixels is read once into shared memory.
layout(push_constant, std430) uniform Direction { uint vertical; } direction;

const int RADIUS = 16;
shared vec3 line[64 + 2 * RADIUS];

vec3 load(ivec2 p, ivec2 size)
{
    p = clamp(p, ivec2(0), size - 1);
    if (direction.vertical != 0u)
        return texelFetch(blur_map, p.yx, 0).rgb;
    return texelFetch(bloom_map, p, 0).rgb;
}

void main()
{
    ivec2 size = imageSize(blurred_image);
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
        float square = float(i * i);
        float weight = exp(-square * (1.0 / 18.0)) + 0.25 * exp(-square * (1.0 / 110.0));
        sum += weight * line[self + RADIUS + i];
        total += weight;
    }
    sum /= total;
    ivec2 p = ivec2(start + self, row);
    imageStore(blurred_image, direction.vertical != 0u ? p.yx : p, vec4(sum, 1.0));
}
