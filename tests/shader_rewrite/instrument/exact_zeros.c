/* Values that may be zero, counted and compared with what the model finds. */
#include "tests/shader_rewrite/instrument/exact_run.h"

#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void exact_watch_zeros(const struct exact_shader *shader, struct model *model)
{
    uint32_t candidates = shader->zeros.count;
    struct model_watched *watched = calloc(candidates + 1, sizeof *watched);
    assert_non_null(watched);
    for (uint32_t i = 0; i < candidates; i++) {
        const struct pm_zero_candidate *candidate = &shader->zeros.candidates[i];
        watched[i].count = candidate->value_count;
        watched[i].components = candidate->components;
        watched[i].as_float = candidate->is_float;
        watched[i].plus = candidate->plus;
        watched[i].quad = candidate->quad;
        memcpy(watched[i].values, candidate->values, sizeof watched[i].values);
    }
    model_watch(model, watched, candidates);
    free(watched);
}

/* What the counters come to (pm_zero_totals); malloc'ed. */
static uint64_t *totals_of(const struct pm_instrumented *shader,
                           const struct exact_variant *variant, const uint64_t *counters)
{
    const uint32_t units = pm_zero_units(&shader->zeros);
    uint64_t *sums = malloc(units * sizeof *sums);
    uint64_t *totals = calloc(2 + (size_t)PM_COUNTS * variant->point_count, sizeof *totals);
    assert_true(sums && totals);
    for (uint32_t i = 0; i < units; i++)
        sums[i] = exact_total(shader, variant, counters, i);
    pm_zero_totals(&shader->zeros, sums, totals);
    free(sums);
    return totals;
}

static void compare(const struct exact_shader *shader, const struct exact_variant *variant,
                    struct model *model, enum exact_subgroups subgroups,
                    const struct pm_instrumented *out, const uint64_t *counters)
{
    const struct model_counts entry = model_entry(model);
    uint64_t *totals = totals_of(out, variant, counters);
    exact_expect(shader, variant, "entry lanes", 0, totals[0], entry.lanes, 0);
    if (subgroups == EXACT_SUBGROUPS_KNOWN)
        exact_expect(shader, variant, "entry subgroups", 0, totals[1], entry.subgroups, 0);
    for (uint32_t i = 0; i < variant->point_count; i++) {
        const uint32_t candidate = variant->points[i];
        const uint64_t *has = totals + 2 + (size_t)i * PM_COUNTS;
        struct model_writes truth = model_writes(model, candidate);
        const uint64_t writes = has[PM_ZERO_WRITES], zero_writes = has[PM_ZERO_ZERO_WRITES];
        assert_true(zero_writes <= writes && (writes > 0) == (truth.writes > 0));
        assert_true(has[2] == 0);
        if (subgroups != EXACT_SUBGROUPS_KNOWN)
            continue;
        exact_expect(shader, variant, "writes", candidate, writes, truth.writes, 0);
        if (truth.unknown)
            continue;
        /* What may be zero or not is zero as far as it takes. */
        uint64_t expected = zero_writes;
        if (expected > truth.zero_writes + truth.undecided)
            expected = truth.zero_writes + truth.undecided;
        if (expected < truth.zero_writes)
            expected = truth.zero_writes;
        exact_expect(shader, variant, "zero writes", candidate, zero_writes, expected, 0);
    }
    free(totals);
}

static void check_on(const struct exact_machine *machine, const struct exact_shader *shader,
                     const struct exact_variant *variant, struct model *model,
                     enum exact_subgroups subgroups, bool copies)
{
    struct pm_gpu_buffer counters;
    struct pm_instrumented out =
        exact_count(machine, shader, variant, pm_instrument_zero, copies, &counters);
    compare(shader, variant, model, subgroups, &out, counters.data);
    pm_instrumented_finish(&out);
    exact_destroy_counters(machine, &counters);
}

void exact_check_zeros(struct pm_gpu *gpu, const struct exact_shader *shader,
                       const struct exact_variant *variant, struct model *model,
                       enum exact_subgroups subgroups,
                       void (*run)(void *user, const struct pm_words *words,
                                   const VkSpecializationInfo *specialization),
                       void *user)
{
    const struct exact_machine machine = exact_driver(gpu, run, user);
    for (int copies = 0; copies < 2; copies++)
        check_on(&machine, shader, variant, model, subgroups, copies);
}

void exact_check_zeros_modelled(const struct exact_modelled *modelled,
                                const struct exact_shader *shader,
                                const struct exact_variant *variant, struct model *model,
                                enum exact_subgroups subgroups, bool copies)
{
    const struct exact_machine machine = exact_model(modelled);
    check_on(&machine, shader, variant, model, subgroups, copies);
}
