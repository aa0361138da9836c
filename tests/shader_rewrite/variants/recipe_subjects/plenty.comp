// Something for every recipe.
#version 450
layout(local_size_x = 8) in;
struct Pair {
    float a;
    float b;
};
layout(set = 0, binding = 0) uniform Parameters {
    vec4 tint;
    vec4 scale;
    Pair pairs[4];
} parameters;
layout(set = 0, binding = 1) buffer Values {
    vec4 values[];
};

void main()
{
    const uint i = gl_GlobalInvocationID.x;
    if (i >= 1000u)
        return;
    const float late = parameters.scale.w;
    vec4 value = values[i];
    // Components one by one, used behind a branch too.
    const float red = parameters.tint.x, green = parameters.tint.w;
    float sum = red * value.x + green * value.y;
    // Both sides compute the same; one has little in it.
    if (value.x > 0.5)
        sum = sqrt(abs(value.y * value.z)) + 1.0;
    else
        sum += sqrt(abs(value.y * value.z));
    // A loop of nine turns with something in it that does not change, and a local array.
    float parts[9];
    for (int k = 0; k < 9; k++)
        parts[k] = value.z * exp(abs(value.w)) + values[i + uint(k)].x;
    for (int k = 0; k < 9; k++)
        sum += parts[8 - k] * red;
    // More turns.
    for (int k = 0; k < 24; k++)
        sum = sum * 0.5 + values[i + uint(k)].y;
    // Divisions by powers of two, and a product with one.
    const uint eighth = i / 8u, rest = i % 8u;
    vec4 result = (value + parameters.scale) * parameters.scale - value;
    result += vec4(sum / 4.0) + vec4(float(eighth * 16u + rest));
    const Pair both = parameters.pairs[rest & 3u];
    if (green < 0.0)
        result.x += both.b;
    // Values that are ready before the branch, and a branch with much in it.
    float either = red;
    if (value.w < 0.25)
        either = green;
    if (value.y > 0.75)
        result = result * late + exp(result) - log(abs(result) + 1.0) * sin(value) + cos(value) * value.wzyx;
    values[i] = result * either;
}
