#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 1, binding = 0, rgba16f) uniform writeonly image2D lit_image;

// Puts occlusion and reflections into the scene's light, each blurred over pixels of the same surface.
void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, ivec2(frame.size.xy))))
        return;
    vec4 color = texelFetch(color_map, p, 0);
    vec4 surface = texelFetch(surface_map, p, 0);
    float depth = texelFetch(geometry_map, p, 0).x;
    float open = 0.0, total = 0.0;
    vec4 reflected = vec4(0.0);
    for (int y = -1; y <= 2; y++) {
        for (int x = -1; x <= 2; x++) {
            ivec2 q = inside(p + ivec2(x, y));
            vec2 tap = texelFetch(occlusion_map, q, 0).xy;
            float like = saturate(dot(texelFetch(surface_map, q, 0).xyz, surface.xyz) * 4.0 - 3.0);
            float weight = saturate(1.0 - abs(tap.y - depth) / (0.02 * depth + 0.02)) * like;
            open += tap.x * weight;
            reflected += texelFetch(reflection_map, q, 0) * weight;
            total += weight;
        }
    }
    float scale = 1.0 / max(total, 0.001);
    open = mix(1.0, open * scale, step(0.001, total));
    reflected *= scale;
    // Light that a surface emits is not occluded, and direct light less than ambient light.
    float direct = saturate(luma(color.rgb) * 0.6 + color.a);
    vec3 lit = color.rgb * mix(open, 1.0, direct * 0.7);
    lit = lit * (1.0 - reflected.a) + reflected.rgb;
    imageStore(lit_image, p, vec4(lit, 1.0));
}
