#include "tests/shader_rewrite/instrument/exact.h"

#include "base/random.h"
#include "profile/profile.h"
#include "tests/shader_rewrite/instrument/exact_run.h"
#include "tests/shader_rewrite/instrument/sums.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct pm_target vulkan_1_3 = {.vulkan_minor = 3};

void exact_prepare(struct exact_shader *shader, const struct pm_target *target,
                   const struct pm_spec_value *values, size_t value_count)
{
    const struct pm_canonicalize_info info = {.words = shader->original.data,
                                              .word_count = shader->original.count,
                                              .stage = shader->stage,
                                              .entry_point = "main",
                                              .spec_values = values,
                                              .spec_value_count = value_count,
                                              .target = *target};
    struct pm_error error = {0};
    shader->target = *target;
    if (!pm_canonicalize(&info, &shader->canonical, &error) ||
        !pm_points_blocks(shader->canonical.data, shader->canonical.count, &shader->points,
                          &error) ||
        !pm_points_turns(shader->canonical.data, shader->canonical.count, &shader->turns, &error) ||
        !pm_zero_candidates(shader->canonical.data, shader->canonical.count, &shader->zeros,
                            &error))
        fail_msg("%s: %s", shader->name, error.message);
}

void exact_load(const char *name, const struct pm_spec_value *values, size_t value_count,
                struct exact_shader *shader)
{
    *shader = (struct exact_shader){
        .name = name, .stage = strstr(name, ".frag") ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE};
    pm_gpu_load(PM_TEST_EXACT, name, &shader->original.data, &shader->original.count);
    exact_prepare(shader, &vulkan_1_3, values, value_count);
}

void exact_finish(struct exact_shader *shader)
{
    pm_words_finish(&shader->original);
    pm_words_finish(&shader->canonical);
    pm_block_points_finish(&shader->points);
    pm_zero_points_finish(&shader->zeros);
    pm_turn_points_finish(&shader->turns);
}

/* The total over slots, less what each slot began with. */
uint64_t exact_total(const struct pm_instrumented *shader, const struct exact_variant *variant,
                     const uint64_t *counters, uint32_t index)
{
    uint64_t sum = 0;
    for (uint32_t slot = 0; slot < variant->slot_count; slot++)
        sum += counters[slot * shader->slot_stride + index] - variant->first_value;
    return sum;
}

uint64_t *exact_block_totals(const struct pm_instrumented *shader,
                             const struct exact_variant *variant, const uint64_t *counters)
{
    const uint32_t units = pm_block_units(&shader->blocks);
    uint64_t *sums = malloc(units * sizeof *sums);
    uint64_t *totals = calloc(2 + (size_t)PM_COUNTS * variant->point_count, sizeof *totals);
    assert_true(sums && totals);
    for (uint32_t i = 0; i < units; i++)
        sums[i] = exact_total(shader, variant, counters, i);
    pm_block_totals(&shader->blocks, sums, totals);
    free(sums);
    return totals;
}

void exact_expect(const struct exact_shader *shader, const struct exact_variant *variant,
                  const char *what, uint32_t point, uint64_t counted, uint64_t truth,
                  double tolerance)
{
    double off = counted > truth ? (double)(counted - truth) : (double)(truth - counted);
    if (off > tolerance * (double)truth)
        fail_msg("%s, %u points, %u slots, %d bits: %s of point %u: counted %llu, truth %llu",
                 shader->name, variant->point_count, variant->slot_count, variant->wide ? 64 : 32,
                 what, point, (unsigned long long)counted, (unsigned long long)truth);
}

static void compare(const struct exact_shader *shader, const struct exact_variant *variant,
                    const struct exact_truth *truth, const struct pm_instrumented *out,
                    const uint64_t *counters)
{
    uint64_t *totals = exact_block_totals(out, variant, counters);
    exact_expect(shader, variant, "entry lanes", 0, totals[0], truth->entry.lanes,
                 truth->tolerance);
    if (truth->subgroups != EXACT_SUBGROUPS_UNKNOWN)
        exact_expect(shader, variant, "entry subgroups", 0, totals[1], truth->entry.subgroups, 0);
    for (uint32_t i = 0; i < variant->point_count; i++) {
        const uint32_t point = variant->points[i];
        const struct model_counts *counts = &truth->points[point];
        const uint64_t *has = totals + 2 + (size_t)i * PM_COUNTS;
        const uint64_t lanes = has[PM_BLOCK_LANES], uniform = has[PM_BLOCK_UNIFORM_LANES],
                       subgroups = has[PM_BLOCK_SUBGROUPS];
        exact_expect(shader, variant, "lanes", point, lanes, counts->lanes, truth->tolerance);
        assert_true(uniform <= lanes && subgroups <= lanes && (subgroups > 0) == (lanes > 0));
        if (truth->subgroups != EXACT_SUBGROUPS_KNOWN)
            continue;
        exact_expect(shader, variant, "subgroups", point, subgroups, counts->subgroups, 0);
        exact_expect(shader, variant, "uniform lanes", point, uniform, counts->uniform_lanes, 0);
    }
    free(totals);
}

struct exact_machine exact_driver(struct pm_gpu *gpu,
                                  void (*run)(void *user, const struct pm_words *words,
                                              const VkSpecializationInfo *specialization),
                                  void *user)
{
    return (struct exact_machine){
        .gpu = gpu,
        .run = run,
        .user = user,
        .subgroup_size = gpu->subgroup_size,
        .most_lanes = gpu->most_lanes,
        .subgroup_arithmetic = gpu->arithmetic,
        .sums_outlive_loops = pm_gpu_sums_outlive_loops(gpu),
        .memory_model_device_scope = gpu->memory_model_device_scope,
    };
}

struct exact_machine exact_model(const struct exact_modelled *modelled)
{
    return (struct exact_machine){
        .run_model = modelled->run,
        .user = modelled->user,
        .subgroup_size = modelled->subgroup_size,
        .most_lanes = modelled->most_lanes,
        .subgroup_arithmetic = modelled->subgroup_arithmetic,
        .sums_outlive_loops = modelled->sums_outlive_loops,
    };
}

void exact_create_counters(const struct exact_machine *machine, size_t size,
                           struct pm_gpu_buffer *counters)
{
    if (machine->gpu) {
        pm_gpu_buffer_create(machine->gpu, size, counters);
        return;
    }
    /* Nothing of it is a pointer. */
    *counters = (struct pm_gpu_buffer){
        .address = UINT64_C(0x123456789ac0), .size = size, .data = malloc(size)};
    assert_non_null(counters->data);
}

void exact_destroy_counters(const struct exact_machine *machine, struct pm_gpu_buffer *counters)
{
    if (machine->gpu)
        pm_gpu_buffer_destroy(machine->gpu, counters);
    else
        free(counters->data);
}

void exact_run_instrumented(const struct exact_machine *machine,
                            const struct pm_instrumented *shader,
                            const struct pm_gpu_buffer *counters)
{
    const uint32_t address[2] = {(uint32_t)counters->address, (uint32_t)(counters->address >> 32)};
    if (machine->gpu) {
        const VkSpecializationMapEntry entries[2] = {{shader->spec_id_low, 0, 4},
                                                     {shader->spec_id_high, 4, 4}};
        const VkSpecializationInfo specialization = {2, entries, sizeof address, address};
        machine->run(machine->user, &shader->words, &specialization);
        return;
    }
    const struct model_constant constants[2] = {{shader->spec_id_low, address[0]},
                                                {shader->spec_id_high, address[1]}};
    struct model *model =
        model_create_specialized(shader->words.data, shader->words.count, constants, 2);
    model_set_addressed(model, counters->address, counters->data, counters->size / 4);
    machine->run_model(machine->user, model);
    model_destroy(model);
}

/* Instruments and runs; *counters is the caller's to destroy, and what is returned to finish: its
 * words are gone. */
struct pm_instrumented exact_count(const struct exact_machine *machine,
                                   const struct exact_shader *shader,
                                   const struct exact_variant *variant, exact_pass pass,
                                   bool copies, struct pm_gpu_buffer *counters)
{
    const struct pm_instrument_info info = {
        .all_candidates = true,
        .points = variant->points,
        .point_count = variant->point_count,
        .slot_count = variant->slot_count,
        .subgroup_size = machine->subgroup_size,
        .most_lanes = machine->most_lanes,
        .subgroup_arithmetic = machine->subgroup_arithmetic,
        .sums_outlive_loops = machine->sums_outlive_loops,
        .lanes_only = variant->lanes_only,
        .flow = variant->flow,
        .turns = pass == pm_instrument_turns ? &shader->turns : NULL,
        .int64_atomics = variant->wide,
        .memory_model_device_scope = machine->memory_model_device_scope,
        .subgroup_quad = true,
        .may_force_early_tests = variant->may_force_early_tests,
        .count_copies = copies,
        .target = shader->target};
    struct pm_instrumented out;
    struct pm_error error = {0};
    if (!pass(shader->canonical.data, shader->canonical.count, &info, &out, &error))
        fail_msg("%s: %s", shader->name, error.message);

    exact_create_counters(machine, out.counter_bytes + 64, counters);
    assert_int_equal(counters->address % 64, 0);
    uint64_t *values = counters->data;
    for (size_t i = 0; i < counters->size / 8; i++)
        values[i] = variant->first_value;
    exact_run_instrumented(machine, &out, counters);
    /* Nothing is written beyond the counters. */
    for (size_t i = out.counter_bytes / 8; i < counters->size / 8; i++)
        assert_true(values[i] == variant->first_value);
    pm_words_finish(&out.words);
    out.words = (struct pm_words){0};
    return out;
}

/* Lanes at the points alone that tell those of all (points_flow), rebuilt; in a third of the
 * counters, or beside what else is counted of all. Where a driver's counts are off (tolerance) so
 * is what they leave of each other, by more. */
static void check_flow(const struct exact_machine *machine, const struct exact_shader *shader,
                       const struct exact_variant *like, const struct exact_truth *truth, bool only)
{
    struct pm_flow_points points;
    struct pm_error error = {0};
    struct pm_gpu_buffer counters;
    const struct pm_words *words = &shader->canonical;
    if (!pm_points_flow(words->data, words->count, NULL, &points, &error))
        fail_msg("%s: %s", shader->name, error.message);
    assert_int_equal(points.space, shader->points.count);
    struct exact_variant variant = *like;
    variant.lanes_only = only;
    variant.flow = only ? NULL : &points;
    if (only) {
        variant.points = points.points;
        variant.point_count = points.count;
    }
    struct pm_instrumented out =
        exact_count(machine, shader, &variant, pm_instrument_blocks, false, &counters);
    uint64_t *lanes = calloc(points.space, sizeof *lanes);
    bool exact;
    assert_non_null(lanes);
    uint64_t *totals = exact_block_totals(&out, &variant, counters.data);
    lanes[0] = totals[0];
    for (uint32_t i = 0; i < points.count; i++)
        lanes[points.points[i]] = totals[2 + (only ? i : PM_COUNTS * points.points[i])];
    assert_true(pm_points_flow_rebuild(&points, lanes, &exact));
    if (!(truth->tolerance > 0)) {
        assert_true(exact);
        for (uint32_t i = 0; i < points.space; i++)
            exact_expect(shader, &variant, "lanes by flow", i, lanes[i], truth->points[i].lanes, 0);
    }
    for (uint32_t i = 0; !only && truth->subgroups == EXACT_SUBGROUPS_KNOWN && i < points.space;
         i++)
        exact_expect(shader, &variant, "subgroups", i,
                     totals[2 + PM_COUNTS * i + PM_BLOCK_SUBGROUPS], truth->points[i].subgroups, 0);
    free(totals);
    free(lanes);
    pm_instrumented_finish(&out);
    pm_flow_points_finish(&points);
    exact_destroy_counters(machine, &counters);
}

/* Turns of all loops: of their points, each step-th from the first on. */
static void check_turns(const struct exact_machine *machine, const struct exact_shader *shader,
                        const struct exact_variant *like, const struct exact_truth *truth,
                        uint32_t first, uint32_t step)
{
    const uint32_t count_of = shader->turns.count;
    uint32_t *points = malloc((count_of + 1u) * sizeof *points);
    assert_non_null(points);
    struct exact_variant variant = *like;
    variant.points = points;
    variant.point_count = 0;
    for (uint32_t p = first; p < count_of; p += step)
        points[variant.point_count++] = p;
    struct exact_truth of_turns = *truth;
    of_turns.points = truth->turns;
    struct pm_gpu_buffer counters;
    struct pm_instrumented out =
        exact_count(machine, shader, &variant, pm_instrument_turns, false, &counters);
    compare(shader, &variant, &of_turns, &out, counters.data);
    pm_instrumented_finish(&out);
    exact_destroy_counters(machine, &counters);
    free(points);
}

static struct pm_instrumented check_on(const struct exact_machine *machine,
                                       const struct exact_shader *shader,
                                       const struct exact_variant *variant,
                                       const struct exact_truth *truth)
{
    struct pm_gpu_buffer counters;
    struct pm_instrumented out =
        exact_count(machine, shader, variant, pm_instrument_blocks, false, &counters);
    compare(shader, variant, truth, &out, counters.data);
    free(out.blocks.units);
    out.blocks.units = NULL;
    exact_destroy_counters(machine, &counters);
    if (variant->point_count == shader->points.count && variant->slot_count == 1)
        check_flow(machine, shader, variant, truth, variant->point_count % 2);
    if (truth->turns && shader->turns.count > 0 && variant->point_count == shader->points.count &&
        variant->slot_count == 16) {
        check_turns(machine, shader, variant, truth, 0, 1);
        /* That a loop is come to, and nothing else; and some of its turns. */
        check_turns(machine, shader, variant, truth, 0, PM_TURN_POINTS);
        check_turns(machine, shader, variant, truth, 2, 5);
    }
    return out;
}

struct pm_instrumented exact_check(struct pm_gpu *gpu, const struct exact_shader *shader,
                                   const struct exact_variant *variant,
                                   const struct exact_truth *truth,
                                   void (*run)(void *user, const struct pm_words *words,
                                               const VkSpecializationInfo *specialization),
                                   void *user)
{
    const struct exact_machine machine = exact_driver(gpu, run, user);
    return check_on(&machine, shader, variant, truth);
}

void exact_check_modelled(const struct exact_modelled *modelled, const struct exact_shader *shader,
                          const struct exact_variant *variant, const struct exact_truth *truth)
{
    const struct exact_machine machine = exact_model(modelled);
    check_on(&machine, shader, variant, truth);
}

void exact_watch_turns(const struct exact_shader *shader, struct model *model)
{
    struct model_loop *loops = calloc(shader->turns.loop_count + 1u, sizeof *loops);
    assert_non_null(loops);
    for (uint32_t l = 0; l < shader->turns.loop_count; l++)
        loops[l] = (struct model_loop){shader->turns.loops[l].header, shader->turns.loops[l].latch};
    model_watch_turns(model, loops, shader->turns.loop_count, PM_TURN_POINTS);
    free(loops);
}

struct model_counts *exact_turns(const struct exact_shader *shader, struct model *model)
{
    struct model_counts *turns = calloc(shader->turns.count + 1u, sizeof *turns);
    assert_non_null(turns);
    for (uint32_t p = 0; p < shader->turns.count; p++)
        turns[p] = model_turn(model, p / PM_TURN_POINTS, p % PM_TURN_POINTS);
    return turns;
}

static void check_all_points(bool int64_atomics, const uint32_t *points, uint32_t count,
                             void (*check)(void *user, const struct exact_variant *variant),
                             void *user)
{
    struct exact_variant variant = {.points = points, .point_count = count, .slot_count = 1};
    check(user, &variant);
    variant.slot_count = 16;
    variant.first_value = 0xfffffff3; /* carries into the high word */
    check(user, &variant);
    if (int64_atomics) {
        variant.wide = true;
        variant.slot_count = 64;
        check(user, &variant);
    }
}

/* A random split into batches, as a session makes it, then the same in the other width. */
static void check_batches(bool int64_atomics, uint32_t *points, uint32_t count, uint32_t batch,
                          void (*check)(void *user, const struct exact_variant *variant),
                          void *user)
{
    uint32_t batches = (count + batch - 1) / batch;
    uint32_t *chosen = malloc(count * sizeof *chosen);
    assert_non_null(chosen);
    for (uint32_t b = 0; b < batches; b++) {
        struct exact_variant variant = {.points = chosen,
                                        .slot_count = 1u << b % 9,
                                        .wide = int64_atomics && b % 2,
                                        .first_value = b % 4 < 2 ? 0xffffffffu : 0};
        for (uint32_t i = 0; i < count; i++) {
            if (points[i] % batches == b)
                chosen[variant.point_count++] = i;
        }
        check(user, &variant);
    }
    free(chosen);
}

void exact_each_variant(bool int64_atomics, const struct exact_shader *shader, bool brief,
                        void (*check)(void *user, const struct exact_variant *variant), void *user)
{
    uint32_t count = shader->points.count;
    uint32_t *points = malloc(count * sizeof *points);
    assert_non_null(points);
    for (uint32_t i = 0; i < count; i++)
        points[i] = i;
    check_all_points(int64_atomics, points, count, check, user);
    if (!brief) {
        struct pm_random random;
        pm_random_init(&random, 23);
        for (uint32_t i = count; i > 1; i--) {
            uint32_t other = pm_random_below(&random, i), kept = points[i - 1];
            points[i - 1] = points[other];
            points[other] = kept;
        }
        check_batches(int64_atomics, points, count, count > 12 ? 6 : 1, check, user);
        const struct exact_variant none = {.slot_count = 2};
        check(user, &none);
    }
    free(points);
}
