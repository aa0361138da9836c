#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
/* What stands before a loop's test runs once more than the rest, and shows: by a value that is used
 * behind the loop, and by what is written. */
void main()
{
    float sum = value(0), step = value(1), twice;
    for (int i = 0; twice = sum * 2.0, i < 4; i++)
        sum += step;
    results[at * 8u] = twice;
    float times = 0.0;
    for (int i = 0; results[at * 8u + 1u] = times, i < 3; i++)
        times += step;
    results[at * 8u + 2u] = sum + times;
}
