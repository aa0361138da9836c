// What each visit of a place saw: which subgroup it ran with, and the bits of the values there. The
// test finds the candidates by what is stored where, and the truth in what was stored.
#extension GL_KHR_shader_subgroup_ballot : require

struct Scalars {
    float f[8];
    uint u[8];
};
struct Vectors {
    vec4 v4[2];
    vec3 v3[2];
    vec2 v2[2];
    uvec3 u3[2];
};
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
// leader: the number of the visit of one of the subgroup's lanes, the same for all that are there.
layout(std430, binding = 1) buffer Log { uint visits; uint unused; uvec4 entries[]; };
layout(std430, binding = 2) buffer LogScalars { Scalars scalars[]; };
layout(std430, binding = 3) buffer LogVectors { Vectors vectors[]; };

uint visit_with(uint leader, uint place, uint who)
{
    uint number = atomicAdd(visits, 1u);
    entries[number] = uvec4(leader, place, who, 0u);
    return number;
}

uint visit(uint place, uint who)
{
    uint number = atomicAdd(visits, 1u);
    entries[number] = uvec4(subgroupBroadcastFirst(number), place, who, 0u);
    return number;
}

// A leader for visits of lanes that stay together: nothing looks at other lanes later on.
#define BEGIN 99u
uint find_leader(uint who)
{
    return entries[visit(BEGIN, who)].x;
}
