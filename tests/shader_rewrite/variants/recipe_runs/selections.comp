// Branches with little and much in them, values that are ready before them or computed on both
// sides, and lanes that return early.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "run.glsl"

void main()
{
    const vec4 value = vectors[first];
    const float edge = floats[first], red = pushed.tint.x, green = pushed.tint.y;
    // Ready before.
    float either = red;
    if (edge < 0.25)
        either = green;
    // Both sides compute the same.
    float sum = value.x - value.y;
    if (value.z > edge)
        sum = sqrt(abs(value.y * value.w)) + 1.0;
    else
        sum -= sqrt(abs(value.y * value.w));
    put(0u, vec4(either, sum, edge, value.x));
    if (uints[first] % 5u == 3u) {
        put(1u, value * 3.0);
        return;
    }
    // Much.
    vec4 result = value * either;
    if (value.w > 0.75)
        result = result.wzyx * sum + sqrt(abs(result)) - abs(result + 1.0) * floor(value * 4.0) + fract(value.yxwz) * value.zwxy;
    // Little, in a body that few lanes enter.
    if (uints[first + 1u] == 7u)
        result.z = result.z * 2.0 - edge;
    put(2u, result);
    put(3u, result.yxwz * sum);
}
