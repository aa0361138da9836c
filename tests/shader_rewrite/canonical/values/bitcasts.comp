#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

uint get(uint i) { return data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]; }
void put(uint i, uint x) { result[gl_GlobalInvocationID.x * 16u + i] = x; }

/* As translation layers do it: every value is an integer. */
uint add(uint a, uint b) { return floatBitsToUint(uintBitsToFloat(a) + uintBitsToFloat(b)); }
uint scaled(uint a, uint b) { return floatBitsToUint(uintBitsToFloat(a) * uintBitsToFloat(b)); }
uvec4 pack(vec4 v) { return uvec4(floatBitsToUint(v.x), floatBitsToUint(v.y), floatBitsToUint(v.z), floatBitsToUint(v.w)); }

void main()
{
    uint a = get(0u), b = get(1u), sum = 0u, kept = a;
    /* Through loops, one in the other, with a constant and with an integer from memory. */
    for (uint i = 0u; i < 3u + (a & 3u); i++) {
        for (uint k = 0u; k < (i & 1u) + 1u; k++)
            sum = scaled(add(sum, get(i + k)), 0x3f000000u);
        kept = i == 1u ? scaled(kept, b) : kept;
    }
    put(0u, sum);
    put(1u, kept);
    /* Parts of vectors. */
    vec4 v = vec4(uintBitsToFloat(a), uintBitsToFloat(b), uintBitsToFloat(get(2u)), 1.0) * 3.0;
    uvec4 u = pack(v);
    put(2u, add(u.x, u.y));
    put(3u, floatBitsToUint(dot(uintBitsToFloat(u.zyx), vec3(1.0, 2.0, 4.0))));
    put(4u, scaled(floatBitsToUint(v).w, floatBitsToUint(v).z));
    uvec4 mixed = uvec4(floatBitsToUint(v.x), a, 5u, b);
    vec4 w = uintBitsToFloat(mixed);
    put(5u, floatBitsToUint(w.x + w.y));
    put(6u, floatBitsToUint(w.z));
    put(7u, floatBitsToUint(uintBitsToFloat(mixed.yxwz)).x);
    /* Chosen by component, and as a whole. */
    uvec4 chosen = mix(u, uvec4(a, b, 7u, 0x80000000u), bvec4((a & 1u) != 0u, (b & 1u) != 0u, true, false));
    vec4 c = uintBitsToFloat(chosen);
    put(8u, floatBitsToUint(c.x * 2.0));
    put(9u, floatBitsToUint(c.y * 2.0));
    put(10u, floatBitsToUint(c.z));
    put(11u, floatBitsToUint(c.w));
    /* What is only moved keeps its bits, whatever it is called. */
    uint moved = (a & 4u) != 0u ? get(3u) : b;
    float named = uintBitsToFloat(moved);
    for (uint i = 0u; i < (a & 1u); i++)
        named = uintBitsToFloat(get(4u + i));
    put(12u, floatBitsToUint(named));
    put(13u, uint(floatBitsToInt(uintBitsToFloat(a))) + b);
}
