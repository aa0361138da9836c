// Loops that are unrolled, whole and in part, that have arrays, what does not change, and what they
// write themselves in them, and that turn by words.
#version 450
#extension GL_GOOGLE_include_directive : require
#include "run.glsl"

void main()
{
    const vec4 value = vectors[first];
    // Twelve turns and 18.
    float sum = value.x;
    uint hash = uints[first];
    for (uint k = 0u; k < 12u; k++) {
        sum = sum * 0.5 + floats[first + k];
        hash = hash * 31u + uints[first + k];
    }
    for (uint k = 0u; k < 18u; k++)
        hash = (hash ^ uints[first + k]) * 17u + k;
    // An array, and a value that does not change.
    float parts[9];
    for (uint k = 0u; k < 9u; k++)
        parts[k] = floats[first + k] - exp(-abs(value.w));
    for (uint k = 0u; k < 9u; k++)
        sum -= parts[8u - k] * pushed.tint.x;
    put(0u, vec4(sum, uintBitsToFloat(hash >> 9 | 0x3f800000u), parts[3], parts[8]));
    // It reads what it writes.
    put(1u, value);
    for (uint k = 0u; k < 4u; k++) {
        const vec4 was = written[lane * 4u + 1u];
        written[lane * 4u + 1u] = was.yzwx * 0.5 + vectors[first + k];
    }
    // As often as words say.
    vec4 turned = value;
    for (uint k = 0u; k < words.counts[0].x; k++)
        turned = turned.wxyz - vectors[first + k] * 0.25;
    put(2u, turned);
    put(3u, turned.yxwz);
    // Likewise, with nothing that is used behind it: turns of it are copied in front.
    uint n = 0u;
    do {
        written[lane * 4u + 3u] = written[lane * 4u + 3u].zxwy * 0.5 - vectors[first + n];
        n++;
    } while (n < words.counts[0].y);
}
