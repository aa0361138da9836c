#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Values of loops that lanes leave at different times, used behind them: one that is chosen by what
 * a loop reads, and one that is made of it. */
void main()
{
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    float y = value(1), z;
    do {
        if (value(2) != 0.0) {
            put(2, value(3));
            y = value(4);
        }
    } while (++i < turns);
    put(0, y);
    i = 0u;
    do {
        z = clamp(value(5) * 3.0, -8.0, 8.0);
        put(3, z * value(6));
    } while (++i < turns);
    put(1, z);
}
