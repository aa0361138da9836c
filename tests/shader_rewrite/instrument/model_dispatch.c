#include "tests/shader_rewrite/instrument/model_dispatch.h"

#include <stddef.h>

uint64_t model_lanes(uint32_t subgroup_size)
{
    return UINT64_MAX >> (64 - subgroup_size);
}

static struct model_invocation invocation_of(const struct model_dispatch *dispatch,
                                             const uint32_t group[3], uint32_t index)
{
    struct model_invocation invocation = {.local_index = index};
    if (dispatch->in_quads) {
        const uint32_t quad = index / 4, across = dispatch->size[0] / 2;
        index = (quad / across * 2 + (index >> 1 & 1)) * dispatch->size[0] + quad % across * 2 +
                (index & 1);
    }
    invocation.pixel = index;
    for (int d = 0; d < 3; d++) {
        invocation.local_id[d] = index % dispatch->size[d];
        invocation.group_id[d] = group[d];
        invocation.group_count[d] = dispatch->groups[d];
        invocation.global_id[d] = group[d] * dispatch->size[d] + invocation.local_id[d];
        index /= dispatch->size[d];
    }
    invocation.frag_coord[0] = (float)invocation.global_id[0] + 0.5f;
    invocation.frag_coord[1] = (float)invocation.global_id[1] + 0.5f;
    invocation.frag_coord[3] = 1;
    const uint32_t pixel = (invocation.global_id[1] << 12) + invocation.global_id[0];
    invocation.helper = (pixel * 2654435761u >> 24) < dispatch->helpers;
    return invocation;
}

/* lockstep NULL: one after the other. */
static void run_group(struct model *model, struct lockstep *lockstep,
                      const struct model_dispatch *dispatch, const uint32_t group[3],
                      uint64_t number)
{
    const uint32_t count = dispatch->size[0] * dispatch->size[1] * dispatch->size[2];
    uint32_t subgroup = 0;
    for (uint32_t index = 0; index < count;) {
        struct model_invocation invocations[LOCKSTEP_LANES];
        uint64_t present = 0;
        uint32_t lanes = 0;
        for (uint32_t l = 0; l < LOCKSTEP_LANES && index < count; l++)
            if (dispatch->lanes >> l & 1) {
                invocations[lanes] = invocation_of(dispatch, group, index++);
                invocations[lanes++].lane = l;
                present |= UINT64_C(1) << l;
            }
        subgroup++;
        if (lockstep)
            lockstep_run(lockstep, invocations, present);
        for (uint32_t i = 0; !lockstep && i < lanes; i++)
            model_run(model, &invocations[i], (number << 32) + subgroup);
    }
}

static void run(struct model *model, struct lockstep *lockstep,
                const struct model_dispatch *dispatch)
{
    uint32_t group[3];
    uint64_t number = 0;
    for (group[2] = 0; group[2] < dispatch->groups[2]; group[2]++)
        for (group[1] = 0; group[1] < dispatch->groups[1]; group[1]++)
            for (group[0] = 0; group[0] < dispatch->groups[0]; group[0]++)
                run_group(model, lockstep, dispatch, group, number++);
}

void model_dispatch(struct model *model, const struct model_dispatch *dispatch)
{
    run(model, NULL, dispatch);
}

void model_dispatch_together(struct model *model, const struct model_dispatch *dispatch)
{
    struct lockstep *lockstep = lockstep_create(model, &dispatch->ways);
    run(model, lockstep, dispatch);
    lockstep_destroy(lockstep);
}
