/*
 * Arbitrary words as SPIR-V. Nothing may crash, leak or hang, and:
 * - what is read is emitted word for word; what spirv-val accepts is read;
 * - what has a canonical module has one with names too;
 * - the analyses agree with themselves when computed again;
 * - what spirv-val accepts stays valid when its blocks, its zeros or its constants are counted, and
 *   when it is specialized by any profile, or for any words, or optimized by any counts of its
 *   blocks, or cut into passes (or is refused as unsupported); the points of all are found.
 */
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/quirks/hiding_casts.h"
#include "shader_rewrite/shader_rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 1 << 16, MAX_POINTS = 64, MAX_ENTRIES = 4 };

static void require(bool condition, const char *what, const struct pm_error *error)
{
    if (condition)
        return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    abort();
}

static void check_module(struct pm_ir_module *module, const uint32_t *words, size_t count)
{
    struct pm_error error = {0};
    struct pm_words out;
    require(pm_ir_emit(module, &out, &error), "emit", &error);
    require(out.count == count && memcmp(out.data, words, count * sizeof(*words)) == 0,
            "round trip", &error);
    pm_words_finish(&out);
    for (struct pm_ir_function *f = module->first_function; f; f = f->next) {
        if (!f->first_block)
            continue;
        require(pm_analysis_require(f, PM_ANALYSIS_ALL, &error), "analyses", &error);
        require(pm_analysis_check(f, &error), "analyses", &error);
    }
}

static void check_facts(const struct pm_ir_module *module)
{
    for (enum pm_stage stage = PM_STAGE_FRAGMENT; stage <= PM_STAGE_COMPUTE; stage++) {
        struct pm_shader_facts facts;
        struct pm_error error = {0};
        pm_shader_facts(module, "main", stage, &facts, &error);
    }
}

typedef bool (*instrument_pass)(const uint32_t *words, size_t count,
                                const struct pm_instrument_info *info, struct pm_instrumented *out,
                                struct pm_error *error);

static uint32_t mix_of(const struct pm_words *words)
{
    uint32_t mix = 0;
    for (size_t i = 0; i < words->count; i++)
        mix = (mix ^ words->data[i]) * 0x9e3779b1u;
    return mix;
}

/* Options and the subset of points follow from the words, so that an input means one run. */
static void check_pass(instrument_pass pass, uint32_t space, const struct pm_turn_points *turns,
                       const struct pm_words *words, const struct pm_target *target, bool valid)
{
    struct pm_error error = {0};
    uint32_t mix = mix_of(words), chosen[MAX_POINTS], chosen_count = 0;
    for (uint32_t i = 0; i < space && chosen_count < MAX_POINTS; i++)
        if ((mix >> (i % 13 + 8) & 3) != 0)
            chosen[chosen_count++] = i;
    struct pm_instrument_info info = {
        .all_candidates = true,
        .points = chosen,
        .point_count = chosen_count,
        .slot_count = 1u << (mix & 7),
        .int64_atomics = mix & 8,
        .memory_model_device_scope = mix & 16,
        .may_force_early_tests = mix & 32,
        .subgroup_quad = mix & 64,
        .count_copies = mix & 128,
        .subgroup_arithmetic = mix >> 24 & 1,
        .sums_outlive_loops = mix >> 25 & 1,
        .lanes_only = mix >> 26 & 1,
        .most_lanes = mix >> 27 & 1 ? 8 : 0,
        .subgroup_size = mix >> 28 & 1 ? 8 : 0,
        .turns = turns,
        .target = *target,
    };
    struct pm_instrumented out;
    bool ok = pass(words->data, words->count, &info, &out, &error);
    if (valid && error.code != PM_ERROR_UNSUPPORTED)
        require(ok, "instrument a valid module", &error);
    if (ok)
        pm_instrumented_finish(&out);
}

/* Mostly probabilities; else any bits. NULL when out of memory. */
static double *numbers(uint32_t mix, uint32_t count)
{
    double *list = calloc(count + 1, sizeof(*list));
    for (uint32_t i = 0; list && i < count; i++) {
        uint64_t bits = (mix + i) * 0x9e3779b97f4a7c15u;
        bits ^= bits >> 29;
        if (bits & 7)
            list[i] = bits & 8 ? 1 : (double)(bits >> 32) / 0x1p32;
        else
            memcpy(&list[i], &bits, sizeof(bits));
    }
    return list;
}

/* By a profile that follows from the words. */
static void check_specialize(const struct pm_words *words, uint32_t zero_count,
                             uint32_t block_count, const struct pm_target *target, bool valid)
{
    struct pm_error error = {0};
    const uint32_t mix = mix_of(words);
    double *zero = numbers(mix, zero_count), *writes = numbers(mix + 1, zero_count);
    double *blocks = numbers(mix + 2, block_count);
    const struct pm_zero_profile profile = {.zero = zero,
                                            .writes = mix & 1 ? writes : NULL,
                                            .candidate_count = zero_count,
                                            .blocks = mix & 2 ? blocks : NULL,
                                            .block_count = block_count};
    const struct pm_specialize_zero_info info = {
        .profile = &profile,
        .all_candidates = true,
        .float_zero = (enum pm_float_zero)((mix >> 2) % 3),
        .subgroup_quad = mix & 16,
        .target = *target,
        .most_transforms = mix & 32 ? 8 : 0,
        .beyond = {.fit_regions = mix & 256, .hoist_across = mix & 512, .pairs = mix & 1024},
        .take_all = mix & 192,
    };
    struct pm_specialized out;
    bool made = zero && writes && blocks &&
                pm_specialize_zero(words->data, words->count, &info, &out, &error);
    if (valid && error.code != PM_ERROR_UNSUPPORTED && error.code != PM_ERROR_LIMIT)
        require(made, "specialize a valid module", &error);
    if (made)
        pm_specialized_finish(&out);
    free(zero);
    free(writes);
    free(blocks);
}

/* Words that are numbers of what the module makes of them, so that some mean something. */
static void check_constants(const struct pm_words *words, const struct pm_target *target,
                            bool valid)
{
    struct pm_error error = {0};
    struct pm_constant_points points;
    struct pm_constant_known known[MAX_POINTS];
    struct pm_constant_point counted[MAX_POINTS];
    uint32_t mix = mix_of(words), count = 0, counted_count = 0;
    const bool found = pm_points_constant(words->data, words->count, false, &points, &error);
    require(found || !valid || error.code == PM_ERROR_LIMIT || error.code == PM_ERROR_UNSUPPORTED,
            "find words", &error);
    for (uint32_t i = 0; found && i < points.count && i < MAX_POINTS; i++) {
        const struct pm_constant_point *point = &points.points[i];
        if (point->source == PM_CONSTANT_UNIFORM)
            counted[counted_count++] = *point;
        known[count++] = (struct pm_constant_known){
            *point, (mix >> (i % 16) & 7) < 4 ? mix >> (i % 16) & 3 : mix * (i + 1),
            point->source == PM_CONSTANT_UNIFORM};
    }
    const struct pm_specialize_constants_info info = {.known = known,
                                                      .known_count = count,
                                                      .float_zero =
                                                          (enum pm_float_zero)((mix >> 2) % 3),
                                                      .target = *target,
                                                      .take_all = true};
    struct pm_specialized_constants out;
    const bool made =
        count && pm_specialize_constants(words->data, words->count, &info, &out, &error);
    require(made || !count || !valid || error.code == PM_ERROR_UNSUPPORTED ||
                error.code == PM_ERROR_LIMIT,
            "specialize a valid module for words", &error);
    if (made)
        pm_specialized_constants_finish(&out);
    const struct pm_instrument_info counting = {
        .slot_count = 1u << (mix & 7), .int64_atomics = mix & 8, .target = *target};
    struct pm_instrumented instrumented;
    const bool counts =
        found && pm_instrument_constants(words->data, words->count, counted, counted_count,
                                         &counting, &instrumented, &error);
    require(counts || !found || !valid || error.code == PM_ERROR_UNSUPPORTED,
            "count words of a valid module", &error);
    if (counts)
        pm_instrumented_finish(&instrumented);
    if (found)
        pm_constant_points_finish(&points);
}

/* Rare blocks, few turns, and any bits. NULL when out of memory. */
static double *counts(uint32_t mix, uint32_t count)
{
    static const double some[] = {0, 1e-3, 1e-6, 1, 1, 2, 3};
    double *list = numbers(mix, count);
    for (uint32_t i = 0; list && i < count; i++) {
        const uint32_t choice = (mix + i) * 0x9e3779b1u >> 28;
        if (choice < sizeof(some) / sizeof(some[0]))
            list[i] = some[choice];
    }
    return list;
}

static void check_optimize(const struct pm_words *words, uint32_t count, uint32_t turn_count,
                           const struct pm_target *target, bool valid)
{
    struct pm_error error = {0};
    const uint32_t mix = mix_of(words);
    double *frequency = counts(mix + 3, count), *subgroups = counts(mix + 4, count);
    double *uniform = numbers(mix + 5, count), *reached = numbers(mix + 6, turn_count);
    const struct pm_block_profile profile = {.frequency = frequency,
                                             .uniform = mix & 1 ? uniform : NULL,
                                             .subgroups = mix & 2 ? subgroups : frequency,
                                             .block_count = count,
                                             .reached = mix & 64 ? reached : NULL,
                                             .reached_uniform = mix & 128 ? reached : NULL,
                                             .turn_count = turn_count};
    const struct pm_optimize_blocks_info info = {.profile = &profile,
                                                 .passes = mix & 12 ? PM_BLOCK_ALL : mix >> 4,
                                                 .uniform_share = 0.5,
                                                 .ignore_uniformity = mix & 16,
                                                 .subgroup_vote = mix & 32,
                                                 .target = *target};
    struct pm_optimized_blocks out;
    const bool made = frequency && subgroups && uniform && reached &&
                      pm_optimize_blocks(words->data, words->count, &info, &out, &error);
    if (valid && error.code != PM_ERROR_UNSUPPORTED && error.code != PM_ERROR_LIMIT)
        require(made, "optimize a valid module", &error);
    if (made)
        pm_optimized_blocks_finish(&out);
    free(frequency);
    free(subgroups);
    free(uniform);
    free(reached);
}

/* Into as many passes as the words say; each is valid. */
static void check_partition(const struct pm_words *words, const struct pm_target *target,
                            bool valid)
{
    const uint32_t mix = mix_of(words);
    const struct pm_pass_limits limits = {.alu = 4 + mix % 60,
                                          .texture = 4 + mix / 64 % 8,
                                          .temporaries = 256,
                                          .varyings = 16,
                                          .constants = 64,
                                          .textures = 16,
                                          .outputs = 2 + mix / 512 % 8,
                                          .textures_hold_outputs = mix & 1};
    const struct pm_partition_info info = {
        .limits = &limits,
        .method = (enum pm_partition_method)(mix / 7 % PM_PARTITION_METHODS),
        .target = *target,
        .regions = mix & 2};
    struct pm_partitioned out;
    struct pm_error error = {0};
    const bool made = pm_partition(words->data, words->count, &info, &out, &error);
    if (valid && error.code != PM_ERROR_UNSUPPORTED && error.code != PM_ERROR_LIMIT)
        require(made, "cut a valid module into passes", &error);
    if (made)
        pm_partitioned_finish(&out);
}

static void check_instrument(uint32_t *data, size_t count, const struct pm_target *target,
                             bool valid)
{
    const struct pm_words words = {data, count};
    struct pm_error error = {0};
    struct pm_block_points blocks;
    if (!pm_points_blocks(data, count, &blocks, &error))
        return;
    check_pass(pm_instrument_blocks, blocks.count, NULL, &words, target, valid);
    struct pm_turn_points turns;
    require(pm_points_turns(data, count, &turns, &error), "find turns", &error);
    check_pass(pm_instrument_turns, turns.count, &turns, &words, target, valid);
    struct pm_zero_points zeros;
    require(pm_zero_candidates(data, count, &zeros, &error) || error.code == PM_ERROR_LIMIT,
            "find values", &error);
    for (uint32_t i = 0; i < zeros.count; i++)
        require(zeros.candidates[i].block < blocks.count, "the block of a value", &error);
    check_pass(pm_instrument_zero, zeros.count, NULL, &words, target, valid);
    check_specialize(&words, zeros.count, blocks.count, target, valid);
    check_constants(&words, target, valid);
    check_optimize(&words, blocks.count, turns.count, target, valid);
    check_partition(&words, target, valid);
    pm_zero_points_finish(&zeros);
    pm_turn_points_finish(&turns);
    pm_block_points_finish(&blocks);
}

/* What the layer asks of a module as the game gave it. */
static void check_entry(const uint32_t *words, size_t count, enum pm_stage stage, const char *entry,
                        const struct pm_target *target)
{
    struct pm_error error = {0};
    const struct pm_canonicalize_info info = {.words = words,
                                              .word_count = count,
                                              .stage = stage,
                                              .entry_point = entry,
                                              .target = *target};
    struct pm_canonicalize_info with_names = info;
    struct pm_words canonical, named;
    if (!pm_canonicalize(&info, &canonical, &error))
        return;
    with_names.keep_names = true;
    require(pm_canonicalize(&with_names, &named, &error), "keep names", &error);
    pm_words_finish(&named);
    check_instrument(canonical.data, canonical.count, target, true);
    pm_words_finish(&canonical);
}

/* Of a module that can be read its entry points, the first few. */
static void check_original(const uint32_t *words, size_t count, const struct pm_ir_module *module,
                           const struct pm_target *target)
{
    const struct pm_ir_instr *entry =
        module ? module->sections[PM_IR_SECTION_ENTRY_POINT].first : NULL;
    for (int i = 0; entry && i < MAX_ENTRIES; i++, entry = entry->next) {
        const uint32_t model = pm_ir_operand_word(&entry->operands[0]);
        const char *name = pm_ir_operand_text(&entry->operands[2]);
        if (model == SpvExecutionModelFragment || model == SpvExecutionModelGLCompute)
            check_entry(words, count,
                        model == SpvExecutionModelFragment ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
                        name, target);
    }
    for (enum pm_stage stage = PM_STAGE_FRAGMENT; !module && stage <= PM_STAGE_COMPUTE; stage++)
        check_entry(words, count, stage, "main", target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t count = size / 4;
    if (count > MAX_WORDS)
        return 0;
    uint32_t *words = calloc(count + 1, 4);
    if (!words)
        return 0;
    memcpy(words, data, count * 4);
    /* All that a device may allow. */
    const struct pm_target target = {.vulkan_minor = 3,
                                     .scalar_block_layout = true,
                                     .relaxed_block_layout = true,
                                     .uniform_buffer_standard_layout = true,
                                     .workgroup_explicit_layout = true};
    struct pm_error error = {0}, refusal = {0};
    bool valid = count && pm_validate(words, count, &target, &error);
    struct pm_ir_module *module = pm_ir_parse(words, count, &refusal);
    if (valid)
        require(module != NULL, "read a valid module", &refusal);
    check_original(words, count, module, &target);
    if (module) {
        check_module(module, words, count);
        check_facts(module);
        pm_has_hiding_casts(module);
        pm_ir_module_destroy(module);
        check_instrument(words, count, &target, valid);
    }
    free(words);
    return 0;
}
