#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 1, binding = 0, rgba16f) uniform writeonly image2D bloom_image;

// What is brighter than the threshold, with a soft knee, at half the size, through a 4x4 tent.
vec3 bright_part(vec3 color)
{
    float brightness = max(max(color.r, color.g), color.b);
    float knee = clamp(brightness - frame.bloom.x + frame.bloom.y, 0.0, 2.0 * frame.bloom.y);
    knee = knee * knee / (4.0 * frame.bloom.y + 0.0001);
    float part = max(knee, brightness - frame.bloom.x) / max(brightness, 0.0001);
    vec3 bright = color * max(part, 0.0);
    // Lenses scatter blue light further, and compress what is very bright.
    float y = luma(bright);
    return bright * (1.0 + vec3(0.0, 0.03, 0.12) * y) / (1.0 + 0.08 * y);
}

void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, imageSize(bloom_image))))
        return;
    vec3 sum = vec3(0.0);
    for (int y = -1; y <= 2; y++) {
        for (int x = -1; x <= 2; x++) {
            vec3 color = texelFetch(resolved_map, inside(p * 2 + ivec2(x, y)), 0).rgb;
            float weight = (x == 0 || x == 1 ? 0.375 : 0.125) * (y == 0 || y == 1 ? 0.375 : 0.125);
            sum += weight * bright_part(color);
        }
    }
    imageStore(bloom_image, p, vec4(sum, 1.0));
}
