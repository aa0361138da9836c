#version 450
layout(local_size_x = 48) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
layout(push_constant) uniform Push { uint count; } push;
void main()
{
    uint i = gl_GlobalInvocationID.x;
    if (i >= push.count)
        return;
    uint v = data[i];
    if (v == 0u)
        return;
    while (true) {
        v = v * 1664525u + 1013904223u;
        if ((v & 7u) == 0u)
            return;
        if ((v & 15u) == 5u)
            break;
    }
    data[i] = v;
}
