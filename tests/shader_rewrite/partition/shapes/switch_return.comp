#version 450
// Switches that fit no pass, one behind the other, of which the first returns from a case.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i];
    float x = floats[i], y = x * 3.0 - 1.0;
    switch (u % 5u) {
    case 0u:
        x = sin(y) * x + y;
        x = x * x - y;
        x = abs(x) * y + 0.25;
        results[i] = x;
        return;
    case 3u:
        y = cos(x) * y - x;
        y = y * y + x;
        y = abs(y) * x - 0.5;
        break;
    default:
        y = y * x + 2.0;
        x = y * y - x;
        integers[i + 512] = u;
        break;
    }
    switch (u % 3u) {
    case 1u:
        x = sqrt(abs(x)) * y;
        x = x * y + 1.0;
        x = x * x - y;
        x = abs(x) + y * x;
        break;
    case 2u:
        y = exp2(min(x, 3.0)) + y;
        y = y * x - 1.0;
        y = y * y + x;
        y = abs(y) - x * y;
        break;
    }
    results[i] = x * y;
    results[i + 512] = x - y;
}
