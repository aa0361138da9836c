#version 450
// More blocks that run at most once than a 32-bit word has bits, or a subgroup lanes: some entered by whole subgroups,
// some by parts of them, some by one lane, and lanes that leave on the way.
layout(local_size_x = 70) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

#define ONCE(n) \
    if (((x >> (n % 29u)) & 3u) == n % 4u) \
        sum = sum * 747796405u + n; \
    if (n % 8u == gl_WorkGroupID.x) \
        sum ^= n << 7;
#define ONE(n) \
    if (gl_LocalInvocationIndex == n) \
        sum += 1013904223u;
#define LEAVE(n) \
    if (gl_LocalInvocationIndex % 11u == n) { \
        result[gl_GlobalInvocationID.x] = sum + n; \
        return; \
    }

void main()
{
    uint x = data[gl_GlobalInvocationID.x], sum = gl_LocalInvocationIndex;
    ONCE(0u) ONCE(1u) ONCE(2u) ONCE(3u) ONCE(4u) ONCE(5u) ONCE(6u) ONCE(7u) ONCE(8u)
    ONE(0u) ONE(31u) ONE(32u) ONE(63u) ONE(64u)
    LEAVE(5u)
    ONCE(9u) ONCE(10u) ONCE(11u) ONCE(12u) ONCE(13u) ONCE(14u) ONCE(15u) ONCE(16u)
    LEAVE(0u)
    ONCE(17u) ONCE(18u) ONCE(19u) ONCE(20u) ONCE(21u) ONCE(22u)
    result[gl_GlobalInvocationID.x] = sum;
}
