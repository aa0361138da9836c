#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
shared uint total;
void main()
{
    if (gl_LocalInvocationIndex == 0u)
        atomicStore(total, 0u, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelease);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    for (uint k = 0u; k < (data[gl_GlobalInvocationID.x] & 7u); k++)
        atomicAdd(total, k, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelaxed);
    barrier();
    data[gl_GlobalInvocationID.x] = total;
}
