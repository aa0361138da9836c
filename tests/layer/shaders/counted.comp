#version 450
// A loop whose turns are known: what is unrolled, whatever it says of that itself.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x;
    float x = values[at];
    for (int i = 0; i < 4; i++)
        x += x * values[at + 64u * uint(i)];
    values[at] = x;
}
