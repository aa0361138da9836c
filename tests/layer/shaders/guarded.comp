#version 450
// Much work that a vector in a uniform buffer is a factor of: what a guarded variant is for. The buffer is an array of
// one, as a translation layer has it.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };
layout(set = 0, binding = 1) uniform Factors { vec4 factors; } known[1];

void main()
{
    float x = values[gl_GlobalInvocationID.x];
    vec4 heavy = pow(vec4(sin(x), cos(x), atan(x), sin(x * 3.0)) * 0.25 + 0.5, vec4(1.7));
    vec4 more = exp2(heavy) * log2(heavy + 2.0) + sqrt(heavy) * tan(heavy * 0.5);
    values[gl_GlobalInvocationID.x] = x + dot(more * known[0].factors, more);
}
