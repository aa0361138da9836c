#include "shader_rewrite/instrument/block_gathered.h"

#include "shader_rewrite/instrument/block_code.h"

static uint32_t first_turning(const struct pm_block_counts *c)
{
    return units(c) - c->turning_count;
}

static uint32_t field_words(const struct pm_block_counts *c)
{
    return c->field_count ? c->field_count / fields_in_word(c) + 1 : 0;
}

bool pm_block_gathers(const struct pm_block_counts *c, uint32_t with)
{
    for (uint32_t u = 1; u < units(c); u++)
        if (is_gathered(c, u, with))
            return true;
    return false;
}

/* The bits of a word's fields that are. */
static uint32_t mask_of(const struct pm_block_counts *c, uint32_t with, uint32_t word)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < fields_in_word(c); i++) {
        const uint32_t unit = word * fields_in_word(c) + i;
        if (is_field(c, unit) && is_gathered(c, unit, with))
            mask |= UINT32_C(1) << i * c->field_bits;
    }
    return mask;
}

static struct pm_gathered_turns gather_turns(const struct pm_block_counts *c,
                                             struct pm_ir_def *number, struct pm_ir_def *part)
{
    struct pm_ir_def *sum = build_reduce(c, SpvOpGroupNonUniformIAdd, number);
    if (c->layout.lanes_only)
        return (struct pm_gathered_turns){uint_of(c, 0), sum, sum};
    struct pm_ir_def *most = build_reduce(c, SpvOpGroupNonUniformUMax, number);
    struct pm_ir_def *least = build_reduce(c, SpvOpGroupNonUniformUMin, number);
    struct pm_ir_def *whole = build_select(c, part, uint_of(c, 0), least);
    return (struct pm_gathered_turns){
        .whole = whole,
        .parts = build_uint(c, SpvOpISub, most, whole),
        .lanes = build_uint(c, SpvOpISub, sum, build_uint(c, SpvOpIMul, whole, c->entry_lanes)),
    };
}

bool pm_block_gather(const struct pm_block_counts *c, uint32_t with, struct pm_ir_def *part,
                     struct pm_block_gathered *gathered)
{
    struct pm_ir_module *module = c->instrument->module;
    *gathered = (struct pm_block_gathered){
        .words = pm_arena_zalloc(module->arena, field_words(c) + 1u, sizeof *gathered->words),
        .turns = pm_arena_zalloc(module->arena, c->turning_count + 1u, sizeof *gathered->turns),
    };
    if (!gathered->words || !gathered->turns)
        return false;
    for (uint32_t w = 0; w < field_words(c); w++) {
        const uint32_t mask = mask_of(c, with, w);
        if (!mask)
            continue;
        struct pm_ir_def *own =
            build_uint(c, SpvOpBitwiseAnd, load(c, c->fields[w]), uint_of(c, mask));
        gathered->words[w] = build_reduce(c, SpvOpGroupNonUniformIAdd, own);
        gathered->has_fields = true;
    }
    for (uint32_t i = 0; i < c->turning_count; i++)
        if (is_gathered(c, first_turning(c) + i, with))
            gathered->turns[i] = gather_turns(c, load(c, c->turns[first_turning(c) + i]), part);
    return true;
}

struct pm_ir_def *pm_block_gathered_field(const struct pm_block_counts *c,
                                          const struct pm_block_gathered *gathered,
                                          struct pm_ir_def *item, struct pm_ir_def **is_field)
{
    struct pm_ir_def *word = NULL;
    const uint32_t in_word = fields_in_word(c);
    if (!gathered->has_fields)
        return NULL;
    for (uint32_t w = 0; w < field_words(c); w++) {
        struct pm_ir_def *of = gathered->words[w] ? gathered->words[w] : uint_of(c, 0);
        word = word ? build_select(c, build_bool(c, SpvOpULessThan, item, uint_of(c, w * in_word)),
                                   word, of)
                    : of;
    }
    struct pm_ir_def *at =
        build_uint(c, SpvOpIMul, build_uint(c, SpvOpBitwiseAnd, item, uint_of(c, in_word - 1)),
                   uint_of(c, c->field_bits));
    *is_field = build_bool(c, SpvOpULessThan, build_uint(c, SpvOpISub, item, uint_of(c, 1)),
                           uint_of(c, c->field_count));
    return build_uint(c, SpvOpBitwiseAnd, build_uint(c, SpvOpShiftRightLogical, word, at),
                      uint_of(c, (UINT32_C(1) << c->field_bits) - 1));
}
