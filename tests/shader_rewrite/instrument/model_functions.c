/* Numbers as the processor computes them, where a driver may compute others (model_use_stand_ins):
 * what a function is of zero, one and their like is so here, too, as who specializes supposes. */
#include "tests/shader_rewrite/instrument/model_run.h"

#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <string.h>

static float as_float(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint32_t as_word(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* ---- GLSL.std.450, by component ---- */

static bool float_of_one(uint32_t function, float x, float *out)
{
    switch (function) {
    case GLSLstd450FAbs:
        return *out = fabsf(x), true;
    case GLSLstd450FSign:
        return *out = (float)((x > 0) - (x < 0)), true;
    case GLSLstd450Floor:
        return *out = floorf(x), true;
    case GLSLstd450Ceil:
        return *out = ceilf(x), true;
    case GLSLstd450Trunc:
        return *out = truncf(x), true;
    case GLSLstd450Fract:
        return *out = x - floorf(x), true;
    case GLSLstd450RoundEven:
        return *out = rintf(x), true;
    case GLSLstd450Sqrt:
        return *out = sqrtf(x), true;
    case GLSLstd450InverseSqrt:
        return *out = 1 / sqrtf(x), true;
    case GLSLstd450Log2:
        return *out = log2f(x), true;
    case GLSLstd450Log:
        return *out = logf(x), true;
    case GLSLstd450Exp2:
        return *out = exp2f(x), true;
    case GLSLstd450Exp:
        return *out = expf(x), true;
    case GLSLstd450Sin:
        return *out = sinf(x), true;
    case GLSLstd450Cos:
        return *out = cosf(x), true;
    case GLSLstd450Tanh:
        return *out = tanhf(x), true;
    case GLSLstd450Atan:
        return *out = atanf(x), true;
    case GLSLstd450Radians:
        return *out = x * 0.017453293f, true;
    default:
        return false;
    }
}

static float clamp(float x, float low, float high)
{
    return fminf(fmaxf(x, low), high);
}

static float smooth_step(float low, float high, float x)
{
    const float t = clamp((x - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

static bool float_of_more(uint32_t function, const float *x, float *out)
{
    switch (function) {
    case GLSLstd450FMin:
    case GLSLstd450NMin:
        return *out = fminf(x[0], x[1]), true;
    case GLSLstd450FMax:
    case GLSLstd450NMax:
        return *out = fmaxf(x[0], x[1]), true;
    case GLSLstd450FClamp:
    case GLSLstd450NClamp:
        return *out = clamp(x[0], x[1], x[2]), true;
    case GLSLstd450FMix:
        return *out = x[0] * (1 - x[2]) + x[1] * x[2], true;
    case GLSLstd450Step:
        return *out = x[1] < x[0] ? 0 : 1, true;
    case GLSLstd450SmoothStep:
        return *out = smooth_step(x[0], x[1], x[2]), true;
    case GLSLstd450Fma:
        return *out = x[0] * x[1] + x[2], true;
    case GLSLstd450Pow:
        return *out = powf(x[0], x[1]), true;
    default:
        return false;
    }
}

static bool int_of(uint32_t function, const uint32_t *x, uint32_t *out)
{
    const int32_t a = (int32_t)x[0], b = (int32_t)x[1];
    switch (function) {
    case GLSLstd450SAbs:
        return *out = a < 0 ? 0 - x[0] : x[0], true;
    case GLSLstd450SSign:
        return *out = (uint32_t)((a > 0) - (a < 0)), true;
    case GLSLstd450SMin:
        return *out = a < b ? x[0] : x[1], true;
    case GLSLstd450SMax:
        return *out = a > b ? x[0] : x[1], true;
    case GLSLstd450UMin:
        return *out = x[0] < x[1] ? x[0] : x[1], true;
    case GLSLstd450UMax:
        return *out = x[0] > x[1] ? x[0] : x[1], true;
    case GLSLstd450FindILsb:
        return *out = x[0] ? (uint32_t)__builtin_ctz(x[0]) : UINT32_MAX, true;
    default:
        return false;
    }
}

/* ---- GLSL.std.450, of vectors ---- */

static float dot(const uint32_t *a, const uint32_t *b, uint32_t count)
{
    float sum = as_float(a[0]) * as_float(b[0]);
    for (uint32_t i = 1; i < count; i++)
        sum += as_float(a[i]) * as_float(b[i]);
    return sum;
}

static bool geometry(uint32_t function, const uint32_t *a, const uint32_t *b, uint32_t count,
                     uint32_t *out)
{
    switch (function) {
    case GLSLstd450Length:
        *out = as_word(sqrtf(dot(a, a, count)));
        return true;
    case GLSLstd450Normalize:
        for (uint32_t i = 0; i < count; i++)
            out[i] = as_word(as_float(a[i]) / sqrtf(dot(a, a, count)));
        return true;
    case GLSLstd450Reflect:
        for (uint32_t i = 0; i < count; i++)
            out[i] = as_word(as_float(a[i]) - 2 * dot(b, a, count) * as_float(b[i]));
        return true;
    case GLSLstd450Cross:
        for (uint32_t i = 0; i < 3; i++) {
            const uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
            out[i] = as_word(as_float(a[j]) * as_float(b[k]) - as_float(b[j]) * as_float(a[k]));
        }
        return true;
    default:
        return false;
    }
}

/* To the nearest, and to the even one of two. */
static uint32_t to_half(float value)
{
    const uint32_t sign = as_word(value) >> 16 & 0x8000;
    const float size = fabsf(value);
    if (isnan(value))
        return 0x7e00;
    if (size >= 65520)
        return sign | 0x7c00;
    if (size < 0x1p-14f)
        return sign | (uint32_t)rintf(size * 0x1p24f);
    const uint32_t bits = as_word(size), last = bits >> 13 & 1;
    return sign | ((bits + 0xfff + last - (112u << 23)) >> 13);
}

static float of_half(uint32_t half)
{
    const uint32_t exponent = half >> 10 & 31, fraction = half & 0x3ff;
    float size = ldexpf((float)(fraction | 0x400), (int)exponent - 25);
    if (exponent == 0)
        size = ldexpf((float)fraction, -24);
    if (exponent == 31)
        size = fraction ? NAN : INFINITY;
    return half & 0x8000 ? -size : size;
}

static bool pack(uint32_t function, const uint32_t *a, uint32_t *out)
{
    switch (function) {
    case GLSLstd450PackHalf2x16:
        *out = to_half(as_float(a[0])) | to_half(as_float(a[1])) << 16;
        return true;
    case GLSLstd450UnpackHalf2x16:
        for (uint32_t i = 0; i < 2; i++)
            out[i] = as_word(of_half(*a >> 16 * i & 0xffff));
        return true;
    case GLSLstd450PackUnorm4x8:
        *out = 0;
        for (uint32_t i = 0; i < 4; i++)
            *out |= (uint32_t)rintf(clamp(as_float(a[i]), 0, 1) * 255) << 8 * i;
        return true;
    case GLSLstd450UnpackUnorm4x8:
        for (uint32_t i = 0; i < 4; i++)
            out[i] = as_word((float)(*a >> 8 * i & 0xff) / 255);
        return true;
    default:
        return false;
    }
}

static bool run_glsl(const struct model *m, const uint32_t *o, uint32_t operands, uint32_t *result)
{
    const uint32_t *from[3] = {0};
    for (uint32_t i = 4; i < operands && i < 7; i++)
        from[i - 4] = &m->values[m->value_at[o[i]]];
    const uint32_t words = m->types[m->type_of[o[4]]].words;
    if (geometry(o[3], from[0], from[1], words, result) || pack(o[3], from[0], result))
        return true;
    for (uint32_t i = 0; i < m->types[o[0]].words; i++) {
        uint32_t bits[3] = {0};
        float x[3], out;
        for (uint32_t k = 0; k < 3; k++) {
            bits[k] = from[k] ? from[k][i] : 0;
            x[k] = as_float(bits[k]);
        }
        if (int_of(o[3], bits, &result[i]))
            continue;
        if (!float_of_one(o[3], x[0], &out) && !float_of_more(o[3], x, &out))
            return false;
        result[i] = as_word(out);
    }
    return true;
}

/* ---- SPIR-V's own ---- */

static uint32_t field_mask(uint32_t count)
{
    return count < 32 ? (1u << count) - 1 : UINT32_MAX;
}

static bool run_bits(const struct model *m, uint32_t opcode, const uint32_t *o, uint32_t *result)
{
    const uint32_t *a = &m->values[m->value_at[o[2]]];
    const bool inserts = opcode == SpvOpBitFieldInsert;
    const bool field =
        inserts || opcode == SpvOpBitFieldUExtract || opcode == SpvOpBitFieldSExtract;
    const uint32_t at = field ? m->values[m->value_at[o[inserts ? 4 : 3]]] : 0;
    const uint32_t mask = field ? field_mask(m->values[m->value_at[o[inserts ? 5 : 4]]]) : 0;
    for (uint32_t i = 0; i < m->types[o[0]].words; i++) {
        if (opcode == SpvOpBitCount) {
            result[i] = (uint32_t)__builtin_popcount(a[i]);
        } else if (opcode == SpvOpBitReverse) {
            uint32_t reversed = 0;
            for (uint32_t bit = 0; bit < 32; bit++)
                reversed |= (a[i] >> bit & 1) << (31 - bit);
            result[i] = reversed;
        } else if (inserts) {
            const uint32_t b = m->values[m->value_at[o[3]] + i];
            result[i] = (a[i] & ~(mask << at)) | (b & mask) << at;
        } else if (field) {
            const uint32_t bits = a[i] >> at & mask;
            const bool negative = opcode == SpvOpBitFieldSExtract && bits > mask >> 1;
            result[i] = negative ? bits | ~mask : bits;
        } else {
            return false;
        }
    }
    return true;
}

static bool run_quotient(const struct model *m, uint32_t opcode, const uint32_t *o,
                         uint32_t *result)
{
    if (opcode != SpvOpFDiv && opcode != SpvOpFMod && opcode != SpvOpFRem)
        return false;
    for (uint32_t i = 0; i < m->types[o[0]].words; i++) {
        const float a = as_float(m->values[m->value_at[o[2]] + i]);
        const float b = as_float(m->values[m->value_at[o[3]] + i]);
        result[i] = as_word(opcode == SpvOpFDiv   ? a / b
                            : opcode == SpvOpFRem ? fmodf(a, b)
                                                  : a - b * floorf(a / b));
    }
    return true;
}

/* Of what is linear; matrices lie by columns. */
static bool run_linear(const struct model *m, uint32_t opcode, const uint32_t *o, uint32_t *result)
{
    const uint32_t *a = &m->values[m->value_at[o[2]]];
    const uint32_t *b = opcode == SpvOpTranspose ? NULL : &m->values[m->value_at[o[3]]];
    const uint32_t words = m->types[o[0]].words, first = m->types[m->type_of[o[2]]].words;
    const uint32_t second = b ? m->types[m->type_of[o[3]]].words : 0;
    switch (opcode) {
    case SpvOpDot:
        *result = as_word(dot(a, b, first));
        return true;
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
        for (uint32_t i = 0; i < words; i++)
            result[i] = as_word(as_float(a[i]) * as_float(*b));
        return true;
    case SpvOpVectorTimesMatrix:
        for (uint32_t i = 0; i < words; i++)
            result[i] = as_word(dot(a, b + (size_t)i * first, first));
        return true;
    case SpvOpMatrixTimesVector:
        for (uint32_t i = 0; i < words; i++) {
            float sum = as_float(a[i]) * as_float(b[0]);
            for (uint32_t k = 1; k < second; k++)
                sum += as_float(a[k * words + i]) * as_float(b[k]);
            result[i] = as_word(sum);
        }
        return true;
    case SpvOpTranspose: {
        const uint32_t rows = m->types[m->types[o[0]].element].words, columns = words / rows;
        for (uint32_t i = 0; i < words; i++)
            result[i] = a[(i % rows) * columns + i / rows];
        return true;
    }
    default:
        return false;
    }
}

static bool run_parts(const struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands,
                      uint32_t *result)
{
    if (opcode == SpvOpVectorExtractDynamic) {
        const uint32_t index = m->values[m->value_at[o[3]]];
        if (index >= m->types[m->type_of[o[2]]].words)
            fail_msg("the vector has no component %u", index);
        *result = m->values[m->value_at[o[2]] + index];
        return true;
    }
    if (opcode != SpvOpCompositeInsert)
        return false;
    uint32_t type = o[0];
    memcpy(result, &m->values[m->value_at[o[3]]], m->types[type].words * sizeof *result);
    const uint32_t at = model_part(m, &type, o + 4, operands - 4);
    memcpy(result + at, &m->values[m->value_at[o[2]]], m->types[type].words * sizeof *result);
    return true;
}

bool model_function(const struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands,
                    uint32_t *result)
{
    switch (opcode) {
    case SpvOpExtInst:
        return run_glsl(m, o, operands, result);
    case SpvOpCompositeInsert:
    case SpvOpVectorExtractDynamic:
        return run_parts(m, opcode, o, operands, result);
    case SpvOpBitCount:
    case SpvOpBitReverse:
    case SpvOpBitFieldInsert:
    case SpvOpBitFieldSExtract:
    case SpvOpBitFieldUExtract:
        return run_bits(m, opcode, o, result);
    case SpvOpDot:
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpTranspose:
        return run_linear(m, opcode, o, result);
    default:
        return operands == 4 && run_quotient(m, opcode, o, result);
    }
}
