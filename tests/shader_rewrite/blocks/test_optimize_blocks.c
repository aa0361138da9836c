/* All passes together, over every shader of the corpus, by profiles of all kinds: what comes out is
 * valid; and what is refused. */
#include "base/config.h"
#include "base/random.h"
#include "shader_rewrite/blocks/block_profile.h"
#include "tests/shader_rewrite/blocks/block_subject.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static uint32_t changed;

static void fill(struct pm_random *random, double *list, uint32_t count)
{
    static const double values[] = {0, 0.001, 1, 1, 5, 6, -1, INFINITY, NAN, 1e300};
    for (uint32_t i = 0; i < count; i++)
        list[i] = values[pm_random_below(random, sizeof(values) / sizeof(values[0]))];
}

static void check(const struct corpus_file *file, const struct pm_words *canonical,
                  struct pm_random *random)
{
    struct pm_error error = {0};
    struct pm_block_points points;
    double lists[3][256];
    if (!pm_points_blocks(canonical->data, canonical->count, &points, &error))
        fail_msg("%s: %s", file->name, error.message);
    assert_in_range(points.count, 1, 256);
    for (int i = 0; i < 3; i++)
        fill(random, lists[i], points.count);
    const struct pm_block_profile profile = {.frequency = lists[0],
                                             .uniform = lists[1],
                                             .subgroups = lists[2],
                                             .block_count = points.count};
    const struct pm_optimize_blocks_info info = {.profile = &profile,
                                                 .passes = PM_BLOCK_ALL,
                                                 .uniform_share = 0.9,
                                                 .subgroup_vote = true,
                                                 .target = {.vulkan_minor = file->vulkan_minor}};
    struct pm_optimized_blocks out;
    if (!pm_optimize_blocks(canonical->data, canonical->count, &info, &out, &error))
        fail_msg("%s: %s", file->name, error.message);
    changed += out.changes;
    pm_optimized_blocks_finish(&out);
    pm_block_points_finish(&points);
}

static void test_corpus(void **state)
{
    (void)state;
    struct corpus corpus;
    struct pm_random random;
    corpus_load(&corpus);
    pm_random_init(&random, 1);
    changed = 0;
    for (size_t i = 0; i < corpus.count; i++) {
        const struct corpus_file *file = &corpus.files[i];
        struct pm_error error = {0};
        struct pm_words canonical;
        const struct pm_canonicalize_info info = {
            .words = file->words,
            .word_count = file->count,
            .stage = strstr(file->name, ".frag.") ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
            .entry_point = "main",
            .target = {.vulkan_minor = file->vulkan_minor}};
        if (!pm_canonicalize(&info, &canonical, &error))
            continue; /* another test's */
        for (int n = 0; n < 4; n++)
            check(file, &canonical, &random);
        pm_words_finish(&canonical);
    }
    corpus_finish(&corpus);
    printf("%u changes\n", changed);
    assert_true(changed > 100);
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(pm_block_passes_named("optimize_blocks"), PM_BLOCK_ALL);
    for (uint32_t p = 0; p < PM_BLOCK_PASSES; p++)
        assert_int_equal(pm_block_passes_named(pm_block_pass_name((enum pm_block_pass)p)), 1u << p);
    assert_int_equal(pm_block_passes_named("optimize"), 0);
}

/* The names in the config are the passes'. */
static void test_names_in_config(void **state)
{
    (void)state;
    struct pm_config config;
    struct pm_error error = {0};
    char text[PM_BLOCK_PASSES_TEXT];
    pm_config_init(&config);
    for (uint32_t passes = 0; passes <= PM_BLOCK_ALL; passes++) {
        pm_block_passes_format(passes, text);
        if (!pm_config_set(&config, "optimize.block_passes", text, "test", &error))
            fail_msg("%s", error.message);
        assert_int_equal(config.optimize.block_passes, passes);
    }
    pm_config_finish(&config);
}

static void test_refused(void **state)
{
    (void)state;
    struct block_subject subject = block_subject("OpStore %to %f1\n");
    struct pm_error error = {0};
    struct pm_optimized_blocks out;
    const struct pm_block_profile profile = {.block_count = 2};
    struct pm_optimize_blocks_info info = {
        .profile = &profile, .passes = PM_BLOCK_ALL, .target = {.vulkan_minor = 3}};
    assert_false(pm_optimize_blocks(subject.words.data, subject.words.count, &info, &out, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_non_null(strstr(error.message, "2 blocks, the module 1"));
    assert_false(pm_optimize_blocks(subject.words.data, 3, &info, &out, &error));
    /* Nothing known, nothing done. */
    info.profile = NULL;
    assert_true(pm_optimize_blocks(subject.words.data, subject.words.count, &info, &out, &error));
    assert_int_equal(out.changes, 0);
    assert_null(out.words.data);
    pm_optimized_blocks_finish(&out);
    block_subject_finish(&subject);
}

static void test_profile(void **state)
{
    (void)state;
    struct pm_point_estimate points[2] = {{.calls = 1}};
    struct pm_shader_estimates estimates = {.kind = PM_KIND_BLOCK, .space = 2, .points = points};
    points[0].measures[PM_MEASURE_FREQUENCY] = (struct pm_ratio){
        .ratio = 2, .ratio_low = 1.5, .ratio_high = 2.5, .mean = 9, .clusters = 3};
    points[0].measures[PM_MEASURE_UNIFORM] = (struct pm_ratio){.ratio = 0.75, .clusters = 3};
    points[0].measures[PM_MEASURE_SUBGROUPS] = (struct pm_ratio){.ratio = 3, .clusters = 3};
    struct pm_block_profile profile;
    assert_true(pm_block_profile_init(&profile, &estimates));
    assert_int_equal(profile.block_count, 2);
    assert_true(profile.frequency[0] == 2 && profile.low[0] == 1.5 && profile.high[0] == 2.5);
    assert_true(profile.uniform[0] == 0.75 && profile.subgroups[0] == 3);
    assert_true(isnan(profile.frequency[1]) && isnan(profile.uniform[1]));
    pm_block_profile_finish(&profile);
    /* A block of which nobody knows how many subgroups enter is not one that none enters. */
    points[1].measures[PM_MEASURE_FREQUENCY] = (struct pm_ratio){.ratio = 1, .clusters = 3};
    assert_true(pm_block_profile_init(&profile, &estimates));
    assert_true(profile.frequency[0] == 2 && profile.frequency[1] == 1);
    assert_true(profile.uniform[0] == 0.75);
    assert_true(isnan(profile.subgroups[0]) && isnan(profile.subgroups[1]));
    pm_block_profile_finish(&profile);
}

/* Blocks: 0, 1 rare, 2 the end. */
#define RARE(work)                                                                                 \
    "OpSelectionMerge %end None\nOpBranchConditional %d_yes %rare %end\n"                          \
    "%rare = OpLabel\n" work "OpStore %to %a\nOpBranch %end\n%end = OpLabel\n"

static const struct pm_block_profile rare = {.frequency = (const double[]){1, 0.001, 1},
                                             .uniform = (const double[]){1, 0.5, 1},
                                             .subgroups = (const double[]){1, 0.001, 1},
                                             .block_count = 3};

/* What may be saved must be worth a compile and a trial. */
static void test_weighed(void **state)
{
    (void)state;
    struct block_subject small = block_subject(RARE("%a = OpFAdd %float %d %f1\n"));
    struct block_subject large = block_subject(
        RARE("%s = OpExtInst %float %glsl Sin %d\n%t = OpExtInst %float %glsl Sin %s\n"
             "%w = OpExtInst %float %glsl Sin %t\n%v = OpExtInst %float %glsl Pow %w %s\n"
             "%a = OpExtInst %float %glsl Pow %v %t\n"));
    struct pm_optimize_blocks_info info = {.profile = &rare,
                                           .passes = PM_BLOCK_ALL,
                                           .weigh = true,
                                           .subgroup_vote = true,
                                           .target = {.vulkan_minor = 3}};
    struct pm_error error = {0};
    struct pm_optimized_blocks out;
    assert_true(pm_optimize_blocks(small.words.data, small.words.count, &info, &out, &error));
    assert_int_equal(out.changes, 0);
    assert_int_equal(out.changes_by[PM_BLOCK_VERSION], 0);
    assert_null(out.words.data);
    assert_true(out.saved < 25);
    pm_optimized_blocks_finish(&out);
    assert_true(pm_optimize_blocks(large.words.data, large.words.count, &info, &out, &error));
    assert_true(out.changes > 0 && out.words.count > 0 && out.saved > 25);
    uint32_t changes = 0;
    for (uint32_t p = 0; p < PM_BLOCK_PASSES; p++)
        changes += out.changes_by[p];
    assert_int_equal(changes, out.changes);
    assert_true(out.changes_by[PM_BLOCK_VERSION] > 0);
    pm_optimized_blocks_finish(&out);
    info.passes = PM_BLOCK_ALL & ~(1u << PM_BLOCK_VERSION);
    info.weigh = false;
    assert_true(pm_optimize_blocks(large.words.data, large.words.count, &info, &out, &error));
    assert_true(out.changes > 0 && out.changes_by[PM_BLOCK_VERSION] == 0);
    pm_optimized_blocks_finish(&out);
    info.passes = PM_BLOCK_ALL;
    assert_true(pm_optimize_blocks(small.words.data, small.words.count, &info, &out, &error));
    assert_true(out.changes > 0);
    pm_optimized_blocks_finish(&out);
    block_subject_finish(&small);
    block_subject_finish(&large);
}

/* The profile of a module serves what another pass has made of it. */
static void test_points_given(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(RARE("%a = OpExtInst %float %glsl Sin %d\n"));
    const struct block_known known = {{1, 0.001, 1}, {1, 0.5, 1}, {1, 0.001, 1}};
    struct block_subject changed_one = block_optimized(&subject, "optimize_version", &known, NULL);
    struct pm_block_points points;
    struct pm_error error = {0};
    struct pm_optimized_blocks out;
    assert_true(pm_points_blocks(subject.words.data, subject.words.count, &points, &error));
    struct pm_optimize_blocks_info info = {.profile = &rare,
                                           .passes = pm_block_passes_named("optimize_flatten"),
                                           .target = {.vulkan_minor = 3}};
    const struct pm_words *words = &changed_one.words;
    assert_false(pm_optimize_blocks(words->data, words->count, &info, &out, &error));
    assert_non_null(strstr(error.message, "3 blocks, the module 5"));
    info.points = &points;
    assert_true(pm_optimize_blocks(words->data, words->count, &info, &out, &error));
    /* Of the block that the vote is in it is known, of the one behind it not. */
    assert_int_equal(out.changes, 0);
    pm_optimized_blocks_finish(&out);
    /* What is gone is no trouble. */
    points.points[1].label = 1u << 20;
    assert_true(pm_optimize_blocks(words->data, words->count, &info, &out, &error));
    pm_optimized_blocks_finish(&out);
    pm_block_points_finish(&points);
    block_subject_finish(&changed_one);
    block_subject_finish(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),          cmocka_unit_test(test_names),
        cmocka_unit_test(test_names_in_config), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_profile),         cmocka_unit_test(test_weighed),
        cmocka_unit_test(test_points_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
