#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* What a loop reads chooses whether a value stays, which is used behind loops that lanes leave at
 * different times. */
void main()
{
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    float y = value(3), z = value(4);
    do {
        float t = value(1);
        if (t != 0.0)
            y = abs(t) + 1.0;
    } while (++i < turns);
    put(0, y);
    i = 0u;
    do {
        float t = value(2);
        if (t != 0.0)
            z = floor(t) + float(i);
    } while (++i < turns);
    put(1, z);
    i = 0u;
    uint u = turns;
    do {
        uint t = floatBitsToUint(value(5));
        if (t != 0u)
            u = t;
    } while (++i < turns);
    put(2, float(u >> 16));
    put(3, value(0) * value(6) + y);
}
