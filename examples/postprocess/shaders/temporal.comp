#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 1, binding = 0, rgba16f) uniform writeonly image2D resolved_image;

// Blends each pixel with what it showed before, clamped to what its neighbours show now (Karis 2014).
vec3 compress(vec3 color)
{
    return color / (1.0 + luma(color));
}

vec3 expand(vec3 color)
{
    return color / max(1.0 - luma(color), 0.02);
}

void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, ivec2(frame.size.xy))))
        return;
    vec3 centre = vec3(0.0), mean = vec3(0.0), square = vec3(0.0);
    vec2 motion = vec2(0.0);
    float nearest = 1e9;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            ivec2 q = inside(p + ivec2(x, y));
            vec3 color = compress(texelFetch(lit_map, q, 0).rgb);
            vec4 geometry = texelFetch(geometry_map, q, 0);
            mean += color;
            square += color * color;
            if (x == 0 && y == 0)
                centre = color;
            if (geometry.x < nearest) {
                nearest = geometry.x;
                motion = geometry.yz;
            }
        }
    }
    mean /= 9.0;
    vec3 deviation = sqrt(max(square / 9.0 - mean * mean, 0.0));
    vec2 before = vec2(p) + 0.5 - motion;
    vec3 history = compress(textureLod(history_map, before * frame.size.zw, 0.0).rgb);
    vec3 clamped = clamp(history, mean - deviation * 1.25, mean + deviation * 1.25);

    vec2 t = before * frame.size.zw;
    float seen = step(0.0, t.x) * step(t.x, 1.0) * step(0.0, t.y) * step(t.y, 1.0);
    float off = length(history - clamped) / (luma(clamped) + 0.05);
    float trust = seen * saturate(1.0 - off) * saturate(1.0 - length(motion) / 40.0) * frame.jitter.w;
    vec3 color = mix(centre, clamped, 0.9 * trust);
    // A little of what the blend softened comes back.
    vec3 sharp = max(color + (color - mean) * 0.12 * trust, 0.0);
    imageStore(resolved_image, p, vec4(expand(sharp), trust));
}
