/*
 * What lanes noted each for itself, where they leave together: over all of them.
 *
 * A field of a register is a lane's entry of a block. Added up over the lanes, a field is how many
 * entered it: all, then that was a whole entry; or some. One operation serves as many blocks as a
 * register has fields. The number of a block in a loop that is passed in each turn is how many
 * turns a lane made: all lanes that are left made the first so many together, the least number; the
 * most is how often a subgroup entered it.
 */
#pragma once

#include "shader_rewrite/instrument/block_state.h"

/* Of one unit's numbers. */
struct pm_gathered_turns {
    struct pm_ir_def *whole; /* how often all entered it that began the shader */
    struct pm_ir_def *parts; /* how often others did; */
    struct pm_ir_def *lanes; /* and how many these were */
};

struct pm_block_gathered {
    bool has_fields;
    struct pm_ir_def **words;        /* of fields, added up; NULL: of none that is added here */
    struct pm_gathered_turns *turns; /* of the last units; NULL in it: not added here */
};

/* Whether there is anything of the kind that is added where lanes leave with those of a point, as
 * in struct pm_block_leaving. */
bool pm_block_gathers(const struct pm_block_counts *counts, uint32_t with);

/* Where these lanes leave, and nobody else is. part: they are not all that began the shader. false:
 * out of memory. */
bool pm_block_gather(const struct pm_block_counts *counts, uint32_t with, struct pm_ir_def *part,
                     struct pm_block_gathered *gathered);

/* Of an item (block_leaving.c), a 32-bit unsigned: how many lanes noted it, if it has a field.
 * NULL: none has one here. *is_field: whether it does. */
struct pm_ir_def *pm_block_gathered_field(const struct pm_block_counts *counts,
                                          const struct pm_block_gathered *gathered,
                                          struct pm_ir_def *item, struct pm_ir_def **is_field);
