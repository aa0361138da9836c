#version 450
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint rounds = 2u;
layout(constant_id = 7) const bool extra = false;
layout(constant_id = 9) const float quarter = 0.5;
layout(std430, binding = 0) readonly buffer Input { uint data[]; };
layout(std430, binding = 1) buffer Output { uint result[]; };
layout(push_constant) uniform Push { uint bias, threshold; };

void main()
{
    uint id = gl_GlobalInvocationID.x, sum = bias;
    for (uint i = 0u; i < rounds; i++) {
        if (data[(id + i) % data.length()] > threshold)
            sum += i + 1u;
        if (extra && i == 3u)
            sum *= 2u;
    }
    if (id % 3u == 0u)
        sum += uint(float(sum) * quarter);
    result[id] = sum;
}
