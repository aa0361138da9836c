#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* What a loop makes of what it reads, used behind a region that holds the loop, which lanes leave at
 * different times. Nothing of it follows from zeroes. */
void main()
{
    float w = max(value(0), 0.0), v = max(value(1), 0.0), made;
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    put(0, w * exp2(value(2)) * exp2(value(3)));
    do {
        made = clamp(value(4) * 3.0, -8.0, 8.0);
        put(3, made + value(6));
    } while (++i < turns);
    put(1, w * exp2(value(5)) + v * exp2(value(7)));
    put(2, made);
}
