#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

void main()
{
    mat4 m;
    for (int c = 0; c < 4; c++)
        m[c] = vec4(get(uint(c)), get(uint(c) + 4u), get(uint(c) + 8u), 1.0);
    mat3 n = mat3(m);
    vec4 v = m * vec4(get(1u), 0.0, 1.0, get(2u));
    put4(0u, v);
    put4(4u, v * transpose(m));
    put4(8u, vec4(inverse(n)[1], determinant(n)));
    mat4 p = m * m;
    p[2].xz = v.yw;
    put4(12u, p[2] + p[data[0] & 3u] + vec4(outerProduct(v.xyz, v)[1], 0.0));
}
