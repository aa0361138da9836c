// What every pass sees: the frame's constants and images. Mirrors struct pm_post_constants in renderer.h.
layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 view;             // world to view: x right, y up, looking along -z
    mat4 view_projection;
    mat4 inverse_view;
    mat4 before;           // view_projection of the frame before
    vec4 eye;              // xyz, w: time in seconds
    vec4 lens;             // tangents of half the view, near, far
    vec4 jitter;           // xy: of the picture, pixels; w: whether there is a frame before
    vec4 size;             // width, height, 1/width, 1/height
    vec4 sun_direction;    // towards the sun; w: amount of ambient light
    vec4 sun_color;        // w: exposure
    vec4 sky_low;          // w: the sun in the sky
    vec4 sky_high;         // w: the floor: 0 tiles, 1 a wet street
    vec4 bloom;            // threshold, knee, strength, dirt
    vec4 focus;            // distance and range in metres, aperture in pixels, shutter
} frame;

layout(set = 0, binding = 1) uniform sampler2D color_map;      // the scene's light; alpha: emitted part
layout(set = 0, binding = 2) uniform sampler2D surface_map;    // view-space normal, roughness
layout(set = 0, binding = 3) uniform sampler2D geometry_map;   // view depth in metres, motion in pixels, metal
layout(set = 0, binding = 4) uniform sampler2D occlusion_map;  // ambient light that arrives, depth
layout(set = 0, binding = 5) uniform sampler2D reflection_map; // light, confidence
layout(set = 0, binding = 6) uniform sampler2D lit_map;        // the scene with occlusion and reflections
layout(set = 0, binding = 7) uniform sampler2D resolved_map;   // that, over time
layout(set = 0, binding = 8) uniform sampler2D history_map;    // resolved_map of the frame before
layout(set = 0, binding = 9) uniform sampler2D bloom_map;      // half size
layout(set = 0, binding = 10) uniform sampler2D blur_map;      // half size, between the blur's directions

float saturate(float x)
{
    return clamp(x, 0.0, 1.0);
}

float luma(vec3 color)
{
    return dot(color, vec3(0.2126, 0.7152, 0.0722));
}

float hash(vec2 p)
{
    vec3 q = fract(vec3(p.xyx) * 0.1031);
    q += dot(q, q.yzx + 33.33);
    return fract((q.x + q.y) * q.z);
}

// Noise that differs from pixel to pixel and from frame to frame (Jimenez 2014).
float gradient_noise(vec2 pixel)
{
    return fract(52.9829189 * fract(dot(pixel + frame.jitter.xy * 17.0, vec2(0.06711056, 0.00583715))));
}

// View space of a pixel's centre at a depth in metres.
vec3 view_at(vec2 pixel, float depth)
{
    vec2 ndc = pixel * frame.size.zw * 2.0 - 1.0;
    return vec3(ndc.x * frame.lens.x, -ndc.y * frame.lens.y, -1.0) * depth;
}

// The pixel where a place in view space is seen.
vec2 pixel_of(vec3 p)
{
    vec2 ndc = vec2(p.x, -p.y) / (-p.z * frame.lens.xy);
    return (ndc * 0.5 + 0.5) * frame.size.xy;
}

ivec2 inside(ivec2 p)
{
    return clamp(p, ivec2(0), ivec2(frame.size.xy) - 1);
}
