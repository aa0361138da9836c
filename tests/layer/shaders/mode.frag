// Push constants that choose what runs: of no use to a driver that does not know them.
#version 450

layout(push_constant) uniform Push {
    int mode;
    int taps;
    float strength;
    float scale;
} push;
layout(location = 0) out vec4 color;

void main()
{
    float sum = gl_FragCoord.x * 0.01 * push.scale;
    if (push.mode == 1) {
        for (int i = 0; i < push.taps; i++)
            sum += sin(sum + float(i)) * cos(sum * float(i)) + exp2(sum * 0.1);
    } else if (push.mode == 2) {
        for (int i = 0; i < 16; i++)
            sum = sqrt(abs(sum)) + pow(abs(sum), 0.3) + log2(abs(sum) + 1.0) + float(i);
    }
    vec3 glow = vec3(sin(sum), cos(sum), exp2(-sum)) * push.strength;
    color = vec4(sum + glow, 1.0);
}
