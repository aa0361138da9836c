#include "tests/shader_rewrite/instrument/modelled_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void modelled_give(struct modelled *call, struct model *model)
{
    for (size_t i = 0; i < call->words[call->output]; i++)
        call->buffers[call->output][i] = 0x5a5a5a5a;
    for (uint32_t b = 0; b < MODEL_BUFFERS; b++)
        if (call->buffers[b])
            model_set_buffer(model, b, call->buffers[b], call->words[b]);
    if (call->push)
        model_set_push(model, call->push, call->push_words);
    if (call->uniform)
        model_set_uniform(model, call->uniform_binding, call->uniform, call->uniform_words);
    if (call->stand_ins)
        model_use_stand_ins(model);
}

void modelled_run_together(void *user, struct model *model)
{
    struct modelled *call = user;
    modelled_give(call, model);
    model_dispatch_together(model, &call->dispatch);
    const uint32_t *output = call->buffers[call->output];
    for (size_t i = 0; i < call->words[call->output]; i++)
        if (output[i] != call->expected[i])
            fail_msg("%s: instrumented it writes 0x%08x to word %zu, not 0x%08x", call->shader.name,
                     output[i], i, call->expected[i]);
}

void modelled_find_truth(struct modelled *call)
{
    struct exact_shader *shader = &call->shader;
    struct model *model = model_create(shader->canonical.data, shader->canonical.count);
    struct model_counts *points = calloc(shader->points.count, sizeof *points);
    const size_t size = call->words[call->output] * sizeof(uint32_t);
    call->expected = malloc(size);
    assert_true(points && call->expected);
    exact_watch_turns(shader, model);
    modelled_give(call, model);
    model_dispatch(model, &call->dispatch);
    memcpy(call->expected, call->buffers[call->output], size);
    for (uint32_t p = 0; p < shader->points.count; p++)
        points[p] = model_block(model, shader->points.points[p].label);
    call->truth = (struct exact_truth){
        .entry = model_entry(model),
        .points = points,
        .turns = exact_turns(shader, model),
        .subgroups = call->dispatch.ways.apart ? EXACT_SUBGROUPS_UNKNOWN : EXACT_SUBGROUPS_KNOWN};
    model_destroy(model);
}

void modelled_forget(struct modelled *call)
{
    free((void *)call->truth.points);
    free((void *)call->truth.turns);
    free(call->expected);
}

void modelled_check(struct modelled *call, const struct exact_variant *variant)
{
    const struct exact_modelled modelled = {.run = modelled_run_together,
                                            .user = call,
                                            .subgroup_size = call->told,
                                            .most_lanes = call->most_lanes,
                                            .subgroup_arithmetic = !call->without_arithmetic,
                                            .sums_outlive_loops = call->sums_outlive_loops};
    exact_check_modelled(&modelled, &call->shader, variant, &call->truth);
}

void modelled_check_all(struct modelled *call, bool wide)
{
    uint32_t *all = calloc(call->shader.points.count, sizeof *all);
    assert_non_null(all);
    for (uint32_t p = 0; p < call->shader.points.count; p++)
        all[p] = p;
    const struct exact_variant variant = {.points = all,
                                          .point_count = call->shader.points.count,
                                          .slot_count = wide ? 1 : 16,
                                          .wide = wide,
                                          .first_value = wide ? 0 : 0xfffffff3};
    modelled_check(call, &variant);
    free(all);
}

void modelled_check_apart(struct modelled *call, bool wide)
{
    call->dispatch.ways.apart = true;
    modelled_find_truth(call);
    modelled_check_all(call, wide);
    modelled_forget(call);
    call->dispatch.ways.apart = false;
}
