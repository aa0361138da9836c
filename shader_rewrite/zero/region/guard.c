#include "shader_rewrite/zero/region/guard.h"

#include "shader_rewrite/quirks/driver_bugs.h"

struct asked {
    const struct pm_zero_round *round;
    const struct pm_zero_region *region;
};

static struct pm_copied_part part_at(const void *user, uint32_t index)
{
    const struct asked *a = user;
    const struct pm_zero_part *part = &a->region->parts[index];
    return (struct pm_copied_part){part->instrs, part->count};
}

static struct pm_copied_value value_of(const void *user, const struct pm_ir_def *def)
{
    const struct asked *a = user;
    const struct pm_zero_state *state = pm_zero_state_of(a->round, a->region, def);
    if (!state)
        return (struct pm_copied_value){0};
    return (struct pm_copied_value){true, state->needed, state->leaves, state->value.same};
}

static bool writes_constant(const void *user, const struct pm_ir_def *def)
{
    const struct asked *a = user;
    return pm_zero_is_constant_in_copy(a->round, a->region, def);
}

const char *pm_zero_guard(const struct pm_zero_round *round, const struct pm_zero_region *region)
{
    const struct asked asked = {round, region};
    return pm_driver_bug(
        &(const struct pm_copied_region){
            .function = round->function,
            .memory = &round->memory,
            .leaving = &round->leaving,
            .levels = &round->levels,
            .check_block = region->parts[0].block,
            .skips_helpers = round->stage == PM_STAGE_FRAGMENT,
            .part_count = region->count,
            .part = part_at,
            .value = value_of,
            .writes_constant = writes_constant,
            .user = &asked,
        },
        round->quirks);
}
