// What stands before the test of a loop runs once more than the rest: a value that is used behind
// the loop, a store; and a loop that has nothing there.
#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer Values {
    float values[];
};

void main()
{
    const uint at = gl_GlobalInvocationID.x * 4u;
    const float step = values[at];
    float sum = step, twice;
    for (int i = 0; twice = sum * 2.0, i < 4; i++)
        sum += step;
    values[at + 1u] = twice;
    for (int i = 0; values[at + 2u] += step, i < 4; i++)
        ;
    for (int i = 0; i < 4; i++)
        values[at + 3u] += step;
}
