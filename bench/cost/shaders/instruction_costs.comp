#version 450
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_quad : require
// A loop around one class of instructions, chosen when the pipeline is made (instruction_costs.c). The four values
// depend on what the loop did to them before, so that nothing can be left out, and on nothing of each other.
layout(local_size_x = 64) in;
layout(constant_id = 0) const int what = 0;
layout(set = 0, binding = 0) buffer Numbers { float numbers[]; };
layout(set = 0, binding = 1) buffer Results { float results[]; };
layout(set = 0, binding = 2) uniform sampler2D map;
layout(push_constant) uniform Count { int count; };

uint place(float x) { return uint(abs(x) * 1000.0) & 4095u; }

float region(float x)
{
    for (int i = 0; i < 4; i++)
        x = sin(x + 0.25 * float(i)) * 1.1 + 0.01 * x;
    return x;
}

// The check is never true; without it being computed nobody knows.
float guarded(float x, float never, float offset)
{
    if (subgroupAll(x - never == x + offset))
        x = 0.1;
    else
        x = region(x);
    return x;
}

float both(float x) { return subgroupQuadSwapVertical(subgroupQuadSwapHorizontal(x)); }

#define TWICE(x, a, b) x = a; x = b
#define ALL(a, b) x = p; TWICE(x, a, b); p = x; x = q; TWICE(x, a, b); q = x; \
    x = r; TWICE(x, a, b); r = x; x = s; TWICE(x, a, b); s = x

void main()
{
    uint id = gl_GlobalInvocationID.x;
    float p = numbers[id], q = numbers[id + 1024], r = numbers[id + 2048], s = numbers[id + 3072], x;
    float never = numbers[4096];
    for (int i = 0; i < count; i++) {
        switch (what) {
        case 1: ALL(max(1.5 - x, 0.25), min(2.5 - x, 2.25)); break;
        case 2: ALL(1.5 / x, 2.1 / x); break;
        case 3: ALL(inversesqrt(x), inversesqrt(x)); break;
        case 4: ALL(sqrt(x), sqrt(x)); break;
        case 5: ALL(exp2(-x), exp2(-x)); break;
        case 6: ALL(log2(x + 1.5), log2(x + 1.7)); break;
        case 7: ALL(sin(x), sin(x)); break;
        case 8: ALL(numbers[place(x)], numbers[place(x)]); break;
        case 9: ALL(texelFetch(map, ivec2(x * 60.0, i & 63), 0).x, texelFetch(map, ivec2(60.0 * x, i & 31), 0).x); break;
        case 10: ALL(textureLod(map, vec2(x, p), 0.5).x, textureLod(map, vec2(p, x), 0.5).x); break;
        case 11: results[id + 1024] = p; results[id + 2048] = q; results[id + 3072] = r; results[id + 4096] = s;
                 results[id + 5120] = p; results[id + 6144] = q; results[id + 7168] = r; results[id + 8192] = s; break;
        case 12: ALL(x + (subgroupAll(x - never == x + 7.0) ? 0.25 : 0.5), x - (subgroupAll(x - never == x + 6.0) ? 0.5 : 0.25)); break;
        case 13: ALL(0.5 * x + 0.4 * both(x), 0.6 * x + 0.4 * both(x)); break;
        case 14: ALL(region(x), region(x)); break;
        case 15: ALL(guarded(x, never, 7.0), guarded(x, never, 6.0)); break;
        default: break;
        }
        p = p * 0.999 + 0.3;
    }
    results[id] = p + q + r + s;
}
