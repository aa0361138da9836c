#version 450
// Likewise in a switch, and by loads instead of atomics.
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 3) volatile buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_WorkGroupID.x;
    float x = floats[i], s = 1.0;
    switch (i) {
    case 0u:
        s = x;
        break;
    case 1u:
        s = x * 2.0;
    default:
        uint before = 0u;
        while (before == 0u)
            before = integers[i - 1u];
        s += results[i - 1u] * float(before);
    }
    s = sin(s) * x + cos(x);
    s = abs(s) * s - x * 0.5;
    s = exp2(min(s, 3.0)) + x * s;
    s = sqrt(abs(s)) * x + s;
    results[i] = s;
    integers[i] = 1u;
}
