#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    if ((i & 1) != 0)
        data[i] = i;
    else if (i > 10)
        data[i] += 2;
    for (uint j = 0; j < i % 5; j++)
        data[i] ^= j;
}
