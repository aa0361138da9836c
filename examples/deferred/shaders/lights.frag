#version 450
#extension GL_GOOGLE_include_directive : require
#include "lighting.glsl"

// The second pass of the lighting, added to the first: the lights that reach the pixel's tile of the screen.
struct Light {
    vec4 position;  // xyz, radius in metres
    vec4 color;     // rgb, kind: 0 point, 1 spot, 2 spot that throws a picture
    vec4 direction; // xyz, cosine of the half cone
    vec4 side;      // xyz to the right of the direction, layer of the mask
};

// Counts of lights are read per tile.
layout(set = 1, binding = 0, std430) readonly buffer Lights { Light lights[]; };
layout(set = 1, binding = 1, std430) readonly buffer Tiles { uint tile_lights[]; };
layout(set = 1, binding = 7) uniform sampler2DArray shadow_masks;

const uvec2 TILES = uvec2(8, 5);
const uint TILE_WORDS = 1 + 96; // PM_TILE_WORDS: a list's length and its lights' numbers

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
    float distance;
    Surface s = surface_at(p, depth, distance);
    vec3 color = vec3(0.0);
    if (depth < 1.0 && s.kind != CLASS_EMISSIVE) {
        uvec2 tile = uvec2(gl_FragCoord.xy * frame.size.zw * vec2(TILES));
        uint first = (tile.y * TILES.x + tile.x) * TILE_WORDS;
        uint count = tile_lights[first];
        for (uint i = 1u; i <= count; i++)
            color += local_light(s, lights[tile_lights[first + i]]);
    }
    out_color = vec4(color * (1.0 - fog_at(distance)), 0.0);
}
