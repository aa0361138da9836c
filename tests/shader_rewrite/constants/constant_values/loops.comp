#version 450
#extension GL_GOOGLE_include_directive : enable
#include "known.glsl"
#include "compute.glsl"
/* Loops whose number of turns is known: none, one, several; with what a compiler would fold. */
void main()
{
    float x = value(0), y = value(1), sum = 0.0;
    for (uint i = 0u; i < push.count; i++)
        sum += sin(x + float(i)) * exp2(-float(i) * 0.3);
    put(0, sum);
    sum = y;
    for (int i = 0; i < known.count; i++) {
        Light l = known.lights[i & 1];
        sum += max(dot(l.color, vec3(x, y, 1.0)), 0.0) * l.power / (1.0 + l.place.w);
        if (sum > 100.0)
            break;
    }
    put(1, sum);
    uint n = push.mode;
    while (n > 0u) {
        sum = sum * 0.5 + value(n & 7u);
        n >>= 1;
        if (known.modes[2] == 1u)
            continue;
        sum += 1.0;
    }
    put(2, sum);
    int turns = 0;
    do {
        sum -= float(turns) * push.scale;
        turns++;
    } while (turns < push.bits.w);
    put(3, sum);
    float area[4] = float[](x, y, x * y, 1.0);
    area[push.bits.x & 3] += 2.0;
    put(4, area[(push.bits.x + 1) & 3] + area[push.count & 3u] + area[uint(known.count) & 3u]);
    for (uint a = 0u; a < 3u; a++)
        for (uint b = a; b < push.count; b++)
            put(5, float(a * b) + pow(abs(x) + 0.5, float(b)) * sum);
    put(6, float(known.modes[3] / max(push.count, 1u)) + float(int(at) / max(push.bits.y, 1)));
    put(7, float(turns));
}
