#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
// 16-bit floats between passes, where the module has no 16-bit integers.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Floats { float floats[]; };
layout(std430, set = 0, binding = 1) readonly buffer Uints { uint uints[]; };
layout(std430, set = 0, binding = 3) buffer Out { uint integers[9728]; float results[]; };
void main()
{
    uint i = gl_GlobalInvocationID.x;
    float16_t a = float16_t(floats[i]), b = float16_t(uints[i] % 64) * float16_t(0.25);
    f16vec3 c = f16vec3(a, b, a * b), d = c * c.zxy + c;
    results[i] = float(a + b);
    float16_t e = a * d.x - b, f = d.y * d.z + e;
    results[i + 512] = float(e);
    c = d * f + c;
    integers[i] = packFloat2x16(f16vec2(e, f));
    results[i + 1024] = float(c.x + c.y * f);
    results[i + 1536] = float(c.z * e + d.x);
    results[i + 2048] = float(d.y + c.x * b);
}
