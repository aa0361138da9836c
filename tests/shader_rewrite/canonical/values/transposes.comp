#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };
layout(constant_id = 0) const int choice = 3;

const mat4 b = mat4(-0.25, 1.5, 0.5, -0.75, 1.25, -0.5, 0.125, 1.0, -0.375, 0.25, 0.875, -1.0, 0.3, -0.2, 0.4, 0.6);

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }
vec4 get4(uint i) { return vec4(get(i), get(i + 1u), get(i + 2u), get(i + 3u)); }

/* Constants, also by a specialization constant. */
void main()
{
    mat4 chosen = mat4(get4(3u), get4(7u), get4(11u), get4(15u));
    if (choice == 3)
        chosen = b;
    put4(0u, transpose(b) * get4(2u));
    put4(4u, get4(6u) * transpose(b));
    put4(8u, transpose(chosen) * get4(1u));
    put4(12u, transpose(b) * get(4u) * get4(10u));
}
