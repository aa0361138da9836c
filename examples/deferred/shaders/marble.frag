#version 450
#extension GL_GOOGLE_include_directive : require
#include "surface.glsl"

// Polished tiles in two stones with grout between them, or one piece of stone.
void main()
{
    vec3 normal = normalize(world_normal);
    mat3 basis = tangent_frame(normal, world, uv);
    bool plain = object.detail.w > 0.5; // one piece of light stone, without seams
    vec2 cell = plain ? vec2(object.tint.w * 8.0, 1.0) : floor(uv);
    vec2 inside = plain ? uv : uv - cell;
    vec2 edge = min(inside, 1.0 - inside);
    float seam = min(edge.x, edge.y);
    float filter_width = max(length(dFdx(uv)), length(dFdy(uv)));

    if (!plain && seam < 0.02 && filter_width < 0.2) {
        vec2 lean = vec2(edge.x < edge.y ? sign(inside.x - 0.5) : 0.0,
                         edge.x < edge.y ? 0.0 : sign(inside.y - 0.5));
        vec3 bumped = basis * normalize(vec3(lean * 0.5, 1.0));
        write_surface(vec3(0.09), 0.6, bumped, 0.95, 0.0, 0.0, 0.0, CLASS_DIELECTRIC);
        return;
    }
    float turn = hash(cell) * 6.28;
    vec2 p = mat2(cos(turn), sin(turn), -sin(turn), cos(turn)) * inside * 3.0 + cell * 5.0;
    float vein = 0.0, weight = 0.6;
    int octaves = filter_width < 0.05 ? 4 : 2;
    for (int i = 0; i < octaves; i++) {
        vein += abs(value_noise(p) - 0.5) * weight;
        p = p * 2.1 + 3.7;
        weight *= 0.55;
    }
    vein = clamp(1.0 - vein * 4.0, 0.0, 1.0);
    bool dark = !plain && mod(cell.x + cell.y, 2.0) < 1.0;
    vec3 albedo = dark ? mix(vec3(0.035, 0.04, 0.045), vec3(0.35), vein * vein * 0.5)
                       : mix(vec3(0.62, 0.58, 0.52), vec3(0.3, 0.27, 0.25), vein);
    write_surface(albedo * object.tint.rgb, 1.0, normal, 0.12 + 0.15 * vein, 0.0, 0.0, 0.0, CLASS_DIELECTRIC);
}
