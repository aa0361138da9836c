#version 450
// Lanes leave in so many places that not all blocks in the loop have a register for a number.
layout(local_size_x = 70) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

#define ONCE(n) \
    if (((x >> (n % 29u)) & 3u) == n % 4u) \
        sum = sum * 747796405u + n;
#define LEAVE(n) \
    if (sum % 31u == n) { \
        result[gl_GlobalInvocationID.x] = sum + n; \
        return; \
    }

void main()
{
    uint x = data[gl_GlobalInvocationID.x], sum = gl_LocalInvocationIndex;
    for (uint i = 0u; i < 2u; i++) {
        ONCE(0u) ONCE(1u) ONCE(2u) ONCE(3u) ONCE(4u) ONCE(5u) ONCE(6u) ONCE(7u) ONCE(8u) ONCE(9u)
        ONCE(10u) ONCE(11u) ONCE(12u) ONCE(13u) ONCE(14u) ONCE(15u) ONCE(16u) ONCE(17u) ONCE(18u) ONCE(19u)
        ONCE(20u) ONCE(21u) ONCE(22u) ONCE(23u) ONCE(24u) ONCE(25u) ONCE(26u) ONCE(27u) ONCE(28u) ONCE(29u)
    }
    LEAVE(0u) LEAVE(1u) LEAVE(2u) LEAVE(3u) LEAVE(4u) LEAVE(5u)
    result[gl_GlobalInvocationID.x] = sum;
}
