// Push constants that choose what runs; of the words, `slot` changes with every call.
layout(push_constant) uniform Push {
    int mode;
    int taps;
    float strength;
    float scale;
    int slot;
} push;

float shade(float sum)
{
    if (push.mode == 1) {
        for (int i = 0; i < push.taps; i++)
            sum += sin(sum + float(i)) * cos(sum * float(i)) + exp2(sum * 0.1);
    } else if (push.mode == 2) {
        for (int i = 0; i < 16; i++)
            sum = sqrt(abs(sum)) + pow(abs(sum), 0.3) + log2(abs(sum) + 1.0) + float(i);
    }
    return sum * push.strength;
}
