#version 450
#extension GL_GOOGLE_include_directive : require
#include "log.glsl"
// Values in straight code, in branches, in loops with lanes that leave one by one, after returns.
layout(local_size_x = 37) in;
layout(push_constant) uniform Push { float scale; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x + i * 397u) % data.length()]); }
uint bits(uint i) { return data[(gl_GlobalInvocationID.x + i * 397u) % data.length()]; }

void main()
{
    uint me = gl_GlobalInvocationID.x;
    float f = get(0u);
    uint x = bits(1u);
    vec4 v = vec4(get(2u), get(3u), get(4u), get(5u)) * scale;
    vec3 w = vec3(f, get(1u), get(6u)) * scale;
    float a = get(7u) * scale, b = get(8u) * scale, c = get(9u) * scale;
    uint n = visit(0u, me);
    scalars[n].f[0] = f;
    scalars[n].u[0] = x;
    vectors[n].v4[0] = v;
    vectors[n].v3[0] = w;
    scalars[n].f[1] = a;
    scalars[n].f[2] = b;
    scalars[n].f[3] = c;
    scalars[n].u[7] = uint(uintBitsToFloat(data[data.length() - 1u]) == 0.0);

    uint rounds = bits(10u) % 7u, sum = 0u;
    for (uint i = 0u; i < rounds; i++) {
        uint y = bits(11u + i) & 0x80000007u;
        uint m = visit(1u, me);
        scalars[m].u[1] = y;
        if (y == 5u)
            continue;
        if (y > 0x80000003u)
            break;
        for (uint j = 0u; j < (y & 3u); j++) {
            vec2 p = vec2(get(i + j), get(i * j)) * scale;
            uint k = visit(2u, me);
            vectors[k].v2[0] = p;
            sum += uint(p.x == 1.0);
        }
    }
    if ((x & 1u) != 0u) {
        float g = min(get(12u), abs(f));
        uint m = visit(3u, me);
        scalars[m].f[4] = g;
        if (g == 0.0)
            return;
    } else {
        uvec3 q = uvec3(bits(13u), bits(14u), sum) * 2u;
        uint m = visit(4u, me);
        vectors[m].u3[0] = q;
    }
    uint z = sum + rounds;
    uint m = visit(5u, me);
    scalars[m].u[2] = z;
}
