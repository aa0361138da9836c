#include "shader_rewrite/analysis/analysis_transposes.h"

#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/ir/ir_walk.h"

/* Matrices have two to four columns, of as many components. */
enum { MOST_COLUMNS = 4 };

/* In an instruction's `noted`, beside the bits of its plain operands. */
enum { NOTED = 1 << 7 };

static bool is_matrix(const struct pm_ir_instr *value)
{
    const struct pm_ir_instr *type = value ? pm_ir_type_of(value) : NULL;
    return type && type->opcode == SpvOpTypeMatrix;
}

bool pm_takes_matrices(uint16_t opcode)
{
    return opcode == SpvOpTranspose || opcode == SpvOpMatrixTimesVector ||
           opcode == SpvOpVectorTimesMatrix || opcode == SpvOpMatrixTimesScalar ||
           opcode == SpvOpMatrixTimesMatrix;
}

bool pm_is_transposed(const struct pm_ir_instr *value)
{
    return value && value->block && value->transposed;
}

/* ---- what is known ---- */

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

/* As Mesa remembers it. */
static bool makes_transposed(const struct pm_ir_instr *instr)
{
    if (!instr->result || !is_matrix(instr))
        return false;
    switch (instr->opcode) {
    case SpvOpTranspose:
        return !pm_is_transposed(pm_ir_operand_instr(instr, 0));
    case SpvOpCopyObject:
    case SpvOpMatrixTimesScalar:
        return pm_is_transposed(pm_ir_operand_instr(instr, 0));
    case SpvOpMatrixTimesMatrix:
        return pm_is_transposed(pm_ir_operand_instr(instr, 0)) &&
               pm_is_transposed(pm_ir_operand_instr(instr, 1));
    case SpvOpCompositeExtract:
        return pm_is_transposed(extracted(instr));
    default:
        return false;
    }
}

void pm_transposes_find_of(struct pm_ir_instr *value)
{
    value->transposed = makes_transposed(value);
}

void pm_transposes_find(struct pm_ir_module *module)
{
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        pm_transposes_find_of(walk.instr);
}

uint32_t pm_plain_matrices(const struct pm_ir_instr *instr)
{
    uint32_t plain = 0;
    for (uint32_t i = 0; i < instr->operand_count && i < 2; i++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, i);
        if (is_matrix(operand) && !pm_is_transposed(operand))
            plain |= 1u << i;
    }
    return plain;
}

/* ---- the same components, otherwise known ---- */

/* Of a matrix's columns, or a vector's components. */
static uint32_t count_of(const struct pm_ir_instr *type)
{
    const uint32_t count = pm_ir_operand_word(&type->operands[1]);
    return count < MOST_COLUMNS ? count : MOST_COLUMNS;
}

static struct pm_ir_def *component(struct pm_ir_builder *b, struct pm_ir_def *matrix,
                                   struct pm_ir_def *type, uint32_t column, uint32_t row)
{
    return pm_ir_build(b, SpvOpCompositeExtract, type,
                       PM_IR_ARGS(pm_ir_id(matrix), pm_ir_word(column), pm_ir_word(row)));
}

/* A matrix of a matrix's columns, which are nobody's transposed ones. */
static struct pm_ir_def *of_columns(struct pm_ir_builder *b, struct pm_ir_def *matrix)
{
    const struct pm_ir_instr *type = pm_ir_type_of(matrix->instr);
    const uint32_t columns = count_of(type);
    struct pm_ir_arg parts[MOST_COLUMNS] = {0};
    for (uint32_t c = 0; c < columns; c++)
        parts[c] = pm_ir_id(pm_ir_build(b, SpvOpCompositeExtract, type->operands[0].def,
                                        PM_IR_ARGS(pm_ir_id(matrix), pm_ir_word(c))));
    return pm_ir_build(b, SpvOpCompositeConstruct, type->result, parts, columns);
}

/* The transposed one of a matrix that is made of its rows. */
static struct pm_ir_def *of_rows(struct pm_ir_builder *b, struct pm_ir_def *matrix)
{
    const struct pm_ir_instr *type = pm_ir_type_of(matrix->instr);
    const struct pm_ir_instr *column = pm_ir_operand_instr(type, 0);
    struct pm_ir_def *scalar = column->operands[0].def;
    const uint32_t columns = count_of(type), rows = count_of(column);
    struct pm_ir_def *row = pm_ir_type_vector(b->module, scalar, columns);
    struct pm_ir_def *turned =
        pm_ir_global(b->module, SpvOpTypeMatrix, NULL, PM_IR_ARGS(pm_ir_id(row), pm_ir_word(rows)));
    struct pm_ir_arg lines[MOST_COLUMNS] = {0}, parts[MOST_COLUMNS] = {0};
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t c = 0; c < columns; c++)
            parts[c] = pm_ir_id(component(b, matrix, scalar, c, r));
        lines[r] = pm_ir_id(pm_ir_build(b, SpvOpCompositeConstruct, row, parts, columns));
    }
    struct pm_ir_def *again = pm_ir_build(b, SpvOpCompositeConstruct, turned, lines, rows);
    again = pm_ir_build(b, SpvOpTranspose, type->result, PM_IR_ARGS(pm_ir_id(again)));
    if (again) {
        again->instr->noted = NOTED | 1;
        again->instr->transposed = true;
    }
    return again;
}

void pm_transposes_put(struct pm_ir_module *module, struct pm_ir_instr *user, uint32_t plain)
{
    struct pm_ir_builder b = {module, user->block, user};
    for (uint32_t i = 0; i < user->operand_count && i < 2 && !module->failed; i++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(user, i);
        const bool wanted = !(plain >> i & 1);
        if (!is_matrix(operand) || pm_is_transposed(operand) == wanted)
            continue;
        struct pm_ir_def *again =
            wanted ? of_rows(&b, operand->result) : of_columns(&b, operand->result);
        if (again && !module->failed)
            pm_ir_operand_set(&user->operands[i], again);
    }
}

/* ---- from before a pass to behind it ---- */

void pm_transposes_note(struct pm_ir_module *module)
{
    if (!module->transposes)
        return;
    pm_transposes_find(module);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        if (pm_takes_matrices(walk.instr->opcode))
            walk.instr->noted = (uint8_t)(NOTED | pm_plain_matrices(walk.instr));
}

void pm_transposes_note_as(struct pm_ir_module *module, const struct pm_ir_module *other)
{
    if (!other->transposes)
        return;
    module->transposes = true;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        const struct pm_ir_instr *as = pm_takes_matrices(walk.instr->opcode)
                                           ? pm_ir_find(other, walk.instr->result->id)
                                           : NULL;
        if (as)
            walk.instr->noted = as->noted;
    }
}

bool pm_transposes_keep(struct pm_ir_module *module, struct pm_error *error)
{
    if (!module->transposes)
        return true;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        struct pm_ir_instr *instr = walk.instr;
        if (pm_takes_matrices(instr->opcode)) {
            if (!(instr->noted & NOTED))
                return pm_fail(error, PM_ERROR_UNSUPPORTED,
                               "%s is new, and what is to be known of its matrix is not said",
                               pm_ir_opcode_name(instr->opcode));
            pm_transposes_put(module, instr, instr->noted);
        }
        pm_transposes_find_of(instr);
    }
    return true;
}
