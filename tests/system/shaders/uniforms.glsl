// Words of uniform buffers that choose what runs. `rare` is looked at in one mode only, and is in an array of one
// descriptor, as translation layers declare their buffers.
layout(set = 0, binding = 0) uniform Words {
    int mode;
    int taps;
    float strength;
    float scale;
} words;
layout(set = 0, binding = 1) uniform Rare {
    vec4 factors;
    int taps;
} rare[1];
layout(set = 0, binding = 3) uniform Often {
    layout(offset = 32) vec4 factors;
} often[1];
layout(push_constant) uniform Push {
    int slot;
} push;

float shade(float sum)
{
    if (words.mode == 1) {
        for (int i = 0; i < words.taps; i++)
            sum = sin(sum + float(i)) * cos(sum * float(i)) + exp2(sum * 0.1);
    } else if (words.mode == 2) {
        for (int i = 0; i < rare[0].taps; i++)
            sum = sqrt(abs(sum)) + pow(abs(sum), 0.3) + log2(abs(sum) + 1.0) - rare[0].factors.y;
    } else {
        sum = atan(sum, 0.5) + pow(abs(sum) + 0.1, 0.7) * tan(sum * 0.1) + inversesqrt(abs(sum) + 2.0);
    }
    vec4 lit = often[0].factors * pow(vec4(sin(sum), cos(sum), atan(sum), sin(sum * 3.0)) * 0.25 + 0.5, vec4(1.7));
    return sum * words.strength + dot(lit, lit);
}
