#version 450
// Invocations return from selections within selections, from loops and from switches; what they
// computed until there stays, and what comes behind is not for them.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i];
    float x = floats[i], y = x * 3.0 - 1.0, z = y * x + 0.5;
    if (u % 2 == 0) {
        y = sin(x) + z;
        if (u % 3 == 0) {
            results[i] = y;
            if (u % 5 == 0) {
                integers[i] = 1;
                return;
            }
            y = y * y - x;
            results[i + 512] = y;
        } else {
            z = cos(y) * z;
            if (u % 7 == 1)
                return;
            z += y;
        }
        x = z * y + x;
        results[i + 1024] = x;
    } else {
        for (uint k = 0; k < 6; k++) {
            z = z * 0.5 + float(k);
            if (u % 11 == k) {
                results[i + 1536] = z;
                return;
            }
        }
        switch (u % 4) {
        case 1:
            y = z + x;
            break;
        case 3:
            if (u % 13 == 2)
                return;
            y = z - x;
            break;
        default:
            y = z;
        }
        integers[i + 512] = floatBitsToUint(y);
    }
    float a = x * y + z, b = a * a - sin(y);
    if (a > b) {
        results[i + 2048] = a;
        if (u % 17 == 4)
            return;
        b = b + cos(a) * x;
    }
    float c = b * a + y;
    results[i + 2560] = c * c - b;
    integers[i + 1024] = floatBitsToUint(c) ^ u;
}
