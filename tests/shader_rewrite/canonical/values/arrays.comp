#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

const float table[8] = float[](0.1, 0.2, 0.7, 1.3, -2.0, 1e-3, 4.0, 0.3);

void main()
{
    float local[8];
    for (int i = 0; i < 8; i++)
        local[i] = table[i] * get(uint(i));
    uint k = data[gl_GlobalInvocationID.x % data.length()] & 7u;
    float swapped = local[k];
    local[k] = local[7u - k];
    local[7u - k] = swapped;
    vec4 v = vec4(0.0);
    for (int i = 0; i < 8; i++)
        v[i & 3] += local[i] * table[(uint(i) + k) & 7u];
    v.wzyx = v.xyzw + v.yyxx;
    put4(0u, v);
    put(4u, local[k ^ 1u]);
    vec4 copy[2] = vec4[](v, v.wxyz);
    copy[k & 1u].y = 3.5;
    put4(5u, copy[0]);
    put4(9u, copy[1]);
}
