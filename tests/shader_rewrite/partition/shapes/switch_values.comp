#version 450
// A switch that fits no pass and chooses values; where no label is the selector's it leaves them as they were.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x, u = uints[i], n = u * 7u + 1u;
    float x = floats[i];
    vec3 v = vec3(x, x * 2.0, float(u));
    bool odd = x > 0.5;
    switch (u % 7u) {
    case 6u:
        v = v.zxy * 2.0 + v;
        v = abs(v) - v.yzx * x;
        n = n * 3u ^ u;
        break;
    case 3u:
        v.x = sin(v.y) * x;
        odd = v.x < v.y;
        n = (n << 3u) + 5u;
        n = n ^ n >> 7u;
        break;
    case 0u:
    case 1u:
        odd = !odd;
        v = v * v + 1.0;
        v.z = v.x * x - v.y;
        n += 9u;
        n = n * n + u;
        break;
    }
    results[i] = v.x + v.y * x;
    results[i + 512] = v.z;
    integers[i] = n;
    integers[i + 512] = odd ? n * 5u : u;
}
