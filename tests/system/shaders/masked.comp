#version 450
// What is masked out in the one scene, where push.turns is not 0, and not in the other.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Out { float out_values[]; };
layout(push_constant) uniform Push {
    uint turns;
    float bend;
} push;

void main()
{
    float at = float(gl_GlobalInvocationID.x) * push.bend, sum = at;
    float mask = push.turns == 0u ? 1.0 + push.bend : 0.0;
    float light = mask * at;
    for (int i = 0; i < 24; i++)
        sum += light * (sin(sum) + cos(at * float(i)) * exp2(-at) + pow(abs(sin(at + float(i))), 0.3));
    out_values[gl_GlobalInvocationID.x] = sum;
}
