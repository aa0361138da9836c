#version 450
#extension GL_GOOGLE_include_directive : require
#include "surface.glsl"

// Leaves: alpha-tested, lit from both sides.
void main()
{
    vec4 leaf = texture(albedo_maps, vec3(uv, 3.0));
    if (leaf.a < 0.5)
        discard;
    vec3 normal = normalize(world_normal);
    if (dot(normal, frame.eye.xyz - world) < 0.0)
        normal = -normal;
    // The crown is shaded as a whole, as if it were round.
    normal = normalize(normal + vec3(0.0, 0.8, 0.0));
    vec3 albedo = leaf.rgb * object.tint.rgb;
    float season = value_noise(world.xz * 0.5 + object.tint.w * 31.0);
    if (season > 0.72)
        albedo = mix(albedo, vec3(0.35, 0.17, 0.03) * leaf.g * 2.0, (season - 0.72) * 3.0);
    write_surface(albedo, 0.7 + 0.3 * leaf.g, normal, 0.7, 0.0, 0.6, 0.0, CLASS_FOLIAGE);
}
