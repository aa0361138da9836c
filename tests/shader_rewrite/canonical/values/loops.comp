#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };

float get(uint i) { return uintBitsToFloat(data[(gl_GlobalInvocationID.x * 5u + i) % data.length()]); }
void put(uint i, float x) { result[gl_GlobalInvocationID.x * 16u + i] = floatBitsToUint(x); }
void put4(uint i, vec4 x) { put(i, x.x); put(i + 1u, x.y); put(i + 2u, x.z); put(i + 3u, x.w); }

void main()
{
    float sum = get(0u);
    uint n = data[gl_GlobalInvocationID.x % data.length()] % 13u;
    for (uint i = 0u; i < n; i++) {
        if (i == 7u)
            continue;
        for (uint j = i;; j += 2u) {
            if (j > 9u)
                break;
            sum = sum * 0.97 + float(j) * 0.31;
            if (sum > 50.0) {
                sum -= 49.5;
                continue;
            }
            sum += get(j) * 1e-3;
        }
        if (sum < -100.0)
            break;
    }
    put(0u, sum);
    uint k = n;
    do {
        sum = sum / 1.7 - float(k);
        k = k * 5u + 3u & 31u;
    } while (k > 4u && sum > -1e6 && k != n);
    put(1u, sum);
    put(2u, uintBitsToFloat(k));
}
