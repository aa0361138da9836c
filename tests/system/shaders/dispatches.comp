#version 450
// Some hundred integer operations that hang on where in the dispatch an invocation is, and on what is pushed: what is cut
// into passes, and computes the same bits in any number of them.
layout(local_size_x = 8, local_size_y = 4, local_size_z = 2) in;
layout(push_constant) uniform Push { uint first; };
layout(set = 0, binding = 0) buffer Values { uint values[]; };

#define STEP(n) x = x * 1664525u + (y ^ n); y = (y << 3 ^ y >> 7) + x * n; z += x ^ (y >> 5);
#define STEPS(n) STEP(n) STEP(n + 1u) STEP(n + 2u) STEP(n + 3u) STEP(n + 4u)

void main()
{
    uvec3 size = gl_NumWorkGroups * gl_WorkGroupSize, id = gl_GlobalInvocationID;
    uint at = first + (id.z * size.y + id.y) * size.x + id.x;
    uint own[6];
    uint x = values[at] + at, y = gl_WorkGroupID.z * 7u + gl_WorkGroupID.y * 3u + gl_WorkGroupID.x, z = id.z;
    for (uint k = 0u; k < 6u; k++)
        own[k] = x * k + y;
    STEPS(1u) STEPS(11u) STEPS(21u) STEPS(31u)
    own[x % 6u] += z;
    STEPS(41u) STEPS(51u) STEPS(61u) STEPS(71u)
    values[at] = x + y + z + own[y % 6u] + gl_LocalInvocationIndex;
}
