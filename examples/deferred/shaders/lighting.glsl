// What both passes of the lighting share: the targets of the geometry pass, and how a surface answers light.
#include "frame.glsl"

layout(set = 1, binding = 2) uniform sampler2D albedo_target;
layout(set = 1, binding = 3) uniform sampler2D normal_target;
layout(set = 1, binding = 4) uniform sampler2D material_target;
layout(set = 1, binding = 5) uniform sampler2D depth_target;

layout(location = 0) out vec4 out_color;

struct Surface {
    vec3 position, normal, view, albedo;
    float occlusion, roughness, metallic, translucency, emission;
    int kind;
};

vec3 world_at(vec2 pixel, float depth)
{
    vec2 ndc = pixel * frame.size.zw * 2.0 - 1.0;
    vec4 p = frame.inverse_view_projection * vec4(ndc, depth, 1.0);
    return p.xyz / p.w;
}

// Diffuse and specular light that arrives from direction l.
vec3 shade(Surface s, vec3 l, vec3 radiance)
{
    float n_l = dot(s.normal, l);
    if (n_l <= 0.0) {
        if (s.kind != CLASS_FOLIAGE)
            return vec3(0.0);
        return s.albedo * radiance * s.translucency * min(-n_l, 1.0) * vec3(0.9, 1.0, 0.4);
    }
    vec3 result = s.albedo * (1.0 - s.metallic) * radiance * n_l;
    if (s.roughness < 0.8) {
        vec3 h = normalize(l + s.view);
        float n_h = clamp(dot(s.normal, h), 0.0, 1.0);
        float n_v = clamp(dot(s.normal, s.view), 0.05, 1.0);
        float a = s.roughness * s.roughness, a2 = a * a;
        float d = n_h * n_h * (a2 - 1.0) + 1.0;
        float k = (s.roughness + 1.0) * (s.roughness + 1.0) * 0.125;
        float visible = 0.25 / ((n_v * (1.0 - k) + k) * (n_l * (1.0 - k) + k));
        vec3 f0 = mix(vec3(0.04), s.albedo, s.metallic);
        vec3 fresnel = f0 + (1.0 - f0) * pow(1.0 - clamp(dot(s.view, h), 0.0, 1.0), 5.0);
        result += radiance * n_l * fresnel * (a2 / (3.14159 * d * d)) * visible;
    }
    return result;
}

// The surface that a pixel shows, and its distance from the eye. depth must be below 1.
Surface surface_at(ivec2 p, float depth, out float distance)
{
    vec4 albedo = texelFetch(albedo_target, p, 0);
    vec4 normal = texelFetch(normal_target, p, 0);
    vec4 material = texelFetch(material_target, p, 0);
    Surface s;
    s.position = world_at(gl_FragCoord.xy, depth);
    vec3 ray = s.position - frame.eye.xyz;
    distance = length(ray);
    s.normal = normalize(normal.xyz * 2.0 - 1.0);
    s.view = -ray / distance;
    s.albedo = albedo.rgb;
    s.occlusion = albedo.a;
    s.roughness = max(normal.a, 0.08);
    s.metallic = material.r;
    s.translucency = material.g;
    s.emission = material.b;
    s.kind = int(material.a * 255.0 + 0.5);
    return s;
}

float fog_at(float distance)
{
    return frame.sky_low.w > 0.0 ? 1.0 - exp(-distance * frame.sky_low.w) : 0.0;
}
