#version 450
#extension GL_GOOGLE_include_directive : enable
#include "known.glsl"
#include "compute.glsl"
/* What becomes a constant by way of memory, of parts of vectors, and of turns of loops. */
const float weights[8] = float[](0.31, 0.77, 1.23, 1.9, 2.4, 2.9, 3.3, 4.1);
void main()
{
    float x = value(0), weight = weights[push.mode & 7u];
    put(0, pow(weight, 0.37) * x + sin(weight));
    put(1, exp(weight * 0.31) / (abs(x) + weight));
    float stored[4] = float[](0.7, 1.3, 2.1, 0.2);
    if (known.count != 3)
        stored[at & 3u] = x;
    put(2, pow(stored[push.count & 3u], 0.37) + sin(stored[1] * 3.0));
    put(3, exp(stored[2]));
    vec2 part = vec2(ivec2(int(push.mode), int(at) + 1));
    vec2 powers = sin(part) + pow(part + 0.3, vec2(0.37)) + exp(part * -0.31);
    put(4, powers.x * x + powers.y);
    float sum = 0.0;
    for (uint k = 0u; k < 6u; k++)
        sum += sin(float(k * 7u + known.modes[1]) * 0.37) * value(k);
    put(5, sum);
    sum = 0.0;
    for (uint k = 0u; k < push.count; k++)
        sum += sin(weights[k]) * value(k) + pow(weights[k], 0.37);
    put(6, sum);
    float amplitude = 0.7, all = 0.3;
    for (int k = 0; k < known.count; k++) {
        all += amplitude;
        amplitude *= 0.61;
    }
    put(7, x / all + pow(all, 0.37) + sin(amplitude * 11.0));
}
