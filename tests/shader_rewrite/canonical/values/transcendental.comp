#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

void main()
{
    float x = get(0u), y = get(1u);
    put(0u, sin(x)); put(1u, cos(y)); put(2u, tan(x)); put(3u, exp(y)); put(4u, log(abs(x)));
    put(5u, pow(abs(x), y)); put(6u, sqrt(abs(y))); put(7u, inversesqrt(abs(x)));
    put(8u, atan(y, x)); put(9u, asin(clamp(x, -1.0, 1.0))); put(10u, tanh(y));
    put(11u, length(vec3(x, y, 1.0))); put(12u, normalize(vec3(x, y, 2.0)).y);
    put(13u, mod(x, y)); put(14u, smoothstep(-1.0, 2.0, x)); put(15u, round(y) + roundEven(x));
}
