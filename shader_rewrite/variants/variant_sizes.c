/* Which subgroup sizes a shader cannot tell from its own. variants.h. */
#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/ir/ir_walk.h"
#include "shader_rewrite/ir/workgroup_size.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variants.h"

#include <string.h>

struct uses {
    bool subgroups;        /* it could tell */
    bool workgroup_memory; /* or lanes could wait for each other without saying so */
    bool atomics;
};

/* Operations of extensions that the grammar has no class for, and promises about lanes. */
static bool is_of_subgroups(const char *extension)
{
    static const char *const parts[] = {"subgroup", "shader_ballot", "cooperative", "reconvergence",
                                        "SPV_INTEL"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(extension, parts[i]))
            return true;
    return false;
}

static bool is_scope(const struct pm_ir_instr *instr, uint32_t operand)
{
    const struct pm_ir_instr *constant = pm_ir_operand_instr(instr, operand);
    return !constant || constant->opcode != SpvOpConstant ||
           pm_ir_operand_word(&constant->operands[0]) == SpvScopeSubgroup;
}

/* One of the values from this operand on is a scope, if any is. */
static bool names_scope(const struct pm_ir_instr *instr, uint32_t operand)
{
    for (uint32_t o = operand; o < instr->operand_count; o++)
        if (instr->operands[o].def && is_scope(instr, o))
            return true;
    return false;
}

/* Of image operands, which begin with a mask at this one, and may name other values too. */
static bool names_image_scope(const struct pm_ir_instr *instr, uint32_t mask)
{
    const uint32_t scoped =
        SpvImageOperandsMakeTexelAvailableMask | SpvImageOperandsMakeTexelVisibleMask;
    return mask < instr->operand_count && (pm_ir_operand_word(&instr->operands[mask]) & scoped) &&
           names_scope(instr, mask + 1);
}

static void look_at(const struct pm_ir_instr *instr, struct uses *uses)
{
    uses->subgroups |= pm_ir_opcode_is(instr->opcode, PM_IR_OP_SUBGROUP);
    if (pm_ir_opcode_is(instr->opcode, PM_IR_OP_ATOMIC)) {
        uses->atomics = true;
        uses->subgroups |= is_scope(instr, 1);
    }
    switch (instr->opcode) {
    case SpvOpLoad:
        uses->subgroups |= names_scope(instr, 1);
        break;
    case SpvOpStore:
    case SpvOpCopyMemory:
        uses->subgroups |= names_scope(instr, 2);
        break;
    case SpvOpImageRead:
    case SpvOpImageSparseRead:
        uses->subgroups |= names_image_scope(instr, 2);
        break;
    case SpvOpImageWrite:
        uses->subgroups |= names_image_scope(instr, 3);
        break;
    case SpvOpExtension:
        uses->subgroups |= is_of_subgroups(pm_ir_operand_text(&instr->operands[0]));
        break;
    case SpvOpDecorate:
        uses->subgroups |= instr->operand_count > 2 &&
                           pm_ir_operand_word(&instr->operands[1]) == SpvDecorationBuiltIn &&
                           pm_builtin_is_of_subgroup(pm_ir_operand_word(&instr->operands[2]));
        break;
    case SpvOpVariable:
        uses->workgroup_memory |=
            pm_ir_operand_word(&instr->operands[0]) == SpvStorageClassWorkgroup;
        break;
    case SpvOpControlBarrier:
        uses->subgroups |= is_scope(instr, 0) || is_scope(instr, 1);
        break;
    case SpvOpMemoryBarrier:
        uses->subgroups |= is_scope(instr, 0);
        break;
    default:
        break;
    }
}

static struct uses uses_of(struct pm_ir_module *module)
{
    struct uses uses = {0};
    for (struct pm_ir_walk w = pm_ir_walk_begin(module); pm_ir_walk_next(&w);)
        look_at(w.instr, &uses);
    return uses;
}

bool pm_variant_tells_subgroups(struct pm_ir_module *module)
{
    return uses_of(module).subgroups;
}

uint32_t pm_variant_subgroup_sizes(const uint32_t *words, size_t count,
                                   const struct pm_subgroup_sizes *sizes)
{
    struct pm_error error;
    struct pm_ir_module *module = sizes->most ? pm_ir_parse(words, count, &error) : NULL;
    if (!module)
        return 0;
    const struct uses uses = uses_of(module);
    const uint32_t lanes = pm_workgroup_invocations(module);
    pm_ir_module_destroy(module);
    uint32_t found = 0;
    for (uint32_t size = sizes->least; size && size <= sizes->most; size *= 2)
        if (!uses.subgroups && lanes > 0 && size != sizes->own &&
            !(uses.workgroup_memory && size < sizes->own) && !(uses.atomics && size > sizes->own) &&
            (uint64_t)size * sizes->most_subgroups >= lanes)
            found |= size;
    return found;
}
