/* Which line of a shader's GLSL an instruction went into. */
#pragma once

#include "tools/report/report.h"

struct pm_report_places {
    struct pm_report_place {
        uint32_t block;
        size_t place;
        uint32_t line;
    } * list; /* the lines that have instructions in them, by block and place; the arena's */
    size_t count;
};

/* false: out of memory. */
bool pm_report_places_build(const struct pm_report_shader *shader, struct pm_arena *arena,
                            struct pm_report_places *places);

/* The first line of the block that was made of instructions up to the place or later: a value that
 * SPIRV-Cross folds away is in the line that uses it. The block's last line where there is none
 * such; UINT32_MAX: the block has no lines. */
uint32_t pm_report_places_find(const struct pm_report_places *places, uint32_t block, size_t place);
