/*
 * SPIRV-Tools knows nothing of what is known of a matrix (analysis_transposes.h). So while it runs
 *   - OpTranspose is another operation, which it does not fold: a constant stays transposed
 *   - a product of a matrix that is not known to be transposed is another one, too: where the
 *     optimizer finds a transposed matrix for it, as the variable's value, it gets that one made of
 *     its columns
 *   - and so is what makes a transposed matrix of its columns.
 * Any other product's matrix is known to be transposed. Where the optimizer has put one in its
 * place of which that is forgotten, as an OpPhi where returns meet, it gets that one made of its
 * rows and transposed. Modules without OpTranspose are left as they are.
 */
#include "shader_rewrite/analysis/analysis_transposes.h"
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_walk.h"

/* What stands for each while it is hidden: operations that are folded nowhere, have no side effects
 * and take as many operands. None takes matrices, or makes one, where it is what it says. */
static const struct disguise {
    uint16_t opcode;
    uint8_t plain;    /* bits: which operands are matrices and not transposed */
    uint8_t operands; /* 0: as the opcode says */
    uint16_t as;
} disguises[] = {
    {SpvOpTranspose, 0, 0, SpvOpIsInf},
    {SpvOpTranspose, 1, 0, SpvOpIsNan},
    {SpvOpMatrixTimesVector, 1, 0, SpvOpFMod},
    {SpvOpVectorTimesMatrix, 2, 0, SpvOpFRem},
    {SpvOpMatrixTimesScalar, 1, 0, SpvOpSMulExtended},
    {SpvOpMatrixTimesMatrix, 1, 0, SpvOpIAddCarry},
    {SpvOpMatrixTimesMatrix, 2, 0, SpvOpISubBorrow},
    {SpvOpMatrixTimesMatrix, 3, 0, SpvOpUMulExtended},
    {SpvOpCompositeConstruct, 0, 2, SpvOpUMulExtended},
    {SpvOpCompositeConstruct, 0, 3, SpvOpBitFieldUExtract},
    {SpvOpCompositeConstruct, 0, 4, SpvOpBitFieldInsert},
};
enum { DISGUISES = sizeof disguises / sizeof disguises[0] };

static bool is_matrix(const struct pm_ir_instr *value)
{
    const struct pm_ir_instr *type = value ? pm_ir_type_of(value) : NULL;
    return type && type->opcode == SpvOpTypeMatrix;
}

/* The matrix that is made once more of all of its columns; NULL: it is not. */
static struct pm_ir_def *made_of_columns(const struct pm_ir_instr *construct)
{
    struct pm_ir_def *matrix = NULL;
    if (construct->opcode != SpvOpCompositeConstruct || !is_matrix(construct))
        return NULL;
    for (uint32_t i = 0; i < construct->operand_count; i++) {
        const struct pm_ir_instr *column = pm_ir_operand_instr(construct, i);
        if (!column || column->opcode != SpvOpCompositeExtract || column->operand_count != 2 ||
            pm_ir_operand_word(&column->operands[1]) != i ||
            (matrix && column->operands[0].def != matrix))
            return NULL;
        matrix = column->operands[0].def;
    }
    return matrix && matrix->instr->type.def == construct->type.def ? matrix : NULL;
}

static const struct disguise *disguise_for(const struct pm_ir_instr *instr)
{
    const struct pm_ir_def *again = made_of_columns(instr);
    const bool made_again = again && pm_is_transposed(again->instr);
    const uint32_t plain = made_again ? 0 : pm_plain_matrices(instr);
    if (!made_again && !pm_takes_matrices(instr->opcode))
        return NULL;
    for (int i = 0; i < DISGUISES; i++)
        if (disguises[i].opcode == instr->opcode && disguises[i].plain == plain &&
            (!disguises[i].operands || disguises[i].operands == instr->operand_count))
            return &disguises[i];
    return NULL;
}

/* What it was hidden as; NULL: it is what it says. */
static const struct disguise *disguise_of(const struct pm_ir_instr *instr)
{
    const bool of_matrices = is_matrix(pm_ir_operand_instr(instr, 0)) ||
                             (instr->operand_count > 1 && is_matrix(pm_ir_operand_instr(instr, 1)));
    if (!instr->result || (!of_matrices && !is_matrix(instr)))
        return NULL;
    for (int i = 0; i < DISGUISES; i++)
        if (disguises[i].as == instr->opcode && of_matrices == !disguises[i].operands)
            return &disguises[i];
    return NULL;
}

/* One that was removed is none any more. */
static bool has_transpose(const struct pm_ir_module *module)
{
    if (module->transposes)
        for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
            if (walk.instr->opcode == SpvOpTranspose)
                return true;
    return false;
}

static enum pm_pass_result hide(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    bool *hidden = context, changed = false;
    *hidden = has_transpose(module);
    if (!*hidden)
        return pm_pass_result_of(true, false);
    module->transposes = false;
    pm_transposes_find(module);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        const struct disguise *disguise = disguise_for(walk.instr);
        if (!disguise)
            continue;
        walk.instr->opcode = disguise->as;
        changed = true;
    }
    return pm_pass_result_of(true, changed);
}

static enum pm_pass_result show(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    const bool *hidden = context;
    bool changed = false;
    if (!*hidden)
        return pm_pass_result_of(true, false);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        const struct disguise *disguise = disguise_of(walk.instr);
        const uint32_t bound = module->bound;
        if (disguise)
            walk.instr->opcode = disguise->opcode;
        module->transposes |= walk.instr->opcode == SpvOpTranspose;
        if (pm_takes_matrices(walk.instr->opcode))
            pm_transposes_put(module, walk.instr, disguise ? disguise->plain : 0);
        pm_transposes_find_of(walk.instr);
        changed |= disguise || module->bound != bound;
    }
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_hide_transposes = {"hide transposes", 0, PM_ANALYSIS_ALL, hide};
const struct pm_pass pm_pass_show_transposes = {"show transposes", 0, PM_ANALYSIS_ALL, show};
