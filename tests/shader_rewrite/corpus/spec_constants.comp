#version 450
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z = 1) in;
layout(constant_id = 2) const uint taps = 4u;
layout(constant_id = 3) const bool sharpen = true;
layout(constant_id = 4) const float strength = 0.5;
layout(constant_id = 7) const int offset = -3;
const uint doubled = taps * 2u + 1u;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D target;
float weights[doubled];
void main()
{
    vec4 sum = vec4(0.0);
    for (uint k = 0u; k < doubled; k++) {
        weights[k] = exp(-float(k) * strength);
        sum += weights[k] * texelFetch(source, ivec2(gl_GlobalInvocationID.xy) + ivec2(int(k) + offset, 0), 0);
    }
    if (sharpen)
        sum = sum * 1.5 - 0.25;
    imageStore(target, ivec2(gl_GlobalInvocationID.xy), sum);
}
