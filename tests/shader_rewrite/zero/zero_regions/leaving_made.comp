#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Values made of what loops read, used behind loops that lanes leave at different times. */
void main()
{
    float w = max(value(0), 0.0), v = max(value(1), 0.0), x = value(2) + 3.0;
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    float y;
    do {
        float t;
        if (w > 0.0)
            t = x + w;
        else
            t = value(4);
        y = t * 2.0 + 1.0;
    } while (++i < turns);
    put(0, y);
    float z = 0.0; i = 0u;
    do {
        float t = x;
        if (v == 0.0)
            t = value(5 + (i & 1u));
        z = sqrt(abs(t)) + x;
    } while (++i < turns);
    put(1, z);
    put(3, w * v + x);
}
