#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

// The lighting of a pixel: sky, sun with its shadow map, and the lights that reach the pixel's tile of the screen.
struct Light {
    vec4 position;  // xyz, radius in metres
    vec4 color;     // rgb, kind: 0 point, 1 spot, 2 spot that throws a picture
    vec4 direction; // xyz, cosine of the half cone
    vec4 side;      // xyz to the right of the direction, layer of the mask
};

// Counts of lights are read per tile, as push constants would freeze them into a command buffer recorded once.
layout(set = 1, binding = 0, std430) readonly buffer Lights { Light lights[]; };
layout(set = 1, binding = 1, std430) readonly buffer Tiles { uint tile_lights[]; };
layout(set = 1, binding = 2) uniform sampler2D albedo_target;
layout(set = 1, binding = 3) uniform sampler2D normal_target;
layout(set = 1, binding = 4) uniform sampler2D material_target;
layout(set = 1, binding = 5) uniform sampler2D depth_target;
layout(set = 1, binding = 6) uniform sampler2D shadow_map;
layout(set = 1, binding = 7) uniform sampler2DArray shadow_masks;

const uvec2 TILES = uvec2(8, 5);
const uint TILE_WORDS = 1 + 96; // PM_TILE_WORDS: a list's length and its lights' numbers

layout(location = 0) out vec4 out_color;

struct Surface {
    vec3 position, normal, view, albedo;
    float roughness, metallic, translucency;
    int kind;
};

vec3 world_at(vec2 pixel, float depth)
{
    vec2 ndc = pixel * frame.size.zw * 2.0 - 1.0;
    vec4 p = frame.inverse_view_projection * vec4(ndc, depth, 1.0);
    return p.xyz / p.w;
}

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

vec3 local_light(Surface s, Light light)
{
    vec3 to_light = light.position.xyz - s.position;
    float square = dot(to_light, to_light);
    float reach = light.position.w * light.position.w;
    if (square >= reach)
        return vec3(0.0);
    vec3 l = to_light * inversesqrt(square);
    float fade = 1.0 - square / reach;
    float strength = fade * fade / (square + 0.3);
    if (light.color.w > 0.5) {
        float cone = dot(-l, light.direction.xyz);
        if (cone <= light.direction.w)
            return vec3(0.0);
        strength *= smoothstep(light.direction.w, mix(light.direction.w, 1.0, 0.35), cone);
        if (light.color.w > 1.5) {
            vec3 up = cross(light.side.xyz, light.direction.xyz);
            vec2 t = vec2(dot(-l, light.side.xyz), dot(-l, up)) / cone;
            t = t * (light.direction.w * inversesqrt(1.0 - light.direction.w * light.direction.w)) * 0.5 + 0.5;
            float mask = textureLod(shadow_masks, vec3(t, light.side.w), 0.0).r;
            if (mask == 0.0)
                return vec3(0.0);
            strength *= mask;
        }
    }
    return shade(s, l, light.color.rgb * strength);
}

void main()
{
    ivec2 p = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_target, p, 0).r;
    vec3 position = world_at(gl_FragCoord.xy, depth);
    vec3 ray = position - frame.eye.xyz;
    float distance = length(ray);
    ray /= distance;
    if (depth >= 1.0) {
        out_color = vec4(sky(ray), 1.0);
        return;
    }
    vec4 albedo = texelFetch(albedo_target, p, 0);
    vec4 normal = texelFetch(normal_target, p, 0);
    vec4 material = texelFetch(material_target, p, 0);

    Surface s;
    s.position = position;
    s.normal = normalize(normal.xyz * 2.0 - 1.0);
    s.view = -ray;
    s.albedo = albedo.rgb;
    s.roughness = max(normal.a, 0.08);
    s.metallic = material.r;
    s.translucency = material.g;
    s.kind = int(material.a * 255.0 + 0.5);

    vec3 color;
    if (s.kind == CLASS_EMISSIVE) {
        color = s.albedo * material.b * 16.0;
    } else {
        vec3 ambient = mix(frame.sky_low.rgb * 0.5, frame.sky_high.rgb + frame.sky_low.rgb * 0.5,
                           s.normal.y * 0.5 + 0.5);
        color = s.albedo * ambient * albedo.a * frame.sun_color.w;
        if (s.kind == CLASS_METAL)
            color += s.albedo * sky(reflect(ray, s.normal)) * 0.5 * frame.sun_color.w;
        if (dot(s.normal, frame.sun_direction.xyz) > 0.0 || s.kind == CLASS_FOLIAGE) {
            float lit = sun_shadow(position, s.normal);
            if (lit > 0.0)
                color += shade(s, frame.sun_direction.xyz, frame.sun_color.rgb * lit);
        }
        uvec2 tile = uvec2(gl_FragCoord.xy * frame.size.zw * vec2(TILES));
        uint first = (tile.y * TILES.x + tile.x) * TILE_WORDS;
        uint count = tile_lights[first];
        for (uint i = 1u; i <= count; i++)
            color += local_light(s, lights[tile_lights[first + i]]);
    }
    if (frame.sky_low.w > 0.0) {
        float fog = 1.0 - exp(-distance * frame.sky_low.w);
        color = mix(color, frame.sky_low.rgb, fog);
    }
    out_color = vec4(color, 1.0);
}
