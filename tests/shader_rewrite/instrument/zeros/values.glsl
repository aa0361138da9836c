// Floats by pixel: tiles of zeroes of both signs, in which a pixel here and there is none, and tiles
// of ones, of which bit 12 is set in some.
uint value_bits(uint pixel, uint layer)
{
    uint tile = (pixel % 64u / 8u + pixel / 512u * 8u) * 0x9e3779b1u + layer * 0x85ebca6bu;
    tile = (tile ^ tile >> 15) * 0x2c1b3c6du;
    uint own = (pixel + layer * 4096u) * 0x297a2d39u;
    own = (own ^ own >> 15) * 0x85ebca6bu;
    own ^= own >> 13;
    bool zero = ((tile ^ tile >> 12) & 3u) != 0u && own % 50u != 0u;
    return zero ? (own & 0x100u) << 23 : 0x3f800000u | (own & 0x1000u);
}
float value(uint pixel, uint layer) { return uintBitsToFloat(value_bits(pixel, layer)); }
