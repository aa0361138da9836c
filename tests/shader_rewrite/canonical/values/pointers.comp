#version 450
/* A pointer that is made in a loop, where it is left, and again behind it. */
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

uint get(uint i) { return data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]; }

void main()
{
    const uint at = gl_GlobalInvocationID.x * 16u;
    const uint n = data[15] & 3u;
    for (uint i = 0u;; i++) {
        const uint turn = data[i & 31u];
        if (i >= n) {
            result[at + 1u] = result[at + 1u] * 31u + turn;
            result[at + 5u] = get(3u);
            break;
        }
        result[at + 5u] = get(7u);
        result[at + 2u] = n;
    }
    result[at + 6u] = get(9u);
    const uint m = data[15] & 7u;
    for (uint i = 0u;; i++) {
        const uint turn = data[i & 31u];
        if (i >= m) {
            result[at + 5u] = result[at + 5u] * 31u + turn;
            result[at + 7u] = result[at + 7u] + get(1u);
            break;
        }
    }
    result[at + 1u] = result[at + 1u] * 31u + get(2u);
}
