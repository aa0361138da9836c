#version 450
#extension GL_GOOGLE_include_directive : enable
#include "known.glsl"
#include "compute.glsl"
/* What is exact of integers, booleans and a few floats that are known. */
void main()
{
    float x = value(0), y = value(1);
    uint u = floatBitsToUint(x) >> 7, m = push.mode, n = known.modes[1];
    int s = floatBitsToInt(y) >> 9, k = push.bits.x, c = known.count;
    /* Operands that change nothing, and those that decide. */
    uint a = (u * m) ^ (u / max(n, 1u)) ^ (u % max(n, 1u)) ^ (u & ~push.count) ^ (u | ~push.count);
    int b = (s * k) ^ (s & ~push.bits.y) ^ (s | ~push.bits.z) ^ ((s & 0xffff) / max(c, 1)) ^ ~c ^ -k;
    put(0, float(a & 0xffffu) + float(b & 0xfff));
    /* Numbers that are all known. */
    uint d = (m * 77u) / (n + 1u) + (m * 31u + 5u) % (n + 2u) + ((0xf0000000u + m) >> n);
    int e = ((k - 3) >> (c & 7)) + min(k, c) * 3 + max(k - 2, c - 3) + clamp(k * 2 - 4, c - 2, c) + sign(k - 2) + abs(c - 3);
    put(1, (d > 20u ? sin(x) : y) + (e < 4 ? cos(y) : x) + float(d) * 0.125 + float(e));
    /* Least and greatest. */
    uint g = min(u, m) + max(u, n) + clamp(u, m, m + n) + min(u, ~push.count) + max(u, ~push.count);
    int h = min(s, int(0x80000000u | m)) ^ max(s, int(0x7fffffffu - push.count)) ^ clamp(s, k, k + c);
    put(2, float((g ^ uint(h)) & 0xffffffu));
    bool p = known.cut > 0.25, q = x > y, r = push.scale < 1.0;
    put(3, (p && q ? sin(x) : y) + (r || q ? 0.5 : y * y) + ((p == q) ? x : cos(y)) + (u < m ? 1.0 : 2.0) + (m <= u ? x : y) + ((r != q) ? 3.0 : y));
    /* Floats that become integers, and are rounded. */
    int f = int(push.scale * 4.0) + int(known.cut - 2.0) + int(uint(abs(known.gamma)) * 3u);
    put(4, (f == 5 ? sin(x) : x * 0.25) + float(f) + floor(push.scale) * x + ceil(known.cut) * y + trunc(push.bias) + sign(known.gamma) * x + roundEven(known.shift.x));
    /* Quotients and roots of one, which drivers compute exactly that are known to. */
    put(6, sqrt(abs(known.cut)) * x + inversesqrt(abs(known.gamma) + 1.0) + log2(abs(push.scale)) * y);
    /* An integer that is only computed of known ones is no constant for the compiler either. */
    float bits = float(bitCount(m * 5u)) + float(bitfieldExtract(push.bits.y, 1, 2)) + float(bitfieldReverse(n) >> 29)
        + float(findLSB(k)) + float(findMSB(c - 2)) + float(findMSB(m));
    put(5, pow(abs(bits) * 0.3 + 0.2, 0.37) + x / push.scale + known.cut / known.gamma + 1.0 / push.bias + y / known.shift.y);
    put(7, clamp(x, known.cut, known.cut + known.shift.x) + exp2(known.shift.y) * y + pow(abs(x), push.bias) + log(abs(known.gamma)) + inversesqrt(abs(push.scale)));
}
