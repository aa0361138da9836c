#include "shader_rewrite/partition/spilled_value.h"

const struct pm_ir_instr *pm_spilled_member(const struct pm_ir_instr *type, uint32_t index,
                                            uint32_t *count)
{
    const struct pm_ir_instr *length;
    switch (type->opcode) {
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        *count = pm_ir_operand_word(&type->operands[1]);
        return pm_ir_operand_instr(type, 0);
    case SpvOpTypeArray:
        length = pm_ir_operand_instr(type, 1);
        *count = length->opcode == SpvOpConstant ? pm_ir_operand_word(&length->operands[0]) : 0;
        return pm_ir_operand_instr(type, 0);
    case SpvOpTypeStruct:
        *count = type->operand_count;
        return index < *count ? pm_ir_operand_instr(type, index) : NULL;
    default:
        *count = 0;
        return NULL;
    }
}

static bool is_composite(const struct pm_ir_instr *type)
{
    return type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix ||
           type->opcode == SpvOpTypeArray || type->opcode == SpvOpTypeStruct;
}

static uint32_t width_of(const struct pm_ir_instr *type)
{
    return type->opcode == SpvOpTypeBool ? 32 : pm_ir_operand_word(&type->operands[0]);
}

uint64_t pm_type_words(const struct pm_ir_instr *type)
{
    uint32_t count;
    uint64_t words = 0;
    if (!type)
        return 0;
    if (!is_composite(type)) {
        bool number = type->opcode == SpvOpTypeInt || type->opcode == SpvOpTypeFloat ||
                      type->opcode == SpvOpTypeBool;
        return number ? (width_of(type) + 31) / 32 : 0;
    }
    const struct pm_ir_instr *first = pm_spilled_member(type, 0, &count);
    if (type->opcode != SpvOpTypeStruct)
        return count * pm_type_words(first) <= UINT32_MAX ? count * pm_type_words(first) : 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t more = pm_type_words(pm_spilled_member(type, i, &count));
        words += more;
        if (!more || words > UINT32_MAX)
            return 0;
    }
    return words;
}

uint32_t pm_spilled_words(const struct pm_ir_instr *type)
{
    uint64_t words = pm_type_words(type);
    return words <= PM_SPILLED_MOST_WORDS ? (uint32_t)words : 0;
}

/* Whether a module may only load, store and convert what is of a type, as those with 8- and 16-bit
 * storage alone. */
static bool is_only_stored(const struct pm_ir_module *module, const struct pm_ir_instr *type)
{
    uint32_t count;
    if (!is_composite(type)) {
        const uint32_t width = width_of(type);
        const SpvCapability needed = type->opcode == SpvOpTypeFloat ? SpvCapabilityFloat16
                                     : width == 16                  ? SpvCapabilityInt16
                                                                    : SpvCapabilityInt8;
        return width < 32 && !pm_ir_has_capability(module, needed);
    }
    pm_spilled_member(type, 0, &count);
    for (uint32_t i = 0; i < count; i++)
        if (is_only_stored(module, pm_spilled_member(type, i, &count)))
            return true;
    return false;
}

bool pm_can_be_spilled(const struct pm_ir_module *module, const struct pm_ir_instr *type)
{
    return pm_spilled_words(type) > 0 && !is_only_stored(module, type);
}

bool pm_is_handle(const struct pm_ir_instr *type)
{
    if (!type)
        return false;
    switch (type->opcode) {
    case SpvOpTypePointer:
    case SpvOpTypeImage:
    case SpvOpTypeSampler:
    case SpvOpTypeSampledImage:
    case SpvOpTypeAccelerationStructureKHR:
        return true;
    default:
        return false;
    }
}

static struct pm_ir_def *uint_type(struct pm_ir_module *module, uint32_t width)
{
    return pm_ir_type_int(module, width, false);
}

/* Twice 16 bits are a word: no 16-bit integer is needed, which the module may not have. */
static struct pm_ir_def *half_pair(struct pm_ir_module *module, const struct pm_ir_instr *half)
{
    return pm_ir_type_vector(module, half->result, 2);
}

static bool is_half(const struct pm_ir_instr *type)
{
    return type->opcode == SpvOpTypeFloat && width_of(type) == 16;
}

/* A scalar's words. */
static uint32_t split_scalar(struct pm_ir_builder *b, const struct pm_ir_instr *type,
                             struct pm_ir_def *value, struct pm_ir_def **words)
{
    struct pm_ir_module *module = b->module;
    struct pm_ir_def *uint = uint_type(module, 32);
    uint32_t width = width_of(type);
    if (type->opcode == SpvOpTypeBool) {
        words[0] = pm_ir_build(b, SpvOpSelect, uint,
                               PM_IR_ARGS(pm_ir_id(value), pm_ir_id(pm_ir_constant_uint(module, 1)),
                                          pm_ir_id(pm_ir_constant_uint(module, 0))));
        return 1;
    }
    if (width == 64) {
        struct pm_ir_def *pair = pm_ir_build(b, SpvOpBitcast, pm_ir_type_vector(module, uint, 2),
                                             PM_IR_ARGS(pm_ir_id(value)));
        for (uint32_t half = 0; half < 2; half++)
            words[half] = pm_ir_build(b, SpvOpCompositeExtract, uint,
                                      PM_IR_ARGS(pm_ir_id(pair), pm_ir_word(half)));
        return 2;
    }
    if (is_half(type)) {
        struct pm_ir_def *pair = pm_ir_build(b, SpvOpCompositeConstruct, half_pair(module, type),
                                             PM_IR_ARGS(pm_ir_id(value), pm_ir_id(value)));
        words[0] = pm_ir_build(b, SpvOpBitcast, uint, PM_IR_ARGS(pm_ir_id(pair)));
        return 1;
    }
    bool is_uint = type->opcode == SpvOpTypeInt && !pm_ir_operand_word(&type->operands[1]);
    if (!is_uint)
        value = pm_ir_build(b, SpvOpBitcast, uint_type(module, width), PM_IR_ARGS(pm_ir_id(value)));
    words[0] =
        width == 32 ? value : pm_ir_build(b, SpvOpUConvert, uint, PM_IR_ARGS(pm_ir_id(value)));
    return 1;
}

static uint32_t split(struct pm_ir_builder *b, const struct pm_ir_instr *type,
                      struct pm_ir_def *value, struct pm_ir_def **words)
{
    uint32_t count, filled = 0;
    if (!value || b->module->failed)
        return 0;
    if (!is_composite(type))
        return split_scalar(b, type, value, words);
    pm_spilled_member(type, 0, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_ir_instr *of = pm_spilled_member(type, i, &count);
        struct pm_ir_def *part = pm_ir_build(b, SpvOpCompositeExtract, of->result,
                                             PM_IR_ARGS(pm_ir_id(value), pm_ir_word(i)));
        filled += split(b, of, part, words + filled);
    }
    return filled;
}

void pm_spilled_split(struct pm_ir_builder *builder, struct pm_ir_def *value,
                      struct pm_ir_def **words)
{
    if (value)
        split(builder, pm_ir_type_of(value->instr), value, words);
}

static struct pm_ir_def *join_scalar(struct pm_ir_builder *b, const struct pm_ir_instr *type,
                                     struct pm_ir_def *const *words)
{
    struct pm_ir_module *module = b->module;
    struct pm_ir_def *uint = uint_type(module, 32), *value = words[0];
    uint32_t width = width_of(type);
    if (type->opcode == SpvOpTypeBool)
        return pm_ir_build(b, SpvOpINotEqual, type->result,
                           PM_IR_ARGS(pm_ir_id(value), pm_ir_id(pm_ir_constant_uint(module, 0))));
    if (is_half(type)) {
        value = pm_ir_build(b, SpvOpBitcast, half_pair(module, type), PM_IR_ARGS(pm_ir_id(value)));
        return pm_ir_build(b, SpvOpCompositeExtract, type->result,
                           PM_IR_ARGS(pm_ir_id(value), pm_ir_word(0)));
    }
    if (width == 64)
        value = pm_ir_build(b, SpvOpCompositeConstruct, pm_ir_type_vector(module, uint, 2),
                            PM_IR_ARGS(pm_ir_id(words[0]), pm_ir_id(words[1])));
    else if (width < 32)
        value =
            pm_ir_build(b, SpvOpUConvert, uint_type(module, width), PM_IR_ARGS(pm_ir_id(value)));
    bool is_uint = type->opcode == SpvOpTypeInt && !pm_ir_operand_word(&type->operands[1]);
    if (is_uint && width <= 32)
        return value;
    return pm_ir_build(b, SpvOpBitcast, type->result, PM_IR_ARGS(pm_ir_id(value)));
}

/* *used: how many words it took. */
static struct pm_ir_def *join(struct pm_ir_builder *b, const struct pm_ir_instr *type,
                              struct pm_ir_def *const *words, uint32_t *used)
{
    uint32_t count;
    if (b->module->failed)
        return NULL;
    if (!is_composite(type)) {
        *used += pm_spilled_words(type);
        return join_scalar(b, type, words);
    }
    pm_spilled_member(type, 0, &count);
    struct pm_ir_arg *args = pm_arena_zalloc(b->module->arena, count, sizeof(*args));
    if (!args) {
        b->module->failed = true;
        return NULL;
    }
    uint32_t before = *used;
    for (uint32_t i = 0; i < count; i++)
        args[i] =
            pm_ir_id(join(b, pm_spilled_member(type, i, &count), words + (*used - before), used));
    return pm_ir_build(b, SpvOpCompositeConstruct, type->result, args, count);
}

struct pm_ir_def *pm_spilled_join(struct pm_ir_builder *builder, const struct pm_ir_instr *type,
                                  struct pm_ir_def *const *words)
{
    uint32_t used = 0;
    return join(builder, type, words, &used);
}
