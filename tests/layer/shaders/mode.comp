// As mode.frag.
#version 450

layout(local_size_x = 32) in;
layout(push_constant) uniform Push {
    int mode;
    int taps;
    float strength;
    float scale;
} push;
layout(set = 0, binding = 0) buffer Out { float out_values[]; };

void main()
{
    float sum = float(gl_LocalInvocationIndex) * push.scale;
    if (push.mode == 1) {
        for (int i = 0; i < push.taps; i++)
            sum += sin(sum + float(i)) * cos(sum * float(i)) + exp2(sum * 0.1);
    } else if (push.mode == 2) {
        for (int i = 0; i < 16; i++)
            sum = sqrt(abs(sum)) + pow(abs(sum), 0.3) + log2(abs(sum) + 1.0) + float(i);
    }
    out_values[gl_LocalInvocationIndex] = sum * push.strength;
}
