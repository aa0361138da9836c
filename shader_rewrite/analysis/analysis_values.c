#include "shader_rewrite/analysis/analysis_values.h"

#include "shader_rewrite/analysis/analysis_casts.h"
#include "shader_rewrite/ir/ir_builder.h"

struct finder {
    const struct pm_dominators *dominators;
    /* Extracts that others may repeat, hashed by composite and place in it. */
    struct pm_ir_instr **extracts;
    uint32_t extract_mask;
    struct pm_number_types types;
    const bool *disguised;
};

static const struct pm_ir_instr *scalar_of(const struct pm_ir_instr *type)
{
    return type && type->opcode == SpvOpTypeVector ? pm_ir_operand_instr(type, 0) : type;
}

bool pm_values_is_float(const struct pm_ir_instr *type)
{
    const struct pm_ir_instr *scalar = scalar_of(type);
    return scalar && scalar->opcode == SpvOpTypeFloat;
}

bool pm_values_is_float_value(const struct pm_values *values, const struct pm_ir_instr *instr)
{
    return pm_values_is_float(pm_ir_type_of(instr)) || values->disguised[instr->result->id];
}

struct pm_number_types pm_number_types_of(const struct pm_ir_module *module)
{
    return (struct pm_number_types){
        .int8 = pm_ir_has_capability(module, SpvCapabilityInt8),
        .int16 = pm_ir_has_capability(module, SpvCapabilityInt16),
        .int64 = pm_ir_has_capability(module, SpvCapabilityInt64),
        .float16 = pm_ir_has_capability(module, SpvCapabilityFloat16),
    };
}

bool pm_number_types_has(const struct pm_number_types *types, const struct pm_ir_instr *type)
{
    const struct pm_ir_instr *scalar = scalar_of(type);
    if (!scalar || (scalar->opcode != SpvOpTypeFloat && scalar->opcode != SpvOpTypeInt))
        return false;
    bool is_float = scalar->opcode == SpvOpTypeFloat;
    switch (pm_ir_operand_word(&scalar->operands[0])) {
    case 8:
        return !is_float && types->int8;
    case 16:
        return is_float ? types->float16 : types->int16;
    case 32:
        return true;
    case 64:
        return is_float || types->int64;
    default:
        return false;
    }
}

/* How many numbers a value of the type holds; 0: none that are looked at. */
static uint32_t components_of(const struct finder *f, const struct pm_ir_instr *type)
{
    if (!pm_number_types_has(&f->types, type))
        return 0;
    if (type->opcode != SpvOpTypeVector)
        return 1;
    uint32_t count = pm_ir_operand_word(&type->operands[1]);
    return count >= 2 && count <= 4 ? count : 0;
}

static bool is_outside_functions(const struct pm_ir_instr *instr)
{
    return !instr || !instr->block || instr->opcode == SpvOpUndef || pm_is_constant_cast(instr);
}

/* All of an instruction's id operands at even places are the same definition, or the instruction's
 * own result. */
static bool is_trivial_phi(const struct pm_ir_instr *phi)
{
    const struct pm_ir_def *only = NULL;
    for (uint32_t i = 0; i < phi->operand_count; i += 2) {
        const struct pm_ir_def *from = phi->operands[i].def;
        if (from == phi->result || from == only)
            continue;
        if (only)
            return false;
        only = from;
    }
    return true;
}

/* Repeats one value, or holds only constants. */
static bool is_trivial_construct(const struct pm_ir_instr *construct)
{
    bool same = true, constant = true;
    for (uint32_t i = 0; i < construct->operand_count; i++) {
        same = same && construct->operands[i].def == construct->operands[0].def;
        constant = constant && is_outside_functions(pm_ir_operand_instr(construct, i));
    }
    return same || constant;
}

/* What a shuffle takes is all of one vector, or its leading components, in whatever order: then
 * that, or a prefix of it, is zero when the shuffle is. */
static bool is_trivial_shuffle(const struct pm_ir_instr *shuffle)
{
    const struct pm_ir_instr *vectors[2] = {pm_ir_operand_instr(shuffle, 0),
                                            pm_ir_operand_instr(shuffle, 1)};
    const struct pm_ir_instr *type = vectors[0] ? pm_ir_type_of(vectors[0]) : NULL;
    if (!type || type->opcode != SpvOpTypeVector)
        return true;
    uint32_t width = pm_ir_operand_word(&type->operands[1]), taken = 0;
    bool first = true, second = true;
    for (uint32_t i = 2; i < shuffle->operand_count; i++) {
        uint32_t from = pm_ir_operand_word(&shuffle->operands[i]);
        first = first && from < width;
        second = second && from >= width && from != UINT32_MAX;
        taken |= from == UINT32_MAX ? 0 : 1u << (from < width ? from : from - width) % 32;
    }
    if (vectors[0] == vectors[1])
        first = true;
    bool one = first || second;
    if (one && is_outside_functions(vectors[first ? 0 : 1]))
        return true;
    bool leading = (taken & (taken + 1)) == 0;
    return one && leading && taken != 1;
}

static uint32_t hash_extract(const struct pm_ir_instr *extract)
{
    uint32_t hash = pm_ir_operand_id(&extract->operands[0]);
    for (uint32_t i = 1; i < extract->operand_count; i++)
        hash = (hash ^ pm_ir_operand_word(&extract->operands[i])) * 0x9e3779b1u + i;
    return hash ^ hash >> 15;
}

static bool is_same_extract(const struct pm_ir_instr *a, const struct pm_ir_instr *b)
{
    if (a->operand_count != b->operand_count || a->operands[0].def != b->operands[0].def)
        return false;
    for (uint32_t i = 1; i < a->operand_count; i++)
        if (pm_ir_operand_word(&a->operands[i]) != pm_ir_operand_word(&b->operands[i]))
            return false;
    return true;
}

static bool is_repeated_extract(struct finder *f, struct pm_ir_instr *extract)
{
    const struct pm_ir_instr *composite = pm_ir_operand_instr(extract, 0);
    if (is_outside_functions(composite) || composite->opcode == SpvOpCompositeConstruct)
        return true;
    uint32_t at = hash_extract(extract) & f->extract_mask;
    while (f->extracts[at] && !is_same_extract(f->extracts[at], extract))
        at = (at + 1) & f->extract_mask;
    if (!f->extracts[at]) {
        f->extracts[at] = extract;
        return false;
    }
    return pm_dominates(f->dominators, f->extracts[at]->block->index, extract->block->index);
}

/* Between integers, or of what is a float in disguise, or to that. */
static bool is_renaming_cast(const struct finder *f, const struct pm_ir_instr *cast)
{
    const struct pm_ir_instr *from = pm_ir_operand_instr(cast, 0);
    if (!pm_is_component_cast(cast))
        return false;
    bool is_float = pm_values_is_float(pm_ir_type_of(cast));
    if (is_float == pm_values_is_float(pm_ir_type_of(from)) || is_outside_functions(from))
        return true;
    return f->disguised[(is_float ? from : cast)->result->id];
}

static bool is_rename(struct finder *f, struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpUndef:
    case SpvOpCopyObject:
    case SpvOpCopyLogical:
        return true;
    case SpvOpPhi:
        return is_trivial_phi(instr);
    case SpvOpCompositeConstruct:
        return is_trivial_construct(instr);
    case SpvOpVectorShuffle:
        return is_trivial_shuffle(instr);
    case SpvOpCompositeExtract:
        return is_repeated_extract(f, instr);
    case SpvOpBitcast:
        return is_renaming_cast(f, instr);
    default:
        return false;
    }
}

static bool make_table(struct finder *f, const struct pm_cfg *cfg, struct pm_arena *arena)
{
    uint32_t extracts = 0, size = 16;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            extracts += i->opcode == SpvOpCompositeExtract;
    while (size < 2 * extracts)
        size *= 2;
    f->extract_mask = size - 1;
    f->extracts = pm_arena_zalloc(arena, size, sizeof(struct pm_ir_instr *));
    return f->extracts != NULL;
}

bool pm_values_find(const struct pm_ir_function *function, struct pm_arena *arena,
                    struct pm_values *out)
{
    const struct pm_ir_module *module = function->module;
    const struct pm_cfg *cfg = pm_cfg(function);
    struct finder f = {
        .dominators = pm_dominators(function),
        .types = pm_number_types_of(module),
    };
    out->bound = module->bound;
    out->components = pm_arena_zalloc(arena, module->bound, sizeof(uint32_t));
    f.disguised = out->disguised = pm_disguised_floats_find(function, arena);
    if (!out->components || !out->disguised || !make_table(&f, cfg, arena))
        return false;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!pm_cfg_reachable(cfg, b))
            continue;
        for (struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next) {
            uint32_t components = i->result ? components_of(&f, pm_ir_type_of(i)) : 0;
            if (components && !is_rename(&f, i))
                out->components[i->result->id] = components;
        }
    }
    return true;
}
