#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 1, binding = 0, rgba16f) uniform writeonly image2D reflection_image;

// Screen-space reflections: each pixel marches along its mirrored ray through the depth image; how far what it finds can
// be trusted is its confidence.
const int STEPS = 20, REFINEMENTS = 4;
const float REACH = 14.0;

float depth_at(vec2 pixel)
{
    return texelFetch(geometry_map, inside(ivec2(pixel)), 0).x;
}

void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, ivec2(frame.size.xy))))
        return;
    vec4 surface = texelFetch(surface_map, p, 0);
    vec4 geometry = texelFetch(geometry_map, p, 0);
    vec3 normal = surface.xyz, position = view_at(vec2(p) + 0.5, geometry.x);
    vec3 view = normalize(position);
    vec3 ray = reflect(view, normal);

    // March until the ray is behind what is seen, with steps that grow.
    float from = 0.05, until = from, hit = 0.0;
    float jitter = 0.6 + 0.4 * gradient_noise(vec2(p) + 3.0);
    for (int i = 1; i <= STEPS; i++) {
        float along = float(i) / float(STEPS) * jitter;
        until = 0.05 + REACH * along * along;
        vec3 q = position + ray * until;
        float behind = -q.z - depth_at(pixel_of(q));
        if (behind > 0.0 && behind < 0.25 + 0.6 * (until - from)) {
            hit = 1.0;
            break;
        }
        from = until;
    }
    for (int i = 0; i < REFINEMENTS; i++) {
        float middle = (from + until) * 0.5;
        vec3 q = position + ray * middle;
        if (-q.z > depth_at(pixel_of(q)))
            until = middle;
        else
            from = middle;
    }

    vec3 end = position + ray * until;
    vec2 pixel = pixel_of(end);
    vec2 t = pixel * frame.size.zw;
    vec2 border = smoothstep(vec2(0.0), vec2(0.12), t) * smoothstep(vec2(0.0), vec2(0.12), 1.0 - t);
    float towards_us = 1.0 - smoothstep(-0.2, 0.3, ray.z);
    float far_away = saturate(1.0 - until / REACH);
    float smooth_enough = saturate(1.0 - surface.w * 1.6);
    float thickness = saturate(1.0 - abs(-end.z - depth_at(pixel)) / 0.5);
    float confidence = hit * border.x * border.y * towards_us * far_away * smooth_enough * thickness;

    float facing = saturate(dot(-view, normal));
    float fresnel = mix(0.06, 0.7, geometry.w) + (1.0 - mix(0.06, 0.7, geometry.w)) * pow(1.0 - facing, 5.0);

    // What is rough mirrors a blurred picture.
    ivec2 q = ivec2(pixel);
    int spread = 1 + int(surface.w * 6.0);
    vec3 light = vec3(0.0);
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            light += min(texelFetch(color_map, inside(q + ivec2(x, y) * spread), 0).rgb, vec3(16.0));
    light *= 1.0 / 9.0;
    imageStore(reflection_image, p, vec4(light * fresnel * confidence, fresnel * confidence));
}
