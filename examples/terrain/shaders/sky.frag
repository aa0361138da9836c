#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"

layout(location = 0) in vec2 ndc;
layout(location = 0) out vec4 out_color;

float clouds(vec2 p)
{
    float sum = 0.0, weight = 0.5;
    for (int i = 0; i < 5; i++) {
        sum += weight * value_noise(p);
        p = p * 2.03 + 17.0;
        weight *= 0.5;
    }
    return sum;
}

void main()
{
    vec4 far = frame.inverse_view_projection * vec4(ndc, 1.0, 1.0);
    vec3 ray = normalize(far.xyz / far.w - frame.eye.xyz);
    vec3 color = sky_color(ray);
    float sun = dot(ray, frame.sun_direction.xyz);
    color += frame.sun_color.rgb * 8.0 * smoothstep(frame.sun_direction.w, frame.sun_direction.w + 0.0004, sun);

    vec2 p = ray.xz / (max(ray.y, 0.0) + 0.12) * 1.6 + frame.weather.zw * frame.eye.w * 0.02;
    float cover = saturate((clouds(p) - 1.0 + frame.sky_high.w) * 3.0) * smoothstep(0.0, 0.15, ray.y);
    float lit = saturate(clouds(p + frame.sun_direction.xz * 0.25) - clouds(p) + 0.6);
    vec3 cloud = mix(frame.sky_high.rgb + frame.sky_low.rgb * 0.4, frame.sun_color.rgb * 0.5, lit);
    out_color = vec4(mix(color, cloud, cover), 1.0);
}
