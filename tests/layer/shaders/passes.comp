#version 450
// What each pass over blocks changes: much work that only a rare block needs, and a loop that turns three times.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x;
    float x = values[at];
    float heavy = sin(x) * pow(abs(x), 1.7) + cos(x * 3.0) * exp2(x) + sqrt(abs(x)) * log2(2.0 + x * x);
    if (x > 5.0)
        values[at + 64] = heavy;
    float sum = x;
    uint turns = floatBitsToUint(values[at + 128]);
    uint i = 0;
    do
        sum += values[at + i];
    while (++i < turns);
    values[at] = sum;
}
