#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* In loops that lanes leave at different times selections choose values that are there already, or
 * that both sides compute alike, by what the loops read; they are used behind the loops. */
void main()
{
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    float x = value(0), w = value(3), y = x, z = w, s = x;
    do {
        if (value(1) > 3.0)
            y = w;
    } while (++i < turns);
    put(0, y);
    i = 0u;
    do {
        float a = value(4), b = x * 2.0;
        if (value(2 + (i & 1u)) > 4.0)
            z = a;
        else
            z = b;
    } while (++i < turns);
    put(1, z);
    i = 0u;
    do {
        if (value(5) > 3.0)
            s = sqrt(x) * 2.0;
        else
            s = sqrt(x) * 3.0;
    } while (++i < turns);
    put(2, s);
    i = 0u;
    float t = 0.0;
    do {
        float far = sqrt(w) + x;
        if (value(6) > 5.0)
            t = far * w;
    } while (++i < turns);
    put(3, t);
}
