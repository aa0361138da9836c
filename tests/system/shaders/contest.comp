#version 450

// What A-Z testing finds a faster version of: most of what a turn computes is the same in all.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Out { float out_values[]; };
layout(push_constant) uniform Push { uint turns; float bend; } push;

void main()
{
    float at = float(gl_GlobalInvocationID.x) * push.bend, sum = 0.0;
    for (uint i = 0; i < push.turns; i++) {
        float wave = sin(at) * cos(at * 0.7) + pow(abs(at) + 0.1, 0.3) + exp(-at) * sqrt(at + 1.0);
        sum += wave * float(i & 7u);
    }
    out_values[gl_GlobalInvocationID.x] = sum;
}
