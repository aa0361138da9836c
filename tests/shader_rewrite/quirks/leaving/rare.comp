#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Rare bodies in loops that lanes leave at different times: what they write is used behind the
 * loops, and so is what is chosen in them. */
void main()
{
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    float x = value(0), y = value(1), z = value(2), w = value(3);
    do {
        if (x > 4.0)
            y = sqrt(x) + float(i);
    } while (++i < turns);
    put(0, y);
    i = 0u;
    do {
        float t = value(4 + (i & 1u));
        if (t > 4.0)
            z = sqrt(t) + w;
    } while (++i < turns);
    put(1, z);
    i = 0u;
    float s;
    do {
        float t = x;
        if (w > 5.0)
            t = sqrt(value(6)) * w;
        s = t * 2.0 + 1.0;
    } while (++i < turns);
    put(2, s);
    i = 0u;
    do {
        float t = value(7) + float(i);
        s = t * x;
        put(4, s);
    } while (++i < turns);
    if (w > 4.0)
        put(3, sqrt(s) * w);
}
