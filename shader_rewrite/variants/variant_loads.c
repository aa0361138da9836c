/*
 * Loads of memory that nothing writes while the shader runs: push constants, uniform buffers and
 * inputs. Volatile ones, and memory whose size only the buffer knows, are left alone.
 */
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variant_passes.h"

/* Uses in other blocks of a value that is loaded again for them. */
enum { MOST_REPEATED = 16 };

static uint32_t storage_of(const struct pm_ir_instr *pointer)
{
    return pm_ir_operand_word(&pm_ir_type_of(pointer)->operands[0]);
}

/* A load, with no more memory operands than none, of memory that stays what it is. */
static bool is_constant_load(const struct pm_memory *memory, const struct pm_ir_instr *instr)
{
    if (instr->opcode != SpvOpLoad || instr->operand_count != 1 || instr->result->decorated)
        return false;
    const struct pm_memory_access access = pm_memory_access_of(memory, instr);
    const uint32_t storage = storage_of(pm_ir_operand_instr(instr, 0));
    return !access.writes && !access.reads &&
           (storage == SpvStorageClassPushConstant || storage == SpvStorageClassUniform ||
            storage == SpvStorageClassInput);
}

/* ---- one load of a vector ---- */

/* The chain without its last index goes to a vector of constant place: its base pointer, and what
 * the last index is. */
static bool is_component_chain(const struct pm_ir_instr *chain, uint32_t *index)
{
    if ((chain->opcode != SpvOpAccessChain && chain->opcode != SpvOpInBoundsAccessChain) ||
        chain->operand_count < 2 || chain->result->decorated)
        return false;
    for (uint32_t o = 1; o < chain->operand_count; o++) {
        const struct pm_ir_instr *number = pm_ir_operand_instr(chain, o);
        if (!number || number->opcode != SpvOpConstant)
            return false;
    }
    *index = pm_ir_operand_word(&pm_ir_operand_instr(chain, chain->operand_count - 1)->operands[0]);
    return true;
}

static const struct pm_ir_instr *step_into(const struct pm_ir_instr *type,
                                           const struct pm_ir_instr *number)
{
    const uint32_t index = pm_ir_operand_word(&number->operands[0]);
    switch (type->opcode) {
    case SpvOpTypeStruct:
        return index < type->operand_count ? pm_ir_operand_instr(type, index) : NULL;
    case SpvOpTypeArray:
    case SpvOpTypeMatrix:
    case SpvOpTypeVector:
        return pm_ir_operand_instr(type, 0);
    default:
        return NULL;
    }
}

/* The vector type that the chain goes into with its last index; NULL: it is none, or may lie
 * outside of what is bound. */
static const struct pm_ir_instr *vector_of(const struct pm_ir_instr *chain)
{
    const struct pm_ir_instr *base = pm_ir_operand_instr(chain, 0);
    if (base->opcode != SpvOpVariable)
        return NULL;
    const struct pm_ir_instr *type = pm_ir_operand_instr(pm_ir_type_of(base), 1);
    for (uint32_t o = 1; type && o + 1 < chain->operand_count; o++)
        type = step_into(type, pm_ir_operand_instr(chain, o));
    return type && type->opcode == SpvOpTypeVector ? type : NULL;
}

static bool is_same_vector(const struct pm_ir_instr *a, const struct pm_ir_instr *b)
{
    if (a->operand_count != b->operand_count || a->operands[0].def != b->operands[0].def)
        return false;
    for (uint32_t o = 1; o + 1 < a->operand_count; o++)
        if (a->operands[o].def != b->operands[o].def)
            return false;
    return true;
}

/* The next load behind `from` in its block of another component of the vector. NULL: none. */
static struct pm_ir_instr *next_of(const struct pm_memory *memory, const struct pm_ir_instr *from)
{
    uint32_t index;
    for (struct pm_ir_instr *i = from->next; i; i = i->next)
        if (is_constant_load(memory, i) && is_component_chain(pm_ir_operand_instr(i, 0), &index) &&
            is_same_vector(pm_ir_operand_instr(from, 0), pm_ir_operand_instr(i, 0)))
            return i;
    return NULL;
}

/* A buffer may be bound up to what is read of it, so the last component must be loaded, too. (Where
 * that lies outside, robust access may give 0 for all.) */
static bool is_bound_whole(const struct pm_memory *memory, struct pm_ir_instr *load,
                           const struct pm_ir_instr *vector)
{
    const uint32_t storage = storage_of(pm_ir_operand_instr(load, 0));
    uint32_t last = 0, index;
    for (struct pm_ir_instr *i = load; i; i = next_of(memory, i))
        if (is_component_chain(pm_ir_operand_instr(i, 0), &index) && index > last)
            last = index;
    return storage == SpvStorageClassPushConstant || storage == SpvStorageClassInput ||
           last + 1 == pm_ir_operand_word(&vector->operands[1]);
}

/* The load of the vector; NULL: there is none to make. */
static struct pm_ir_instr *load_whole(struct pm_ir_module *module, const struct pm_memory *memory,
                                      struct pm_ir_instr *load)
{
    uint32_t index;
    struct pm_ir_instr *chain = pm_ir_operand_instr(load, 0);
    if (!is_constant_load(memory, load) || !is_component_chain(chain, &index))
        return NULL;
    const struct pm_ir_instr *vector = vector_of(chain);
    if (!vector || !next_of(memory, load) || !is_bound_whole(memory, load, vector))
        return NULL;
    struct pm_ir_builder builder = {module, load->block, load};
    struct pm_ir_arg args[16];
    const uint32_t count = chain->operand_count - 1;
    if (count > sizeof args / sizeof *args)
        return NULL;
    for (uint32_t o = 0; o < count; o++)
        args[o] = pm_ir_id(chain->operands[o].def);
    struct pm_ir_def *pointer =
        pm_ir_build(&builder, SpvOpAccessChain,
                    pm_ir_type_pointer(module, (SpvStorageClass)storage_of(chain), vector->result),
                    args, count);
    struct pm_ir_def *whole =
        pm_ir_build(&builder, SpvOpLoad, vector->result, PM_IR_ARGS(pm_ir_id(pointer)));
    for (struct pm_ir_instr *i = load, *next; whole && i; i = next) {
        next = next_of(memory, i);
        is_component_chain(pm_ir_operand_instr(i, 0), &index);
        builder.before = i;
        struct pm_ir_def *part = pm_ir_build(&builder, SpvOpCompositeExtract, i->type.def,
                                             PM_IR_ARGS(pm_ir_id(whole), pm_ir_word(index)));
        if (!part)
            return NULL;
        pm_ir_replace_uses(i->result, part);
        pm_ir_remove(i);
    }
    return whole ? whole->instr : NULL;
}

/* ---- loading again ---- */

/* A chain that can be made anywhere: of constants and a variable. */
static bool is_anywhere(const struct pm_ir_instr *pointer)
{
    uint32_t index;
    return pointer->opcode == SpvOpVariable ||
           (is_component_chain(pointer, &index) &&
            pm_ir_operand_instr(pointer, 0)->opcode == SpvOpVariable);
}

static struct pm_ir_def *load_again(struct pm_ir_module *module, const struct pm_ir_instr *load,
                                    struct pm_ir_block *block)
{
    struct pm_ir_builder builder = {module, block, pm_ir_block_start(block)};
    const struct pm_ir_instr *chain = pm_ir_operand_instr(load, 0);
    struct pm_ir_def *pointer = chain->result;
    struct pm_ir_arg args[16];
    if (chain->opcode != SpvOpVariable) {
        if (chain->operand_count > sizeof args / sizeof *args)
            return NULL;
        for (uint32_t o = 0; o < chain->operand_count; o++)
            args[o] = pm_ir_id(chain->operands[o].def);
        pointer = pm_ir_build(&builder, chain->opcode, chain->type.def, args, chain->operand_count);
    }
    return pm_ir_build(&builder, SpvOpLoad, load->type.def, PM_IR_ARGS(pm_ir_id(pointer)));
}

static bool is_plain_value(const struct pm_ir_instr *type)
{
    type = pm_ir_component_type(type);
    return type->opcode == SpvOpTypeFloat || type->opcode == SpvOpTypeInt;
}

/* A use in another block that may name what is loaded there. */
static struct pm_ir_operand *far_use(const struct pm_ir_instr *load)
{
    for (struct pm_ir_operand *use = load->result->first_use; use; use = use->next_use)
        if (use->user->block && use->user->block != load->block && use->user->opcode != SpvOpPhi)
            return use;
    return NULL;
}

static bool repeat(struct pm_ir_module *module, const struct pm_memory *memory,
                   struct pm_ir_instr *load)
{
    bool changed = false;
    if (!is_constant_load(memory, load) || !is_anywhere(pm_ir_operand_instr(load, 0)) ||
        !is_plain_value(pm_ir_type_of(load)))
        return false;
    for (uint32_t times = 0; times < MOST_REPEATED; times++) {
        const struct pm_ir_operand *far = far_use(load);
        if (!far)
            break;
        struct pm_ir_block *block = far->user->block;
        struct pm_ir_def *again = load_again(module, load, block);
        if (!again)
            return changed;
        changed = true;
        for (struct pm_ir_operand *use = load->result->first_use, *next; use; use = next) {
            next = use->next_use;
            if (use->user->block == block && use->user->opcode != SpvOpPhi)
                pm_ir_operand_set(use, again);
        }
    }
    return changed;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    const enum pm_loads how = *(const uint32_t *)context;
    const struct pm_memory memory = pm_memory_of(module);
    const struct pm_ir_function *function = pm_variant_function(module);
    bool changed = false;
    for (struct pm_ir_block *b = function ? function->first_block : NULL; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            struct pm_ir_instr *whole =
                how == PM_LOADS_WHOLE ? load_whole(module, &memory, i) : NULL;
            changed |= whole || (how == PM_LOADS_REPEAT && repeat(module, &memory, i));
            i = whole ? whole : i;
        }
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_loads = {"loads", 0, PM_ANALYSIS_ALL, run};
