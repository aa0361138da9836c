#version 450
#extension GL_GOOGLE_include_directive : require
#include "post.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

// Exposure from the histogram, bloom, filmic curve, vignette.
vec3 filmic(vec3 x)
{
    return clamp(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0);
}

shared float exposure;

void main()
{
    if (gl_LocalInvocationIndex == 0u) {
        // The mean of the logarithm between the darkest half and the brightest tenth.
        uint total = 0u;
        for (int i = 0; i < 64; i++)
            total += histogram.bins[i];
        uint low = total / 2u, high = total - total / 10u, seen = 0u, used = 0u;
        float sum = 0.0;
        for (int i = 0; i < 64; i++) {
            uint from = max(seen, low), until = min(seen + histogram.bins[i], high);
            seen += histogram.bins[i];
            if (until <= from)
                continue;
            sum += float(until - from) * (float(i) - 41.5) / 3.0;
            used += until - from;
        }
        exposure = clamp(0.30 * exp2(-sum / float(max(used, 1u))), 0.4, 3.5);
    }
    barrier();
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    ivec2 size = imageSize(picture);
    if (p.x >= size.x || p.y >= size.y)
        return;
    vec3 color = texelFetch(hdr, p, 0).rgb;
    ivec2 half_size = imageSize(bloom_a);
    vec2 t = (vec2(p) - 0.5) * 0.5;
    ivec2 base = ivec2(floor(t));
    vec2 f = t - vec2(base);
    vec3 bloom = vec3(0.0);
    for (int i = 0; i < 4; i++) {
        ivec2 corner = ivec2(i & 1, i >> 1);
        vec2 w = mix(1.0 - f, f, vec2(corner));
        bloom += imageLoad(bloom_a, clamp(base + corner, ivec2(0), half_size - 1)).rgb * w.x * w.y;
    }
    color = (color + bloom * 0.35) * exposure;
    vec2 centre = (vec2(p) + 0.5) / vec2(size) - 0.5;
    color *= 1.0 - dot(centre, centre) * 0.6;
    color = pow(filmic(color), vec3(1.0 / 2.2));
    imageStore(picture, p, vec4(color, 1.0));
}
