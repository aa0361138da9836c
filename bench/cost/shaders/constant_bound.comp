#version 450
// What knowing words of a uniform buffer can gain at best: a loop with a number of turns, a mode and factors of it.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform Words {
    int turns;
    int mode;
    float scale;
    float fog;
} words;
layout(set = 0, binding = 1) buffer Numbers {
    float numbers[];
};

void main()
{
    uint own = gl_GlobalInvocationID.x;
    float x = numbers[own], sum = 0.0;
    for (int i = 0; i < words.turns; i++) {
        float y = x * words.scale;
        if (words.mode == 0)
            y = y * 0.5 + sum;
        else if (words.mode == 1)
            y = y * y + 0.25;
        else
            y = sqrt(abs(y)) + exp2(-y);
        sum += y * (1.0 / float(i + 1)) + words.fog * exp2(-sum * x);
    }
    numbers[own + gl_NumWorkGroups.x * 64] = sum;
}
