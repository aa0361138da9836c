// What every shader of a frame sees. Mirrors struct pm_terrain_constants in renderer.h.
layout(set = 0, binding = 0, std140) uniform Frame {
    mat4 view_projection;
    mat4 inverse_view_projection;
    vec4 eye;           // xyz, w: time in seconds
    vec4 sun_direction; // towards the sun; w: cosine of its radius
    vec4 sun_color;     // w: exposure
    vec4 sky_low;       // w: fog density
    vec4 sky_high;      // w: cloud cover
    vec4 land;          // side of the land in metres, swell, sea level, snow line
    vec4 weather;       // snow, wetness, wind x, wind z
    vec4 size;          // width, height, 1/width, 1/height
} frame;

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

float saturate(float x)
{
    return clamp(x, 0.0, 1.0);
}

vec3 sky_color(vec3 ray)
{
    float up = sqrt(saturate(ray.y));
    float sun = max(dot(ray, frame.sun_direction.xyz), 0.0);
    return mix(frame.sky_low.rgb, frame.sky_high.rgb, up) + frame.sun_color.rgb * 0.1 * pow(sun, 12.0);
}

// Fog thins out with height.
vec3 apply_fog(vec3 color, vec3 ray, float distance)
{
    float height = max(frame.eye.y - frame.land.z, 1.0) * 0.008;
    float amount = 1.0 - exp(-distance * frame.sky_low.w / (1.0 + height));
    return mix(color, sky_color(vec3(ray.x, max(ray.y, 0.02), ray.z)), amount);
}

// Cook-Torrance specular light of the sun.
float sun_specular(vec3 normal, vec3 view, float roughness, float f0)
{
    vec3 h = normalize(view + frame.sun_direction.xyz);
    float n_h = saturate(dot(normal, h));
    float n_v = max(dot(normal, view), 0.05);
    float n_l = saturate(dot(normal, frame.sun_direction.xyz));
    float a = roughness * roughness, a2 = a * a;
    float d = n_h * n_h * (a2 - 1.0) + 1.0;
    float k = (roughness + 1.0) * (roughness + 1.0) * 0.125;
    float visible = 0.25 / ((n_v * (1.0 - k) + k) * (n_l * (1.0 - k) + k));
    float fresnel = f0 + (1.0 - f0) * pow(1.0 - saturate(dot(view, h)), 5.0);
    return n_l * fresnel * visible * a2 / (3.14159 * d * d);
}
