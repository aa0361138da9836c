#version 450
// Which lanes share a subgroup: each writes the local index of its subgroup's first one. Drivers differ.
#extension GL_KHR_shader_subgroup_ballot : require
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(std430, set = 0, binding = 0) buffer First { uint first[]; };
void main()
{
    first[gl_LocalInvocationIndex] = subgroupBroadcastFirst(gl_LocalInvocationIndex);
}
