// What the fragment shaders of the geometry pass share: inputs, textures, targets.
#include "frame.glsl"

layout(set = 0, binding = 1) uniform sampler2DArray albedo_maps;
layout(set = 0, binding = 2) uniform sampler2DArray surface_maps; // height, roughness, occlusion, mask

layout(push_constant, std430) uniform Object {
    vec4 rows[3]; // object to world
    vec4 tint;    // rgb, w: a random number of the object
    vec4 detail;  // texture repeats, bump height, sway, emission
} object;

layout(location = 0) in vec3 world;
layout(location = 1) in vec3 world_normal;
layout(location = 2) in vec2 uv;

layout(location = 0) out vec4 out_albedo;   // rgb, occlusion
layout(location = 1) out vec4 out_normal;   // xyz * 0.5 + 0.5, roughness
layout(location = 2) out vec4 out_material; // metallic, translucency, emission, class

// The frame of the surface at this pixel, from derivatives (Schüler 2013), so meshes carry no tangents.
mat3 tangent_frame(vec3 normal, vec3 p, vec2 t)
{
    vec3 dpx = dFdx(p), dpy = dFdy(p);
    vec2 dtx = dFdx(t), dty = dFdy(t);
    vec3 py = cross(dpy, normal), px = cross(normal, dpx);
    vec3 tangent = py * dtx.x + px * dty.x;
    vec3 bitangent = py * dtx.y + px * dty.y;
    float scale = inversesqrt(max(max(dot(tangent, tangent), dot(bitangent, bitangent)), 1e-12));
    return mat3(tangent * scale, bitangent * scale, normal);
}

void write_surface(vec3 albedo, float occlusion, vec3 normal, float roughness, float metallic,
                   float translucency, float emission, int kind)
{
    out_albedo = vec4(albedo, occlusion);
    out_normal = vec4(normalize(normal) * 0.5 + 0.5, roughness);
    out_material = vec4(metallic, translucency, emission, float(kind) / 255.0);
}
