/* A module as SPIR-V assembly, with the block that each line is of. */
#pragma once

#include "tools/report/report_costs.h"

/* words: as the costs are of. The arena's. */
bool pm_report_spirv_build(const uint32_t *words, size_t count, const struct pm_report_costs *costs,
                           struct pm_arena *arena, struct pm_report_text *text,
                           struct pm_error *error);
