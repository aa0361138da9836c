#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

void main()
{
    uint x = data[gl_GlobalInvocationID.x % data.length()];
    float a = get(0u);
    switch (x % 9u) {
    case 0u: a *= 3.1; break;
    case 1u: a += 0.3;
    case 2u: a -= get(1u); break;
    case 5u:
        if (a > 1.0) { a = sqrt(a); break; }
        a = -a;
    case 6u:
    case 7u: a = fract(a) + 0.25; break;
    default: a = floor(a) * 0.125;
    }
    for (uint i = 0u; i < 5u; i++) {
        switch ((x >> i) & 3u) {
        case 0u: continue;
        case 1u: a += float(i); break;
        case 2u: if (a > 10.0) { put(1u, a); return; } break;
        default: a *= 1.01;
        }
        a += 1.0;
    }
    put(0u, a);
}
