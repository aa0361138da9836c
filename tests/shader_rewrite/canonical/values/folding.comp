#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

/* What an optimizer folds: constants, 0 and 1, negations, divisions by constants, reassociation. */
void main()
{
    float v = get(0u), w = get(1u);
    put(0u, (v * 0.1) * 0.3);
    put(1u, v * 0.0 + 0.0);
    put(2u, -(-v) + (w - w));
    put(3u, v / 3.0 + v / 4.0);
    put(4u, (v + 0.1) + 0.2);
    put(5u, (v - 0.7) - (w - 0.7));
    put(6u, mix(v, w, 0.0) + mix(v, w, 1.0));
    put(7u, v * w + v * 3.0);
    put(8u, 0.1 * 0.3 + v);
    put(9u, sin(0.3) + exp2(0.7) + v);
    put(10u, dot(vec3(1.0, 0.0, 0.0), vec3(v, w, 1.0 / 0.3)));
    put(11u, -(v - w) * 1.0);
    put(12u, (v / 0.3) / 0.7);
    put(13u, v * 1e-30 * 1e-30 * 1e30 * 1e30);
    put(14u, clamp(clamp(v, 0.1, 0.9), 0.2, 0.8) < 0.1 ? 1.0 : w);
    put(15u, (v != v ? 2.0 : 3.0) * (0.0 * w));
}
