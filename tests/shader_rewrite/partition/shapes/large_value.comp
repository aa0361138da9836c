#version 450
// A selection gives a value that is too large to lie in memory between passes, and one that may: who asks for the
// other one first is in its pass too.
layout(local_size_x = 1) in;
struct Large { vec4 parts[260]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 2) readonly buffer Vectors { Large first, second; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i];
    Large large;
    bool known;
    if (u % 2u == 0u) {
        large = first;
        known = u % 3u == 0u;
    } else {
        large = second;
        known = u % 5u == 0u;
    }
    float x = float(u % 64u) * 0.25, y = x * x + 1.0;
    y = sin(y) * x + cos(x);
    y = abs(y) * y - x * 0.5;
    results[i + 512] = y;
    if (known)
        y += large.parts[7].x * x + large.parts[255].w;
    results[i] = y;
}
