#version 450
#extension GL_GOOGLE_include_directive : require
#include "lighting.glsl"

// The first pass of the lighting: sky, what shines by itself, ambient light, and the sun with its shadow map.
layout(set = 1, binding = 6) uniform sampler2D shadow_map;

vec3 sky(vec3 ray)
{
    float up = clamp(ray.y, 0.0, 1.0);
    vec3 color = mix(frame.sky_low.rgb, frame.sky_high.rgb, sqrt(up));
    float sun = dot(ray, frame.sun_direction.xyz);
    if (sun > 0.9994)
        return color + frame.sun_color.rgb * 6.0;
    color += frame.sun_color.rgb * 0.12 * pow(max(sun, 0.0), 24.0);
    if (frame.sky_high.w > 0.0 && ray.y > 0.03) {
        vec2 p = ray.xz / (0.3 + ray.y) * 90.0;
        float star = hash(floor(p));
        if (star > 0.985) {
            float spot = length(fract(p) - 0.5);
            color += frame.sky_high.w * (star - 0.985) * 60.0 * smoothstep(0.35, 0.0, spot);
        }
    }
    return color;
}

float sun_shadow(vec3 position, vec3 normal)
{
    vec4 p = frame.sun_view_projection * vec4(position + normal * 0.06, 1.0);
    vec2 t = p.xy * 0.5 + 0.5;
    if (any(lessThan(t, vec2(0.0))) || any(greaterThan(t, vec2(1.0))))
        return 1.0;
    float texel = frame.sun_direction.w, lit = 0.0;
    // Most pixels are wholly lit or wholly dark: four taps decide, nine more smooth the border.
    for (int i = 0; i < 4; i++) {
        vec2 offset = (vec2(i & 1, i >> 1) - 0.5) * 4.0 * texel;
        lit += p.z <= textureLod(shadow_map, t + offset, 0.0).r + 0.0015 ? 0.25 : 0.0;
    }
    if (lit == 0.0 || lit == 1.0)
        return lit;
    lit = 0.0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            lit += p.z <= textureLod(shadow_map, t + vec2(x, y) * texel * 1.3, 0.0).r + 0.0015 ? 1.0 : 0.0;
    return lit / 9.0;
}

void main()
{
    ivec2 p = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_target, p, 0).r;
    if (depth >= 1.0) {
        out_color = vec4(sky(normalize(world_at(gl_FragCoord.xy, depth) - frame.eye.xyz)), 1.0);
        return;
    }
    float distance;
    Surface s = surface_at(p, depth, distance);
    vec3 color;
    if (s.kind == CLASS_EMISSIVE) {
        color = s.albedo * s.emission * 16.0;
    } else {
        vec3 ambient = mix(frame.sky_low.rgb * 0.5, frame.sky_high.rgb + frame.sky_low.rgb * 0.5,
                           s.normal.y * 0.5 + 0.5);
        color = s.albedo * ambient * s.occlusion * frame.sun_color.w;
        if (s.kind == CLASS_METAL)
            color += s.albedo * sky(reflect(-s.view, s.normal)) * 0.5 * frame.sun_color.w;
        if (dot(s.normal, frame.sun_direction.xyz) > 0.0 || s.kind == CLASS_FOLIAGE) {
            float lit = sun_shadow(s.position, s.normal);
            if (lit > 0.0)
                color += shade(s, frame.sun_direction.xyz, frame.sun_color.rgb * lit);
        }
    }
    out_color = vec4(mix(color, frame.sky_low.rgb, fog_at(distance)), 1.0);
}
