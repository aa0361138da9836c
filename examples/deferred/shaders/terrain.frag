#version 450
#extension GL_GOOGLE_include_directive : require
#include "surface.glsl"

// Ground: grass, earth, rock and snow by slope and height; rock is mapped from three sides.
vec3 rock_color(vec3 p, vec3 normal, vec2 dx, vec2 dy)
{
    vec3 weight = abs(normal);
    weight = weight * weight;
    weight /= weight.x + weight.y + weight.z;
    vec3 sum = vec3(0.0);
    if (weight.x > 0.05)
        sum += weight.x * textureGrad(albedo_maps, vec3(p.zy * 0.3, 2.0), dx, dy).rgb;
    if (weight.y > 0.05)
        sum += weight.y * textureGrad(albedo_maps, vec3(p.xz * 0.3, 2.0), dx, dy).rgb;
    if (weight.z > 0.05)
        sum += weight.z * textureGrad(albedo_maps, vec3(p.xy * 0.3, 2.0), dx, dy).rgb;
    return sum;
}

void main()
{
    vec3 normal = normalize(world_normal);
    mat3 basis = tangent_frame(normal, world, uv);
    vec2 dx = dFdx(uv), dy = dFdy(uv);
    float variation = value_noise(world.xz * 0.35);
    float slope = 1.0 - normal.y;

    vec3 albedo;
    float roughness = 0.9, bump = 1.0;
    if (slope > 0.22 + 0.1 * variation) {
        albedo = rock_color(world, normal, dx, dy);
        roughness = 0.75;
        bump = 2.5;
    } else if (world.y > object.detail.w + variation * 1.5) {
        albedo = vec3(0.75, 0.78, 0.82);
        roughness = 0.45;
        bump = 0.3;
    } else {
        vec3 grass = textureGrad(albedo_maps, vec3(uv, 4.0), dx, dy).rgb;
        if (variation > 0.55) {
            vec3 earth = textureGrad(albedo_maps, vec3(uv * 0.7, 5.0), dx, dy).rgb;
            grass = mix(grass, earth, smoothstep(0.55, 0.72, variation));
        }
        albedo = grass;
    }
    vec4 surface = textureGrad(surface_maps, vec3(uv, 2.0), dx, dy);
    float e = 1.0 / 256.0;
    float hx = textureGrad(surface_maps, vec3(uv + vec2(e, 0), 2.0), dx, dy).r - surface.r;
    float hy = textureGrad(surface_maps, vec3(uv + vec2(0, e), 2.0), dx, dy).r - surface.r;
    vec3 bumped = basis * normalize(vec3(-hx * bump, -hy * bump, 1.0));
    write_surface(albedo * object.tint.rgb, 0.75 + 0.25 * surface.r, bumped, roughness, 0.0, 0.0, 0.0,
                  CLASS_DIELECTRIC);
}
