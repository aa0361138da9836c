// What every shader of a frame sees. Mirrors struct frame_constants in renderer.h.
layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 view_projection;
    mat4 inverse_view_projection;
    mat4 sun_view_projection; // world to the shadow map, depth 0 to 1
    vec4 eye;                 // xyz, w: time in seconds
    vec4 sun_direction;       // towards the sun; w: shadow texel size
    vec4 sun_color;           // w: ambient
    vec4 sky_low;             // w: fog density
    vec4 sky_high;            // w: amount of stars
    vec4 size;                // width, height, 1/width, 1/height
} frame;

// Material classes, in the alpha of the material target, in units of 1/255.
const int CLASS_DIELECTRIC = 0;
const int CLASS_METAL = 1;
const int CLASS_FOLIAGE = 2;
const int CLASS_EMISSIVE = 3;

float hash(vec2 p)
{
    vec3 q = fract(vec3(p.xyx) * 0.1031);
    q += dot(q, q.yzx + 33.33);
    return fract((q.x + q.y) * q.z);
}

float value_noise(vec2 p)
{
    vec2 cell = floor(p);
    vec2 f = p - cell;
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(hash(cell), hash(cell + vec2(1, 0)), f.x),
               mix(hash(cell + vec2(0, 1)), hash(cell + vec2(1, 1)), f.x), f.y);
}
