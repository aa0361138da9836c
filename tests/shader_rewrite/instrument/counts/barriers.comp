#version 450
// Barriers, shared memory, subgroup operations of its own, the Vulkan memory model's plain sibling.
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x = 24) in;
layout(std430, set = 0, binding = 0) buffer Marks { uint marks[]; };
layout(std430, set = 0, binding = 1) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint count; } push;
shared uint tile[24];
#define MARK(k) atomicAdd(marks[k], 1u)
void main()
{
    uint group = gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
    uint l = gl_LocalInvocationIndex;
    uint i = group * 24u + l;
    MARK(0);
    tile[l] = i < push.count ? data[i] : 0u;
    barrier();
    for (uint step = 1u; step < 8u; step *= 2u) {
        MARK(1);
        uint from = tile[(l + step) % 24u];
        barrier();
        if ((from & step) != 0u) {
            MARK(2);
            tile[l] ^= from;
        }
        barrier();
    }
    uint sum = tile[l];
    if (sum % 3u == 0u) {
        MARK(3);
        sum += subgroupBallotBitCount(subgroupBallot(true)) > 0u ? 1u : 2u;
    }
    MARK(4);
    if (i < push.count)
        data[i] = sum;
}
