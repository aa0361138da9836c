#version 450
// As weights.frag.
layout(local_size_x = 64) in;
layout(constant_id = 7) const uint scale = 1u;
layout(set = 0, binding = 0) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = 1) buffer Sums { float sums[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x;
    float weight = weights[at >> 6], x = float(at & 63u) * 0.0625;
    float heavy = sin(x) * pow(abs(x) + 0.5, 1.7) + cos(x * 3.0) * exp2(x * 0.25) + sqrt(abs(x)) +
                  inversesqrt(1.0 + x * x) * sin(x * 7.0) + pow(abs(x) + 0.5, 2.3) * log2(2.0 + x * x);
    if ((at & 1u) != 0u)
        sums[at] += float(at * scale);
    sums[at] += weight * heavy;
}
