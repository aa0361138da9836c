#version 450
#extension GL_EXT_control_flow_attributes : enable
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Integer zeroes need no permission. */
void main()
{
    uint mask = uint(max(value(0), 0.0)) & 3u, bits = floatBitsToUint(value(1));
    int n = int(value(2));
    uint hash = bits * 2654435761u;
    hash ^= hash >> 13;
    put(0, float((mask * hash) & 0xffffu) + 1.0);
    put(1, float(((hash & mask) << 3) | 1u));
    put(2, float(n * n + (n << 2)) + float(mask) * sin(float(n)));
    put(3, mask == 0u ? 2.0 : float(hash & 255u));
    put(4, float(bitCount(mask)) * float(hash & 15u) + float(min(mask, hash & 7u)));
    ivec3 v = ivec3(n, n * 2, int(mask)) * ivec3(hash & 7u);
    put(5, float(v.x + v.y + v.z));
    put(6, float(mask) * exp2(-abs(value(3))) + 1.0);
    put(7, float(abs(n)) + float(sign(n)));
}
