/*
 * Between scalarize.c, which walks over a module, and scalarize_ops.c, which splits instructions.
 * A value of a vector or matrix type is known by its parts, column by column.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

enum { PM_MAX_PARTS = 16 };

struct pm_parts {
    struct pm_ir_def *at[PM_MAX_PARTS];
    uint32_t count;            /* all of them */
    uint32_t rows;             /* of a column; a vector is one column */
    struct pm_ir_def *type;    /* of a part */
    struct pm_ir_instr *split; /* the instruction that was split into them; NULL: it stays */
    struct pm_ir_def *whole;   /* put together again; NULL: nobody asked */
};

struct pm_scalarizer {
    struct pm_ir_module *module;
    struct pm_ir_builder builder; /* in front of the instruction being split */
    struct pm_parts **parts;      /* by id; NULL: not known */
    uint32_t bound;               /* of the ids in parts */
};

/* Rows and columns of a type's values: 1 and 1 for scalars; false for other types. */
bool pm_scalarize_shape(const struct pm_ir_def *type, uint32_t *rows, uint32_t *columns,
                        struct pm_ir_def **component);

/* The parts of a value, taken out of it where it is defined if need be. NULL: out of memory. */
struct pm_parts *pm_parts_of(struct pm_scalarizer *s, struct pm_ir_def *value);
/* One of them; of a scalar, itself. */
struct pm_ir_def *pm_part_of(struct pm_scalarizer *s, struct pm_ir_def *value, uint32_t index);

/* Splits an instruction: fills *out, of which count, rows and type are set from the result type, by
 * instructions in front of it. false: it is none of those that are split. */
bool pm_scalarize_instr(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                        struct pm_parts *out);
