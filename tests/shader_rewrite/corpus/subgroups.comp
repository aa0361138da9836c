#version 450
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = 128) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
void main()
{
    uint v = data[gl_GlobalInvocationID.x];
    uint s = subgroupAdd(v);
    if (subgroupAll(v > 3u))
        s += subgroupBallotBitCount(subgroupBallot(v > 9u));
    else if (subgroupElect())
        s = 0u;
    data[gl_GlobalInvocationID.x] = s;
}
