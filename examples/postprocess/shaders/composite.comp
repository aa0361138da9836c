#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 1, binding = 0, rgba8) uniform writeonly image2D picture;

// The lens and the film: depth of field and motion blur by a gather, bloom and a dirty lens, flare, tone map, grain.
vec3 filmic(vec3 x)
{
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

// Pixels; what lies within the range of the focus is sharp.
float circle_of_confusion(float depth)
{
    float off = max(abs(depth - frame.focus.x) - frame.focus.y, 0.0);
    return min(off / depth * frame.focus.z, 8.0);
}

vec3 bloom_at(vec2 t)
{
    return textureLod(bloom_map, t, 0.0).rgb;
}

void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, imageSize(picture))))
        return;
    vec2 centre = vec2(p) + 0.5;
    vec4 geometry = texelFetch(geometry_map, p, 0);
    vec3 color = texelFetch(resolved_map, p, 0).rgb;

    float confusion = circle_of_confusion(geometry.x);
    vec2 motion = geometry.yz * frame.focus.w;
    vec3 sum = color;
    float total = 1.0;
    float turn = gradient_noise(centre) * 6.2832;
    for (int i = 0; i < 12; i++) {
        float along = (float(i) + 0.5) / 12.0;
        float angle = turn + float(i) * 2.39996;
        vec2 offset = vec2(cos(angle), sin(angle)) * sqrt(along) * confusion + motion * (along - 0.5);
        ivec2 q = inside(ivec2(centre + offset));
        float there = texelFetch(geometry_map, q, 0).x;
        // What is sharp and behind does not bleed, what is in front does.
        float weight = saturate(max(circle_of_confusion(there), length(motion)) - length(offset) + 1.0);
        sum += weight * texelFetch(resolved_map, q, 0).rgb;
        total += weight;
    }
    color = sum / total;

    vec2 t = centre * frame.size.zw;
    vec3 bloom = bloom_at(t);
    float smear = saturate(hash(floor(t * vec2(14.0, 8.0))) * 2.0 - 1.2) * saturate(hash(floor(t * vec2(31.0, 17.0))) * 1.5);
    color += bloom * (frame.bloom.z + frame.bloom.w * smear);
    vec2 ghost = (t - 0.5) * 1.4;
    vec3 flare = bloom_at(1.0 - t) * vec3(0.25, 0.5, 1.0) + bloom_at(0.5 - ghost * 0.5) * vec3(0.8, 0.4, 0.2);
    color += flare * 0.12 * saturate(1.0 - dot(ghost, ghost));

    color *= frame.sun_color.w;
    vec2 away = t - 0.5;
    color *= 1.0 - 0.7 * dot(away, away);
    color = pow(filmic(color), vec3(1.0 / 2.2));
    color += (hash(centre + frame.eye.w * 61.0) - 0.5) * 0.02;
    imageStore(picture, p, vec4(color, 1.0));
}
