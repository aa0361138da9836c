/*
 * Regions whose S is right, but that some driver would compute wrongly, or not survive: they are
 * left alone on the drivers that have the quirk (quirks.h).
 *
 * A region is the code that a pass would have twice, as it was and as a copy S that does without
 * some of it, with a check that chooses. Nothing here knows the pass: it describes the region and
 * what becomes of its values.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/quirks/leaving_values.h"
#include "shader_rewrite/quirks/levels_of_detail.h"
#include "shader_rewrite/quirks/quirks.h"

/* What becomes of a value in S. */
struct pm_copied_value {
    bool inside;            /* the region writes it; else nothing below is set */
    bool needed;            /* S computes it */
    bool leaves;            /* it is used behind the region */
    struct pm_ir_def *same; /* it equals this value, which S has in its place; NULL: none known */
};

/* The instructions of one block of the region, in order. */
struct pm_copied_part {
    struct pm_ir_instr *const *instrs;
    uint32_t count;
};

struct pm_copied_region {
    const struct pm_ir_function *function; /* its loops are required */
    const struct pm_memory *memory;
    const struct pm_leaving_values *leaving; /* of the function */
    const struct pm_detail_levels *levels;
    uint32_t check_block; /* the block with the check */
    bool skips_helpers;   /* it does not ask helper invocations: those take S with the others */
    uint32_t part_count;

    struct pm_copied_part (*part)(const void *user, uint32_t index);
    struct pm_copied_value (*value)(const void *user, const struct pm_ir_def *def);
    /* Whether S has a constant in the place of this value. */
    bool (*writes_constant)(const void *user, const struct pm_ir_def *def);
    const void *user; /* for these */
};

/* What a driver with these quirks (enum pm_quirk) would get wrong of a region; NULL: nothing. */
const char *pm_driver_bug(const struct pm_copied_region *region, uint32_t quirks);
