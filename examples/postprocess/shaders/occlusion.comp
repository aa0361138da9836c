#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 1, binding = 0, rgba16f) uniform writeonly image2D occlusion_image;

// Ambient occlusion by scattered taps around the pixel (McGuire and others 2012: Scalable Ambient Obscurance).
const int TAPS = 12;
const float RADIUS = 0.9, BIAS = 0.02, TURNS = 5.0;

void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, ivec2(frame.size.xy))))
        return;
    vec4 surface = texelFetch(surface_map, p, 0);
    float depth = texelFetch(geometry_map, p, 0).x;
    vec3 position = view_at(vec2(p) + 0.5, depth), normal = surface.xyz;
    float reach = RADIUS / (depth * frame.lens.y) * frame.size.y * 0.5;
    float turn = gradient_noise(vec2(p)) * 6.2832;
    float sum = 0.0;
    for (int i = 0; i < TAPS; i++) {
        float along = (float(i) + 0.5) / float(TAPS);
        float angle = along * TURNS * 6.2832 + turn;
        vec2 pixel = vec2(p) + 0.5 + vec2(cos(angle), sin(angle)) * along * reach;
        ivec2 q = inside(ivec2(pixel));
        vec3 d = view_at(vec2(q) + 0.5, texelFetch(geometry_map, q, 0).x) - position;
        float square = dot(d, d);
        float fade = max(RADIUS * RADIUS - square, 0.0);
        sum += fade * fade * fade * max((dot(d, normal) - BIAS) / (square + 0.01), 0.0);
    }
    float strength = 4.5 / (pow(RADIUS, 6.0) * float(TAPS));
    float open = max(1.0 - sum * strength, 0.0);
    float near = saturate(2.0 - depth / 30.0);
    imageStore(occlusion_image, p, vec4(mix(1.0, open, near), depth, 0.0, 0.0));
}
