#version 450
#extension GL_GOOGLE_include_directive : enable
#include "known.glsl"
#include "compute.glsl"
/* Branches, switches and selections on what is known. */
void main()
{
    float x = value(0), y = value(1), r = 0.0;
    switch (push.mode) {
    case 0u: r = sin(x); break;
    case 1u: r = cos(y) * 2.0; /* falls through */
    case 2u: r += exp2(-x * x); break;
    default: r = x / (abs(y) + 1.0);
    }
    put(0, r);
    put(1, push.scale > 0.5 ? sqrt(abs(x)) : push.scale * y);
    put(2, (known.modes[push.bits.x & 3] == 2u) ? x * push.bias : y + push.bias);
    if (known.count > 1 && push.bits.y != 0 || x > 2.0)
        put(3, log2(abs(x) + 1.0) * known.cut);
    else
        put(3, known.gamma * x);
    put(4, float(push.mode * 3u + 1u) * exp2(float(push.bits.z) * 0.125));
    put(5, float(push.mode) / 3.0 + sqrt(float(push.count)));
    uint picked = known.modes[1] == 0u ? uint(abs(x) * 8.0) : known.modes[1];
    put(6, float(picked % max(push.count, 1u)) + float(picked >> (push.mode & 31u)));
    put(7, mix(x, y, known.cut) * known.gamma);
}
