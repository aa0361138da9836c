#version 450
#extension GL_GOOGLE_include_directive : require
#include "surface.glsl"

// Walls: parallax occlusion by marching the height map, moss in the damp places.
void main()
{
    vec3 normal = normalize(world_normal);
    vec3 to_eye = normalize(frame.eye.xyz - world);
    mat3 basis = tangent_frame(normal, world, uv);
    vec3 view = to_eye * basis;
    vec2 dx = dFdx(uv), dy = dFdy(uv);

    vec2 t = uv;
    float distance = length(frame.eye.xyz - world);
    if (distance < 14.0) {
        const int steps = 10;
        vec2 step_uv = view.xy / max(view.z, 0.25) * object.detail.y / float(steps);
        float ray = 1.0;
        for (int i = 0; i < steps; i++) {
            if (textureGrad(surface_maps, vec3(t, 0.0), dx, dy).r >= ray)
                break;
            t -= step_uv;
            ray -= 1.0 / float(steps);
        }
    }

    vec4 surface = textureGrad(surface_maps, vec3(t, 0.0), dx, dy);
    vec3 albedo = textureGrad(albedo_maps, vec3(t, 0.0), dx, dy).rgb * object.tint.rgb;
    float e = 1.0 / 256.0;
    float hx = textureGrad(surface_maps, vec3(t + vec2(e, 0), 0.0), dx, dy).r - surface.r;
    float hy = textureGrad(surface_maps, vec3(t + vec2(0, e), 0.0), dx, dy).r - surface.r;
    vec3 bumped = basis * normalize(vec3(-hx * 5.0, -hy * 5.0, 1.0));
    float roughness = surface.g;

    float damp = value_noise(world.xz * 0.7 + world.y * 0.4) + 0.35 - world.y * 0.16 - surface.r * 0.3;
    if (damp > 0.5) {
        float growth = smoothstep(0.5, 0.75, damp);
        vec3 moss = vec3(0.07, 0.13, 0.03) * (0.6 + 0.8 * value_noise(world.xy * 17.0 + world.zx * 13.0));
        albedo = mix(albedo, moss, growth);
        roughness = mix(roughness, 0.95, growth);
        bumped = mix(bumped, normal, growth * 0.5);
    }
    write_surface(albedo, surface.b, bumped, roughness, 0.0, 0.0, 0.0, CLASS_DIELECTRIC);
}
