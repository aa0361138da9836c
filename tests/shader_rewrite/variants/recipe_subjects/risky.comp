// What a compiler that unrolls would compute by itself, and differently.
#version 450
layout(local_size_x = 8) in;
layout(set = 0, binding = 0) buffer Values {
    float values[];
};

void main()
{
    const uint i = gl_GlobalInvocationID.x;
    float sum = values[i];
    for (int k = 0; k < 4; k++)
        sum += sin(float(k)) * values[i + 1u];
    values[i] = sum;
}
