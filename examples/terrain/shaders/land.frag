#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

// The ground: eight layers blended by the two splat maps, cliffs mapped from three sides, decals, snow, wetness, and
// the light of sun and sky.
layout(set = 0, binding = 1) uniform sampler2D surface_map;      // the land's normal.xz, visibility of sun and sky
layout(set = 0, binding = 2) uniform sampler2D splat_low;        // weights of layers 0 to 3
layout(set = 0, binding = 3) uniform sampler2D splat_high;       // weights of layers 4 to 7
layout(set = 0, binding = 4) uniform sampler2D mask_map;         // wetness, snow drift, tint, metres above the sea / 32 + 0.5
layout(set = 0, binding = 5) uniform sampler2DArray albedo_maps; // rgb, height
layout(set = 0, binding = 6) uniform sampler2DArray normal_maps; // normal.xy of a layer, roughness, occlusion
layout(set = 0, binding = 7) uniform sampler2DArray detail_maps; // normal.xy, brightness: seen close by
layout(set = 0, binding = 8) uniform sampler2DArray decal_maps;  // rgb, coverage

struct Decal {
    vec4 place; // world to decal: x' = dot(place.xy, d), y' = dot(place.zw, d)
    vec4 centre; // xyz, layer
    vec4 look;  // strength, roughness, bump, fade height
};

layout(set = 0, binding = 9, std140) uniform Decals { Decal decals[8]; };

layout(location = 0) in vec3 world;
layout(location = 0) out vec4 out_color;

struct Ground {
    vec3 albedo;
    vec3 normal;
    float roughness, occlusion;
};

const float LAYER_SCALE[8] = float[](0.16, 0.14, 0.05, 0.06, 0.15, 0.12, 0.18, 0.08);
const float DETAIL_SCALE = 7.0;

// A layer seen along one axis. The normal is in the frame of that projection, z outwards.
Ground sample_plane(int layer, vec2 uv, float near)
{
    vec4 albedo = texture(albedo_maps, vec3(uv, layer));
    vec4 surface = texture(normal_maps, vec3(uv, layer));
    vec4 detail = texture(detail_maps, vec3(uv * DETAIL_SCALE, layer));
    vec2 bump = surface.xy * 2.0 - 1.0 + (detail.xy * 2.0 - 1.0) * near;
    Ground ground;
    ground.albedo = albedo.rgb * (1.0 + (detail.z * 2.0 - 1.0) * near);
    ground.normal = vec3(bump, sqrt(max(1.0 - dot(bump, bump), 0.0625)));
    ground.roughness = surface.z;
    ground.occlusion = surface.w;
    return ground;
}

// From above: flat layers.
Ground sample_flat(int layer, vec3 normal, float near)
{
    Ground ground = sample_plane(layer, world.xz * LAYER_SCALE[layer], near);
    ground.normal = vec3(ground.normal.x, 0.0, ground.normal.y) + normal * ground.normal.z;
    return ground;
}

// From three sides: layers of cliffs.
Ground sample_cliff(int layer, vec3 normal, float near)
{
    vec3 weight = max(abs(normal) - 0.3, 0.0);
    weight /= weight.x + weight.y + weight.z;
    vec3 p = world * LAYER_SCALE[layer];
    Ground x = sample_plane(layer, p.zy, near);
    Ground y = sample_plane(layer, p.xz, near);
    Ground z = sample_plane(layer, p.xy, near);
    Ground ground;
    ground.albedo = weight.x * x.albedo + weight.y * y.albedo + weight.z * z.albedo;
    ground.normal = weight.x * (vec3(0.0, x.normal.y, x.normal.x) + normal * x.normal.z) +
                    weight.y * (vec3(y.normal.x, 0.0, y.normal.y) + normal * y.normal.z) +
                    weight.z * (vec3(z.normal.x, z.normal.y, 0.0) + normal * z.normal.z);
    ground.roughness = weight.x * x.roughness + weight.y * y.roughness + weight.z * z.roughness;
    ground.occlusion = weight.x * x.occlusion + weight.y * y.occlusion + weight.z * z.occlusion;
    return ground;
}

void add(inout Ground sum, Ground layer, float weight)
{
    sum.albedo += weight * layer.albedo;
    sum.normal += weight * layer.normal;
    sum.roughness += weight * layer.roughness;
    sum.occlusion += weight * layer.occlusion;
}

Ground blend_layers(vec2 uv, vec3 normal, float near)
{
    vec4 low = texture(splat_low, uv), high = texture(splat_high, uv);
    Ground sum = Ground(vec3(0.0), vec3(0.0), 0.0, 0.0);
    add(sum, sample_flat(0, normal, near), low.r);
    add(sum, sample_flat(1, normal, near), low.g);
    add(sum, sample_cliff(2, normal, near), low.b);
    add(sum, sample_cliff(3, normal, near), low.a);
    add(sum, sample_flat(4, normal, near), high.r);
    add(sum, sample_flat(5, normal, near), high.g);
    add(sum, sample_flat(6, normal, near), high.b);
    add(sum, sample_flat(7, normal, near), high.a);
    return sum;
}

// Tracks, burnt places, fallen leaves: painted on from above.
void apply_decals(inout Ground ground)
{
    for (int i = 0; i < 8; i++) {
        vec3 d = world - decals[i].centre.xyz;
        vec2 p = vec2(dot(decals[i].place.xy, d.xz), dot(decals[i].place.zw, d.xz));
        vec2 inside = clamp((1.0 - abs(p)) * 6.0, 0.0, 1.0);
        float reach = saturate(1.0 - abs(d.y) * decals[i].look.w);
        vec4 paint = texture(decal_maps, vec3(p * 0.5 + 0.5, decals[i].centre.w));
        float cover = paint.a * inside.x * inside.y * reach * decals[i].look.x;
        ground.albedo = mix(ground.albedo, paint.rgb, cover);
        ground.roughness = mix(ground.roughness, decals[i].look.y, cover);
        ground.normal += cover * decals[i].look.z * vec3(paint.r - 0.3, 0.0, paint.g - 0.3);
    }
}

void apply_snow(inout Ground ground, vec3 normal, float drift)
{
    float line = frame.land.w + 10.0 * (value_noise(world.xz * 0.06) - 0.5);
    float fallen = smoothstep(line, line + 18.0, world.y) * saturate((normal.y - 0.62) * 5.0);
    float snow = saturate(fallen + drift) * frame.weather.x;
    float grain = value_noise(world.xz * 2.3) * 0.5 + value_noise(world.xz * 9.0) * 0.5;
    float sparkle = pow(hash(floor(world.xz * 40.0)), 24.0);
    vec3 color = vec3(0.82, 0.87, 0.95) * (0.86 + 0.14 * grain) + sparkle * 0.25;
    ground.albedo = mix(ground.albedo, color, snow);
    ground.normal = mix(ground.normal, normal + vec3(grain - 0.5, 0.0, 0.5 - grain) * 0.15, snow);
    ground.roughness = mix(ground.roughness, 0.55 - 0.3 * sparkle, snow);
    ground.occlusion = mix(ground.occlusion, 1.0, snow);
}

void main()
{
    vec2 uv = world.xz / frame.land.x + 0.5;
    vec4 surface = texture(surface_map, uv);
    vec4 mask = texture(mask_map, uv);
    vec2 slope = surface.xy * 2.0 - 1.0;
    vec3 normal = vec3(slope.x, sqrt(max(1.0 - dot(slope, slope), 0.01)), slope.y);
    vec3 ray = world - frame.eye.xyz;
    float distance = length(ray);
    ray /= distance;
    float near = saturate(1.5 - distance / 40.0);

    Ground ground = blend_layers(uv, normal, near);
    ground.albedo *= 0.75 + 0.5 * mask.b;
    apply_decals(ground);
    apply_snow(ground, normal, mask.g);

    // Puddles and wet ground are darker and shine.
    float wet = saturate(mask.r * (1.4 - ground.occlusion)) * frame.weather.y;
    ground.albedo *= 1.0 - 0.55 * wet;
    ground.roughness = mix(ground.roughness, 0.12, wet);
    vec3 bumped = normalize(mix(ground.normal, normal, 0.8 * wet));

    float n_l = saturate(dot(bumped, frame.sun_direction.xyz));
    vec3 sun = frame.sun_color.rgb * surface.z;
    vec3 ambient = mix(frame.sky_low.rgb * 0.35, frame.sky_high.rgb, bumped.y * 0.5 + 0.5) * surface.w;
    vec3 color = ground.albedo * (ambient * ground.occlusion + sun * n_l);
    color += sun * sun_specular(bumped, -ray, ground.roughness, 0.04);
    float fresnel = 0.02 + 0.98 * pow(1.0 - saturate(dot(bumped, -ray)), 5.0);
    color += wet * fresnel * surface.w * sky_color(reflect(ray, bumped));
    out_color = vec4(apply_fog(color, ray, distance), 1.0);
}
