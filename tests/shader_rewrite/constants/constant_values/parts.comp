#version 450
#extension GL_GOOGLE_include_directive : enable
#define OF_ONE
#include "known.glsl"
#include "compute.glsl"
/* Barriers, early returns and functions that return early. */
shared float tile[64];
float look(float x)
{
    if (known.modes[0] == 0u)
        return x * 2.0;
    for (int i = 0; i < 3; i++) {
        if (x > float(known.count))
            return x - 1.0;
        x += push.scale;
    }
    return known.modes[0] == 1u ? sin(x) : cos(x);
}
void main()
{
    float x = value(0);
    uint me = gl_LocalInvocationIndex;
    tile[me] = look(x);
    barrier();
    put(0, tile[63u - me]);
    put(1, 1.0);
    if (known.modes[3] == 2u) {
        barrier();
        tile[me] = x * known.cut;
        barrier();
        put(2, tile[me ^ 1u]);
    }
    if (push.mode == 1u || x > 1.0 + known.gamma)
        return;
    put(3, look(value(1)) + tile[me]);
    if (known.count == 0)
        return;
    put(4, look(value(2)) * known.gamma);
}
