#version 450

// What no recipe finds a much faster version of: each turn needs the one before.
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Out { float out_values[]; };
layout(push_constant) uniform Push { uint turns; float bend; } push;

void main()
{
    float at = float(gl_GlobalInvocationID.x) * push.bend, x = at;
    for (uint i = 0; i < push.turns; i++)
        x = fract(sin(x) * 3.7 + cos(x * 0.7) + at) + sqrt(x + 1.0);
    out_values[gl_GlobalInvocationID.x] = x;
}
