#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Values that a branch chooses by what a check in a loop chose, used behind loops that lanes leave
 * at different times. */
void main()
{
    float w = max(value(0), 0.0), v = max(value(1), 0.0), x = value(2) + 3.0, y, z;
    float a = value(3), b = value(4);
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    do {
        float t = w * sin(x) + a * float(i);
        if (t > 0.5)
            y = a + float(i);
        else
            y = b * 2.0;
    } while (++i < turns);
    put(0, y);
    i = 0u;
    do {
        float t = v * a + b;
        if (t > 0.25) {
            z = x + float(i);
        } else {
            z = a - 1.0;
        }
    } while (++i < turns);
    put(1, z);
    i = 0u;
    do {
        float t = min(w, a + float(i));
        float u = t * x * sqrt(abs(b));
        if (u > 0.1)
            z = 4.0;
        else
            z = 5.0;
    } while (++i < turns);
    put(2, z);
    put(3, w * v + x);
}
