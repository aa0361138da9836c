/*
 * Prints what is made of each shader of the corpus, which is the working folder: the key of its
 * canonical module and, for every way of instrumenting, specializing and cutting it, how many words
 * came out and a key of them, or the error. For test_same_in_32_bits.sh, which has it of both
 * widths.
 */
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/corpus_ways.h"

#include <stdio.h>
#include <stdlib.h>

/* A canonical module, and what it is made for. */
struct subject {
    const char *name;
    const uint32_t *words;
    size_t count;
    struct pm_target target;
};

static void print(const struct subject *of, const char *what, const struct pm_words *made,
                  const struct pm_error *error)
{
    char key[PM_SHADER_KEY_TEXT];
    printf("%s %s: ", of->name, what);
    if (error->code == PM_OK) {
        const struct pm_shader_key words =
            pm_shader_key_compute(pm_canonicalize_recipe(), made->data, made->count);
        pm_shader_key_format(&words, key);
        printf("%zu words, %s\n", made->count, key);
    } else {
        printf("%s\n", error->message);
    }
}

static void instrument(const struct subject *of, const char *what, corpus_instrument pass)
{
    const struct pm_instrument_info info = corpus_counting(of->target, NULL);
    struct pm_instrumented out = {0};
    struct pm_error error = {0};
    pass(of->words, of->count, &info, &out, &error);
    print(of, what, &out.words, &error);
    pm_instrumented_finish(&out);
}

enum { MOST = 8192 }; /* of points: no shader of the corpus has so many */

static void must(bool ok, const struct subject *of, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "%s: %s\n", of->name, what);
    exit(1);
}

static void specialize_zero(const struct subject *of, bool all)
{
    static double zero[MOST];
    struct pm_zero_points points;
    struct pm_error error = {0};
    must(pm_zero_candidates(of->words, of->count, &points, &error), of, error.message);
    must(points.count < MOST, of, "too many points");
    for (uint32_t i = 0; i < points.count; i++)
        zero[i] = 1 - (double)i / MOST;
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = points.count};
    const struct pm_specialize_zero_info info = {.profile = &profile,
                                                 .all_candidates = true,
                                                 .subgroup_quad = true,
                                                 .target = of->target,
                                                 .take_all = all};
    struct pm_specialized out = {0};
    pm_specialize_zero(of->words, of->count, &info, &out, &error);
    print(of, all ? "zeros, all" : "zeros", &out.words, &error);
    pm_specialized_finish(&out);
    pm_zero_points_finish(&points);
}

/* By blocks of which some are rare and loops that are steady; and all recipes. */
static void optimize(const struct subject *of)
{
    static double frequency[MOST], subgroups[MOST], uniform[MOST], reached[MOST * PM_TURN_POINTS];
    struct pm_block_points points;
    struct pm_turn_points turns;
    struct pm_error error = {0};
    must(pm_points_blocks(of->words, of->count, &points, &error), of, error.message);
    must(pm_points_turns(of->words, of->count, &turns, &error), of, error.message);
    must(points.count < MOST && turns.count < MOST * PM_TURN_POINTS, of, "too many points");
    for (uint32_t i = 0; i < points.count; i++) {
        frequency[i] = points.points[i].at_most_once ? 1 : 2 + i % 7;
        subgroups[i] = i % 3 == 1 ? 0.001 : 1;
        uniform[i] = 1;
    }
    for (uint32_t i = 0; i < turns.count; i++)
        reached[i] = i % PM_TURN_POINTS < 4;
    const struct pm_block_profile profile = {.frequency = frequency,
                                             .uniform = uniform,
                                             .subgroups = subgroups,
                                             .block_count = points.count,
                                             .reached = reached,
                                             .turn_count = turns.count};
    const struct pm_optimize_blocks_info blocks = {.profile = &profile,
                                                   .passes = PM_BLOCK_ALL,
                                                   .uniform_share = 0.9,
                                                   .subgroup_vote = true,
                                                   .target = of->target};
    struct pm_optimized_blocks out = {0};
    pm_optimize_blocks(of->words, of->count, &blocks, &out, &error);
    print(of, "blocks", &out.words, &error);
    pm_optimized_blocks_finish(&out);
    for (uint32_t i = 0; i < pm_recipe_count(); i++) {
        const struct pm_variant_info info = {.choice = {.recipe = pm_recipe_at(i)},
                                             .target = of->target,
                                             .blocks = &blocks,
                                             .subgroup_vote = true};
        struct pm_words made = {0};
        struct pm_error refused = {0};
        pm_make_variant(of->words, of->count, &info, &made, &refused);
        print(of, info.choice.recipe->name, &made, &refused);
        pm_words_finish(&made);
    }
    pm_block_points_finish(&points);
    pm_turn_points_finish(&turns);
}

static void cut(const struct subject *of)
{
    const struct pm_pass_limits limits = corpus_pass_limits(12);
    const struct pm_partition_info info = {
        .limits = &limits, .target = of->target, .regions = true};
    struct pm_partitioned out = {0};
    struct pm_error error = {0};
    pm_partition(of->words, of->count, &info, &out, &error);
    if (error.code != PM_OK)
        print(of, "pass", NULL, &error);
    for (uint32_t i = 0; i < out.count; i++)
        print(of, "pass", &out.passes[i].words, &error);
    pm_partitioned_finish(&out);
}

static void print_all(const struct corpus_file *file, enum pm_stage stage)
{
    const struct pm_target target = {.vulkan_minor = file->vulkan_minor,
                                     .spirv_1_4 = file->spirv_1_4};
    const struct pm_canonicalize_info info = {.words = file->words,
                                              .word_count = file->count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .target = target};
    struct pm_words canonical = {0};
    struct pm_error error = {0};
    const bool ok = pm_canonicalize(&info, &canonical, &error);
    const struct subject of = {file->name, canonical.data, canonical.count, target};
    print(&of, stage == PM_STAGE_COMPUTE ? "compute" : "fragment", &canonical, &error);
    if (ok) {
        instrument(&of, "count blocks", pm_instrument_blocks);
        instrument(&of, "count zeros", pm_instrument_zero);
        specialize_zero(&of, false);
        specialize_zero(&of, true);
        optimize(&of);
        cut(&of);
    }
    pm_words_finish(&canonical);
}

int main(void)
{
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t i = 0; i < corpus.count; i++) {
        print_all(&corpus.files[i], PM_STAGE_FRAGMENT);
        print_all(&corpus.files[i], PM_STAGE_COMPUTE);
    }
    corpus_finish(&corpus);
    return fflush(stdout) == 0 ? 0 : 1;
}
