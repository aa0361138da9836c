// Words of a uniform buffer, which are 0, 0, 0 and a number: a mode, a factor, and how often a loop turns.
layout(set = 0, binding = 9) uniform Words { uvec4 words; };
uint by_words(uint v)
{
    for (uint i = 0u; i < (words.w & 3u) + 2u; i++) {
        if (words.x == 1u)
            v = v * 7u + i;
        else
            v ^= (v << i) + added;
    }
    float sum = floor(sqrt(float(v & 255u))) * uintBitsToFloat(words.y);
    return v + uint(sum) + words.z * v;
}
