#version 450
layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Input { float values[]; };
layout(binding = 1) buffer Output { float results[]; };
uint at = gl_GlobalInvocationID.x;
float value(uint k) { return values[at * 8u + k]; }
void put(uint k, float x) { results[at * 8u + k] = x; }
/* Values that a check in a loop chooses, used by an OpPhi that is not the loop's, behind loops that
 * lanes leave at different times. */
void main()
{
    float w = max(value(0), 0.0), v = max(value(1), 0.0), x = value(2) + 3.0, y, z, r = 1.0;
    float a = value(3), b = value(4);
    uint turns = 1u + (at * 7u & 3u), i = 0u;
    do {
        y = w * sin(x + float(i)) + a * float(i) + 1.0;
    } while (++i < turns);
    if (b > 0.0)
        r = y;
    put(0, r);
    i = 0u;
    do {
        float t = v * a + b * float(i);
        z = sqrt(abs(t)) * v + a + 2.0;
    } while (++i < turns);
    r = 2.0;
    if (a > 0.0)
        r = z;
    put(1, r);
    put(3, w * v + x);
}
