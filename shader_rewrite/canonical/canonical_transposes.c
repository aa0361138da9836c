/*
 * Whether a matrix is a transposed one is seen in the bits of its products. Mesa remembers of a
 * value that OpTranspose made it, and multiplies the rows of what was transposed: dot products,
 * which sum in another order than columns times components do (vtn_alu.c, matrix_multiply; seen:
 * lavapipe 22.3). It does not of what a variable, a phi, a call or OpCompositeConstruct gives. So
 * while the optimizer runs
 *   - OpTranspose is another operation, which it does not fold: a constant stays transposed
 *   - a product of a matrix that is not remembered so is another one, too: where the optimizer
 *     finds a transposed matrix for it, as the variable's value, it gets that one made of its
 *     columns
 *   - and so is what makes a transposed matrix of its columns.
 * Modules without OpTranspose are left as they are.
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"
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

/* In an instruction's mark. */
enum { TRANSPOSED = 1 };

static bool is_matrix(const struct pm_ir_instr *value)
{
    const struct pm_ir_instr *type = value ? pm_ir_type_of(value) : NULL;
    return type && type->opcode == SpvOpTypeMatrix;
}

static bool takes_matrices(uint16_t opcode)
{
    return opcode == SpvOpTranspose || opcode == SpvOpMatrixTimesVector ||
           opcode == SpvOpVectorTimesMatrix || opcode == SpvOpMatrixTimesScalar ||
           opcode == SpvOpMatrixTimesMatrix;
}

static bool is_transposed(const struct pm_ir_instr *value)
{
    return value && value->block && (value->mark & TRANSPOSED);
}

/* What is extracted of a structure that was put together, copied or inserted into is what was put
 * there; NULL: it is not known, or forgotten by what was inserted beside it. */
static const struct pm_ir_instr *extracted(const struct pm_ir_instr *from)
{
    enum { DEPTH = 16 };
    uint32_t indices[DEPTH], depth = 0; /* the outermost comes last */
    do {
        const bool inserts = from->opcode == SpvOpCompositeInsert;
        const uint32_t count = from->operand_count;
        if (from->opcode == SpvOpCompositeExtract) {
            for (uint32_t i = count; i > 1; i--) {
                if (depth == DEPTH)
                    return NULL;
                indices[depth++] = pm_ir_operand_word(&from->operands[i - 1]);
            }
            from = pm_ir_operand_instr(from, 0);
        } else if (from->opcode == SpvOpCopyObject) {
            from = pm_ir_operand_instr(from, 0);
        } else if (from->opcode == SpvOpCompositeConstruct && indices[depth - 1] < count) {
            from = pm_ir_operand_instr(from, indices[--depth]);
        } else if (inserts && count - 2 <= depth) {
            for (uint32_t i = 2; i < count; i++)
                if (pm_ir_operand_word(&from->operands[i]) != indices[--depth])
                    return NULL;
            from = pm_ir_operand_instr(from, 0);
        } else {
            return NULL;
        }
    } while (from && depth > 0);
    return from;
}

/* As Mesa remembers it. Operands are marked already. */
static bool makes_transposed(const struct pm_ir_instr *instr)
{
    if (!instr->result || !is_matrix(instr))
        return false;
    switch (instr->opcode) {
    case SpvOpTranspose:
        return !is_transposed(pm_ir_operand_instr(instr, 0));
    case SpvOpCopyObject:
    case SpvOpMatrixTimesScalar:
        return is_transposed(pm_ir_operand_instr(instr, 0));
    case SpvOpMatrixTimesMatrix:
        return is_transposed(pm_ir_operand_instr(instr, 0)) &&
               is_transposed(pm_ir_operand_instr(instr, 1));
    case SpvOpCompositeExtract:
        return is_transposed(extracted(instr));
    default:
        return false;
    }
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

static uint32_t plain_operands(const struct pm_ir_instr *instr)
{
    uint32_t plain = 0;
    for (uint32_t i = 0; i < instr->operand_count && i < 2; i++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, i);
        if (is_matrix(operand) && !is_transposed(operand))
            plain |= 1u << i;
    }
    return plain;
}

static const struct disguise *disguise_for(const struct pm_ir_instr *instr)
{
    const struct pm_ir_def *again = made_of_columns(instr);
    const bool made_again = again && is_transposed(again->instr);
    const uint32_t plain = made_again ? 0 : plain_operands(instr);
    if (!made_again && !takes_matrices(instr->opcode))
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

static void put_again(struct pm_ir_module *module, struct pm_ir_instr *user, uint32_t operand)
{
    struct pm_ir_builder b = {module, user->block, user};
    struct pm_ir_def *matrix = user->operands[operand].def;
    const struct pm_ir_instr *type = pm_ir_type_of(matrix->instr);
    const uint32_t count = pm_ir_operand_word(&type->operands[1]);
    struct pm_ir_arg columns[4];
    for (uint32_t i = 0; i < count && i < 4; i++)
        columns[i] = pm_ir_id(pm_ir_build(&b, SpvOpCompositeExtract, type->operands[0].def,
                                          PM_IR_ARGS(pm_ir_id(matrix), pm_ir_word(i))));
    struct pm_ir_def *again =
        pm_ir_build(&b, SpvOpCompositeConstruct, type->result, columns, count < 4 ? count : 4);
    if (!module->failed)
        pm_ir_operand_set(&user->operands[operand], again);
}

static void clear_marks(struct pm_ir_module *module)
{
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        walk.instr->mark = 0;
}

static bool has_transpose(const struct pm_ir_module *module)
{
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        if (walk.instr->opcode == SpvOpTranspose)
            return true;
    return false;
}

/* In two turns: makes_transposed asks what instructions are. */
static enum pm_pass_result hide(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    (void)error;
    bool changed = false;
    if (!has_transpose(module))
        return pm_pass_result_of(true, false);
    clear_marks(module);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        walk.instr->mark = makes_transposed(walk.instr) ? TRANSPOSED : 0;
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
    (void)context;
    bool changed = false;
    clear_marks(module);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        const struct disguise *disguise = disguise_of(walk.instr);
        if (disguise) {
            walk.instr->opcode = disguise->opcode;
            for (uint32_t i = 0; i < 2; i++)
                if ((disguise->plain >> i & 1) && is_transposed(pm_ir_operand_instr(walk.instr, i)))
                    put_again(module, walk.instr, i);
            changed = true;
        }
        walk.instr->mark = makes_transposed(walk.instr) ? TRANSPOSED : 0;
    }
    const bool ok = !module->failed || pm_fail(error, PM_ERROR_MEMORY, "out of memory or ids");
    return pm_pass_result_of(ok, changed);
}

const struct pm_pass pm_pass_hide_transposes = {"hide transposes", 0, PM_ANALYSIS_ALL, hide};
const struct pm_pass pm_pass_show_transposes = {"show transposes", 0, PM_ANALYSIS_ALL, show};
