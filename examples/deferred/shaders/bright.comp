#version 450
#extension GL_GOOGLE_include_directive : require
#include "post.glsl"
layout(local_size_x = 8, local_size_y = 8) in;

// Half-size picture of what is brighter than the screen can show, and the histogram of brightness.
shared uint local_bins[64];

void main()
{
    local_bins[gl_LocalInvocationIndex] = 0u;
    barrier();
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    ivec2 size = imageSize(bloom_a);
    if (p.x < size.x && p.y < size.y) {
        vec3 sum = vec3(0.0);
        for (int i = 0; i < 4; i++)
            sum += min(texelFetch(hdr, p * 2 + ivec2(i & 1, i >> 1), 0).rgb, vec3(64.0));
        sum *= 0.25;
        float y = dot(sum, vec3(0.2126, 0.7152, 0.0722));
        int bin = int(clamp(log2(max(y, 1e-4)) * 3.0 + 42.0, 0.0, 63.0));
        atomicAdd(local_bins[bin], 1u);
        vec3 bright = vec3(0.0);
        if (y > 1.0)
            bright = sum * ((y - 1.0) / y);
        imageStore(bloom_a, p, vec4(bright, 1.0));
    }
    barrier();
    uint count = local_bins[gl_LocalInvocationIndex];
    if (count > 0u)
        atomicAdd(histogram.bins[gl_LocalInvocationIndex], count);
}
