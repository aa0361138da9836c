#version 450
#extension GL_GOOGLE_include_directive : require
#include "surface.glsl"

// Brushed metal that rusts where its mask says so.
void main()
{
    vec3 normal = normalize(world_normal);
    mat3 basis = tangent_frame(normal, world, uv);
    vec4 surface = texture(surface_maps, vec3(uv, 1.0));
    vec3 albedo = object.tint.rgb;
    float roughness, metallic;
    vec3 bumped;

    float rust = surface.a + object.tint.w * 0.35 - 0.2;
    if (rust > 0.55) {
        float sum = 0.0, weight = 0.5;
        vec2 p = uv * 24.0;
        for (int octave = 0; octave < 4; octave++) {
            sum += value_noise(p) * weight;
            p = p * 2.03 + 7.1;
            weight *= 0.5;
        }
        albedo = mix(vec3(0.13, 0.05, 0.02), vec3(0.38, 0.16, 0.06), sum);
        roughness = 0.85;
        metallic = 0.1;
        bumped = basis * normalize(vec3(sum - 0.5, 0.5 - sum, 1.0));
    } else {
        float brushed = value_noise(vec2(uv.x * 4.0, uv.y * 300.0)) - 0.5;
        albedo *= 0.85 + 0.3 * surface.r;
        roughness = 0.22 + 0.35 * surface.g;
        metallic = 1.0;
        bumped = basis * normalize(vec3(0.0, brushed * 0.12, 1.0));
    }
    int kind = metallic > 0.5 ? CLASS_METAL : CLASS_DIELECTRIC;
    write_surface(albedo, 1.0, bumped, roughness, metallic, 0.0, 0.0, kind);
}
