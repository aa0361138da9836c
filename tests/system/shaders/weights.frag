#version 450
// Much work under a weight that is mostly zero, as specialize_zero wants it, and branches to count.
layout(location = 0) in vec4 shade;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) readonly buffer Weights { float weights[]; };
layout(push_constant) uniform Push { uint first; };

void main()
{
    uvec2 at = uvec2(gl_FragCoord.xy);
    float weight = weights[first + (at.y >> 4)], x = float(at.x) * 0.0625;
    float heavy = sin(x) * pow(abs(x) + 0.5, 1.7) + cos(x * 3.0) * exp2(x * 0.25) + sqrt(abs(x)) +
                  inversesqrt(1.0 + x * x) * sin(x * 7.0) + pow(abs(x) + 0.5, 2.3) * log2(2.0 + x * x);
    float sum = 0.0;
    for (uint i = 0u; i < (at.x & 7u); i++)
        sum += float((at.y + i) & 3u);
    color = vec4(weight * heavy, sum, shade.x, 1.0);
}
