#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 16) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430) buffer Node { Node next; uint value; };
layout(push_constant) uniform Push { Node head; uvec2 raw; } push;
layout(std430, binding = 0) buffer Out { uint64_t sum[]; };
void main()
{
    Node n = push.head;
    uint64_t s = 0ul;
    for (uint k = 0u; k < gl_LocalInvocationIndex; k++) {
        s += uint64_t(n.value);
        n = n.next;
    }
    if (push.raw.x != 0u)
        s += uint64_t(Node(push.raw).value);
    sum[gl_GlobalInvocationID.x] = s;
}
