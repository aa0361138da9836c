#version 450
// Much work under a weight that is zero: six shaders, of which a specialized variant leaves it out. Where the factor is
// infinite the sum is no number in the game's own shader, and is one in the variant.
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint which = 0u;
layout(set = 0, binding = 0) readonly buffer Weights { float weights[]; };
layout(set = 0, binding = 1) readonly buffer Factors { float factors[]; };
layout(set = 0, binding = 2) buffer Sums { float sums[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x;
    float weight = weights[at], x = float(at & 63u) * 0.0625 + float(which);
    float heavy = sin(x) * pow(abs(x), 1.7) + cos(x * 3.0) * exp2(x) + sqrt(abs(x)) * log2(2.0 + x * x) +
                  atan(x) * tan(x * 0.5) + inversesqrt(1.0 + x * x) * sin(x * 7.0) + pow(abs(x) + 0.5, 2.3);
    sums[which * 64u + at] = x + weight * (heavy * factors[which]);
}
