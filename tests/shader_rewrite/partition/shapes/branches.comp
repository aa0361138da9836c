#version 450
// Selections too large for a pass are cut open, also within one another.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i];
    float x = floats[i], y = x * 3.0 - 1.0;
    vec3 v = vec3(x, y, x * y);
    if (u % 2 == 0) {
        v = v.zxy * 2.0 + v;
        y = sin(v.x) + cos(v.y);
        if (u % 3 == 0) {
            v.x = y * v.z + 1.0;
            v.y = v.x * v.x - y;
            results[i + 1024] = v.x + v.y;
            v.z = exp2(min(v.y, 3.0)) + v.x;
        } else {
            v = abs(v) + vec3(y);
            y = v.x * v.y + v.z;
        }
        v += vec3(y, u, x);
    } else {
        x = sqrt(abs(y)) + y;
        v.y = x * x - v.y;
        integers[i + 512] = u + 7;
        y = v.y * x + v.z;
    }
    results[i] = v.x + v.y * y;
    results[i + 512] = v.z - y + x;
    integers[i] = floatBitsToUint(v.y) + u;
}
