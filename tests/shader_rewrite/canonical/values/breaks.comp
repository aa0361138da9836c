#version 450
// What lanes do on their way out of a loop, each in its own turn: the only block that leaves the loop.
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }

void main()
{
    float scale = get(0u);
    uint first = data[gl_GlobalInvocationID.x % data.length()] % 13u, i = first;
    while (true) {
        float found = get(i) * scale;
        if (++i > 30u)
            return;
        if (found > 2.0) {
            put(0u, found);
            put(1u, found * 0.5);
            break;
        }
    }
    put(2u, scale);
    for (i = first;; i += 3u) {
        float found = get(i);
        if (i > 60u)
            return;
        if (found < 0.0) {
            uint slot = atomicAdd(result[gl_GlobalInvocationID.x * 16u + 3u], i);
            put(4u, found + float(slot));
            break;
        }
    }
}
