#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Values that loops read, used behind loops that lanes leave at different times. */
void main()
{
    float w = max(value(0), 0.0), v = max(value(1), 0.0), x = value(2) + 3.0;
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    do {
        if (w > 0.0)
            x += w;
        else
            x = value(4) + 2.0;
    } while (++i < turns);
    put(0, x);
    float y = 1.0, z = 5.0;
    for (i = 0u; i < turns; i++) {
        float seen = value(5) + 7.0;
        if (v == 0.0 || seen > 9.5)
            y = seen;
        z = v > 0.0 ? z * 0.5 : value(i) + 4.0;
        if (z > 6.0)
            break;
    }
    put(1, y);
    put(2, z);
    put(3, w * v + x);
}
