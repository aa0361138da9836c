#version 450
// A little work that is hardly ever done: too little for the estimate of what rare blocks cost.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x;
    float x = values[at];
    if (x > 5.0)
        values[at + 64] = x * x + 1.0;
    values[at] = x + 1.0;
}
