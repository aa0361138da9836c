#version 450
#extension GL_GOOGLE_include_directive : require
#include "lighting.glsl"

// The third pass of the lighting, added to the others: the scene's spotlights, each with its shadow map, a tile of one
// atlas, and a mask in front of its lens.
struct Spot {
    mat4 to_shadow; // world to the spot's clip space
    vec4 position;  // xyz, 1 / radius squared
    vec4 direction; // xyz, layer of the mask
    vec4 color;     // rgb, how much of the mask is in the way
    vec4 cone;      // cosines of the outer and the inner half angle
    vec4 tile;      // of the atlas: scale and offset
};

layout(set = 1, binding = 7) uniform sampler2DArray masks;
layout(set = 1, binding = 8) uniform sampler2D spot_shadows;
layout(set = 1, binding = 9, std140) uniform Spots {
    vec4 count; // x
    Spot spots[8];
};

float saturate(float x)
{
    return clamp(x, 0.0, 1.0);
}

float lit_at(vec2 t, float depth)
{
    return step(depth, textureLod(spot_shadows, t, 0.0).r);
}

// The part of the light that gets through: past other objects, by four taps, and through the mask.
float spot_visibility(Spot spot, vec3 position)
{
    vec4 p = spot.to_shadow * vec4(position, 1.0);
    vec3 q = p.xyz / p.w;
    vec2 t = q.xy * 0.5 + 0.5;
    vec2 texel = 0.7 / vec2(textureSize(spot_shadows, 0));
    vec2 a = clamp(t, 0.01, 0.99) * spot.tile.xy + spot.tile.zw;
    float depth = q.z - 0.0006;
    float lit = lit_at(a + texel * vec2(-1.0, -0.4), depth) + lit_at(a + texel * vec2(0.4, -1.0), depth) +
                lit_at(a + texel * vec2(1.0, 0.4), depth) + lit_at(a + texel * vec2(-0.4, 1.0), depth);
    float mask = textureLod(masks, vec3(t, spot.direction.w), 0.0).r;
    return lit * 0.25 * mix(1.0, mask, spot.color.w);
}

vec3 spot_light(Surface s, Spot spot)
{
    vec3 to_light = spot.position.xyz - s.position;
    float square = dot(to_light, to_light);
    vec3 l = to_light * inversesqrt(square);
    float falloff = square * spot.position.w;
    float window = saturate(1.0 - falloff * falloff);
    float attenuation = window * window / (square + 0.2);
    float cone = smoothstep(spot.cone.x, spot.cone.y, dot(-l, spot.direction.xyz));
    float n_l = saturate(dot(s.normal, l));
    vec3 radiance = spot.color.rgb * attenuation * cone * spot_visibility(spot, s.position + s.normal * 0.04);

    vec3 h = normalize(l + s.view);
    float n_h = saturate(dot(s.normal, h));
    float n_v = max(dot(s.normal, s.view), 0.05);
    float a = s.roughness * s.roughness, a2 = a * a;
    float d = n_h * n_h * (a2 - 1.0) + 1.0;
    float k = (s.roughness + 1.0) * (s.roughness + 1.0) * 0.125;
    float visible = 0.25 / ((n_v * (1.0 - k) + k) * (n_l * (1.0 - k) + k));
    vec3 f0 = mix(vec3(0.04), s.albedo, s.metallic);
    vec3 fresnel = f0 + (1.0 - f0) * pow(1.0 - saturate(dot(s.view, h)), 5.0);
    vec3 specular = fresnel * (visible * a2 / (3.14159 * d * d));
    vec3 diffuse = s.albedo * (1.0 - s.metallic);
    vec3 through = s.albedo * s.translucency * saturate(dot(-s.normal, l)) * vec3(0.9, 1.0, 0.4);
    return ((diffuse + specular) * n_l + through) * radiance;
}

void main()
{
    ivec2 p = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_target, p, 0).r;
    float distance;
    Surface s = surface_at(p, depth, distance);
    vec3 color = vec3(0.0);
    if (depth < 1.0 && s.kind != CLASS_EMISSIVE) {
        for (int i = 0; i < int(count.x); i++)
            color += spot_light(s, spots[i]);
    }
    out_color = vec4(color * (1.0 - fog_at(distance)), 0.0);
}
