#version 450
// Much work that only a block needs which is hardly ever entered: what optimize_sink is for.
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };

void main()
{
    uint at = gl_GlobalInvocationID.x;
    float x = values[at];
    float heavy = sin(x) * pow(abs(x), 1.7) + cos(x * 3.0) * exp2(x) + sqrt(abs(x)) * log2(2.0 + x * x) +
                  atan(x) * tan(x * 0.5) + inversesqrt(1.0 + x * x) * sin(x * 7.0) + pow(abs(x) + 0.5, 2.3);
    if (x > 5.0)
        values[at + 64] = heavy;
    values[at] = x + 1.0;
}
