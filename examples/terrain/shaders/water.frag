#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(set = 0, binding = 4) uniform sampler2D mask_map; // wetness, snow drift, tint, metres above the sea / 32 + 0.5
layout(set = 0, binding = 5) uniform sampler2DArray albedo_maps;

layout(location = 0) in vec3 world;
layout(location = 0) out vec4 out_color;

// Slope of a few trains of waves.
vec2 waves(vec2 p, float time, float near)
{
    vec2 slope = vec2(0.0);
    vec2 direction = vec2(0.8, 0.6);
    float length = 0.35, height = 0.035;
    for (int i = 0; i < 5; i++) {
        float phase = dot(p, direction) * length + time * sqrt(9.8 * length) * 0.6;
        slope += direction * length * height * cos(phase + 2.0 * value_noise(p * length * 0.3));
        direction = vec2(direction.x * 0.36 - direction.y * 0.93, direction.x * 0.93 + direction.y * 0.36);
        length *= 1.9;
        height *= 0.62;
    }
    return slope * (0.3 + 0.7 * near) * (0.3 + 0.7 * frame.land.y);
}

void main()
{
    vec3 ray = world - frame.eye.xyz;
    float distance = length(ray);
    ray /= distance;
    vec2 slope = waves(world.xz, frame.eye.w, saturate(1.3 - distance / 120.0));
    vec3 normal = normalize(vec3(-slope.x, 1.0, -slope.y));

    vec2 uv = clamp(world.xz / frame.land.x + 0.5, 0.0, 1.0);
    float bed = (textureLod(mask_map, uv + slope * 0.004, 0.0).a - 0.5) * 32.0 + frame.land.z;
    float depth = max(frame.land.z - bed, 0.0);
    float path = depth / max(-refract(ray, normal, 0.75).y, 0.2);
    vec3 clear = exp(-path * vec3(0.32, 0.11, 0.08));
    vec3 sand = texture(albedo_maps, vec3(world.xz * 0.12 + slope * depth * 0.1, 5.0)).rgb;
    vec3 below = mix(vec3(0.012, 0.06, 0.075), sand * 0.8, clear) * (frame.sky_high.rgb + frame.sun_color.rgb * 0.4);

    // Waves break where it is shallow.
    float breaking = saturate(1.0 - depth * 0.7) * saturate(sin(depth * 5.0 - frame.eye.w * 1.4) + 0.4);
    float crest = saturate(dot(slope, vec2(0.8, 0.6)) * 14.0 - 1.2);
    float foam = saturate(breaking + crest) * frame.land.y * saturate(value_noise(world.xz * 1.7 + frame.eye.w) * 2.0 - 0.6);
    vec3 foam_light = 0.8 * (frame.sun_color.rgb * 0.5 + frame.sky_high.rgb);

    float fresnel = 0.02 + 0.98 * pow(1.0 - saturate(dot(normal, -ray)), 5.0);
    vec3 mirrored = reflect(ray, normal);
    vec3 color = mix(below, sky_color(vec3(mirrored.x, abs(mirrored.y), mirrored.z)), fresnel);
    color += frame.sun_color.rgb * sun_specular(normal, -ray, 0.14, 0.02);
    color += foam * foam_light;
    out_color = vec4(apply_fog(color, ray, distance), 1.0);
}
