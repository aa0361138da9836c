#version 450
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

layout(set = 0, binding = 10) uniform sampler2D hdr;
layout(set = 0, binding = 11, rgba8) uniform writeonly image2D picture;

vec3 filmic(vec3 x)
{
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

void main()
{
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, imageSize(picture))))
        return;
    vec3 color = texelFetch(hdr, p, 0).rgb * frame.sun_color.w;
    vec2 centre = (vec2(p) + 0.5) * frame.size.zw - 0.5;
    color *= 1.0 - dot(centre, centre) * 0.5;
    imageStore(picture, p, vec4(pow(filmic(color), vec3(1.0 / 2.2)), 1.0));
}
