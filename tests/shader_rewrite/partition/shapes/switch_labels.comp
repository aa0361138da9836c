#version 450
// A switch that fits no pass, of cases that are apart: with several labels, the default in the middle and among them,
// and memory written in some. Within one of them there is another such switch, and a loop that fits.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i];
    float x = floats[i], y = x * 3.0 - 1.0, z = y * x + 0.5;
    switch (int(u % 11u) - 3) {
    case -3:
    case 4:
        z = sin(x) + z * y;
        results[i + 512] = z;
        y = abs(z) * x - y;
        y = y * y + z;
        integers[i + 512] = u * 3u;
        break;
    case 0:
        for (uint k = 0u; k < u % 5u; k++)
            z = z * 0.5 + float(k);
        y = z - x;
        break;
    case 7:
    default:
        z = cos(y) * z;
        x = z + x * y;
        x = sqrt(abs(x)) + z;
        integers[i + 1024] = floatBitsToUint(x);
        y = x * z + y;
        break;
    case 2:
        switch (u % 4u) {
        case 1u:
            x = y * y - z;
            x = exp2(min(x, 3.0)) + y;
            x = x * z - y;
            x = abs(x) * y + z;
            break;
        case 2u:
            x = z * z + y;
            x = sqrt(abs(x)) * z;
            x = x * y + z;
            results[i + 1024] = x;
            break;
        }
        if (x > y)
            z = x * 2.0 - y;
        else
            y = x * y + z;
        break;
    case 1:
    case 5:
    case 6:
        x = y * z + x;
        results[i + 1024] = x * 2.0;
        break;
    }
    results[i] = x * y + z;
    integers[i] = floatBitsToUint(y) ^ u;
}
