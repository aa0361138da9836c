/* Compute shaders in several passes write the bits that they write in one, on every driver.
 *
 *   test_shader_rewrite_partition [FIRST [COUNT]]
 *
 * Random shaders of these seeds, and every shape in every way. Else lavapipe 25, and quickly
 * (tests/all.h) every driver, has half the ways of a shape, and the next shape the others; lavapipe
 * 25 then has half of the random shaders, too.
 *
 * Every float is NoContraction in both, so that no driver fuses what one of them has together and
 * the other in two passes (HAZARDS 3).
 */
#include "tests/all.h"
#include "tests/shader_rewrite/differential/differential.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static struct differential differential;
static uint64_t first_seed = 1, seed_count = 6;
static bool half_the_ways;
static const struct pm_target target = {.vulkan_minor = 3, .uniform_buffer_standard_layout = true};

/* What a pass may take, from little to much. */
static const struct pm_pass_limits limits[] = {
    {8, 8, 64, 64, 64, 64, 16, false},
    {20, 20, 64, 64, 64, 64, 8, false},
    {60, 60, 200, 64, 64, 64, 50, false},
};
enum { LIMITS = sizeof(limits) / sizeof(limits[0]) };

static struct {
    uint32_t shaders, partitions, passes, spilled, own, opened, switches, refused;
} seen;

/* In this region of the memory; UINT32_MAX: it has none. */
static void run_partition(const struct pm_partitioned *made, uint32_t region,
                          struct differential_output *output)
{
    struct pm_gpu_buffer scratch;
    struct differential_pass *passes = calloc(made->count, sizeof(*passes));
    VkSpecializationInfo *infos = calloc(made->count, sizeof(*infos));
    VkSpecializationMapEntry *entries = calloc(made->count, 3 * sizeof(*entries));
    assert_true(passes && infos && entries);
    size_t invocations = RANDOM_SHADER_GROUPS * (size_t)made->workgroup_invocations;
    const bool regions = region != UINT32_MAX;
    const size_t words = made->scratch_words * invocations + 1;
    pm_gpu_buffer_create(&differential.gpu, 4 * words * (regions ? region + (size_t)2 : 1),
                         &scratch);
    memset(scratch.data, 0xa5, scratch.size); /* what nobody wrote */
    const uint32_t values[] = {(uint32_t)scratch.address, (uint32_t)(scratch.address >> 32),
                               (uint32_t)words};
    for (uint32_t i = 0; i < made->count; i++) {
        entries[3 * i] = (VkSpecializationMapEntry){made->passes[i].spec_id_low, 0, 4};
        entries[3 * i + 1] = (VkSpecializationMapEntry){made->passes[i].spec_id_high, 4, 4};
        entries[3 * i + 2] = (VkSpecializationMapEntry){made->passes[i].spec_id_region, 8, 4};
        infos[i] = (VkSpecializationInfo){regions ? 3 : 2, &entries[3 * i], sizeof(values), values};
        passes[i] =
            (struct differential_pass){&made->passes[i].words, &infos[i], regions ? region : 0};
    }
    differential_run_passes(&differential, passes, made->count, output);
    /* Nothing of another region was written. */
    for (size_t i = 0; regions && i < scratch.size; i++)
        if ((i / 4 < region * words || i / 4 >= (region + (size_t)1) * words) &&
            ((const uint8_t *)scratch.data)[i] != 0xa5)
            fail_msg("word %zu of another region was written", i / 4);
    pm_gpu_buffer_destroy(&differential.gpu, &scratch);
    free(passes);
    free(infos);
    free(entries);
}

/* Each pass is told of when it is the last one made. */
static void count_made(void *user, const struct pm_partitioned *so_far)
{
    uint32_t *made = user;
    assert_int_equal(so_far->count, ++*made);
    assert_true(so_far->passes[*made - 1].words.count > 0 && so_far->workgroup_invocations > 0);
}

static void check(uint64_t seed, const struct pm_words *words,
                  const struct differential_output *expected, const struct pm_pass_limits *limit,
                  enum pm_partition_method method)
{
    static struct differential_output output;
    struct pm_error error = {0};
    struct pm_partitioned made;
    size_t first = 0;
    uint32_t told = 0;
    /* Half of them in a region, which is told by where a dispatch begins. */
    const uint32_t region = (seed + method) % 2 ? (uint32_t)(seed % 5) : UINT32_MAX;
    const struct pm_partition_info info = {.limits = limit,
                                           .method = method,
                                           .target = target,
                                           .regions = region != UINT32_MAX,
                                           .made = count_made,
                                           .user = &told};
    if (!pm_partition(words->data, words->count, &info, &made, &error)) {
        if (error.code != PM_ERROR_UNSUPPORTED)
            fail_msg("seed %" PRIu64 ", %u operations a pass, method %d: %s", seed, limit->alu,
                     method, error.message);
        seen.refused++;
        return;
    }
    assert_int_equal(told, made.count);
    run_partition(&made, region, &output);
    size_t different = differential_compare(expected, &output, &first);
    if (different)
        fail_msg("seed %" PRIu64
                 ", %u operations a pass, method %d, %u passes: %zu words differ, from %zu on",
                 seed, limit->alu, method, made.count, different, first);
    seen.partitions++;
    seen.passes += made.count;
    seen.spilled += made.scratch_words;
    seen.own += made.own_words;
    seen.opened += made.opened;
    seen.switches += made.switches;
    pm_partitioned_finish(&made);
}

static struct pm_words canonicalize(const struct pm_words *original)
{
    struct pm_error error = {0};
    struct pm_words out;
    const struct pm_canonicalize_info info = {.words = original->data,
                                              .word_count = original->count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = target};
    if (!pm_canonicalize(&info, &out, &error))
        fail_msg("%s", error.message);
    struct pm_words precise = differential_precise(&out);
    pm_words_finish(&out);
    return precise;
}

static struct pm_words random_words(uint64_t seed)
{
    const struct random_shader_options options = {
        .stage = PM_STAGE_COMPUTE,
        .float64 = differential.gpu.float64 && seed % 4 == 3,
        .int64 = differential.gpu.int64 && seed % 4 >= 2,
        .specials = seed % 8 >= 6,
        .raw_copies = seed % 3 == 2,
        .words = seed % 5 == 4,
        .uniforms = seed / 5 % 2,
        .statements = RANDOM_SHADER_STATEMENTS,
    };
    char *text = random_shader_text(seed, &options);
    struct pm_words original = pm_test_assemble(text, 3);
    free(text);
    struct pm_words words = canonicalize(&original);
    pm_words_finish(&original);
    return words;
}

/* Over whose whole the driver's compiler ends the process. */
static bool ends_the_driver(uint64_t seed)
{
    const char *driver = getenv("PM_TEST_DRIVER");
    return driver && !strcmp(driver, "lavapipe-25") && seed == 2092;
}

static void passes_compute_what_the_whole_does(void **state)
{
    (void)state;
    static struct differential_output expected;
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        if (ends_the_driver(seed)) {
            printf("seed %" PRIu64 " is left out: its whole ends the driver\n", seed);
            continue;
        }
        struct pm_words words = random_words(seed);
        differential_inputs(&differential, seed, seed % 8 >= 6);
        differential_run(&differential, &words, PM_STAGE_COMPUTE, NULL, &expected);
        for (uint32_t l = 0; l < LIMITS; l++)
            check(seed, &words, &expected, &limits[l],
                  (enum pm_partition_method)((seed + l) % PM_PARTITION_METHODS));
        pm_words_finish(&words);
        seen.shaders++;
    }
    printf("%u shaders, %u partitions of %u passes, %u words spilled, %u of them of own variables, "
           "%u selections cut open, %u switches made selections, %u refused\n",
           seen.shaders, seen.partitions, seen.passes, seen.spilled, seen.own, seen.opened,
           seen.switches, seen.refused);
    assert_true(seen.passes > 2 * seen.partitions);
    assert_true(seed_count < 6 || seen.opened);
}

/* By all methods, in passes from small to large. What is made is the same on every driver. */
static void check_shape(const char *name, const struct pm_words *original, uint64_t seed)
{
    static struct differential_output expected;
    struct pm_words words = canonicalize(original);
    differential_run(&differential, &words, PM_STAGE_COMPUTE, NULL, &expected);
    const uint32_t partitions = seen.partitions, passes = seen.passes, own = seen.own;
    const uint32_t switches = seen.switches;
    for (uint32_t way = 0; way < LIMITS * PM_PARTITION_METHODS; way++)
        if (!half_the_ways || (seed + way) % 2)
            check(seed, &words, &expected, &limits[way % LIMITS],
                  (enum pm_partition_method)(way / LIMITS));
    if (seen.partitions == partitions || seen.passes - passes <= seen.partitions - partitions)
        fail_msg("%s was never cut", name);
    if (strncmp(name, "live", 4) == 0 && seen.own == own)
        fail_msg("no variable of %s was spilled", name);
    if (strncmp(name, "switch", 6) == 0 && seen.switches == switches)
        fail_msg("no switch of %s became selections", name);
    pm_words_finish(&words);
}

/* What the shapes are for is in them. */
static void shapes_compute_what_the_whole_does(void **state)
{
    (void)state;
    static const char *const names[] = {
        "early_return", "nested_return", "barrier",       "own_array",      "branches",
        "atomics",      "live_array",    "live_kinds",    "endless_return", "halves",
        "together",     "switch_labels", "switch_values", "switch_return",  "transposes"};
    differential_inputs(&differential, 5, false);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct pm_words original;
        char file[64];
        if (!strcmp(names[i], "halves") && !differential.gpu.small_types)
            continue;
        snprintf(file, sizeof(file), "%s.comp", names[i]);
        pm_gpu_load(PM_TEST_SHAPES, file, &original.data, &original.count);
        check_shape(names[i], &original, i);
        pm_words_finish(&original);
    }
}

static void selectors_have_any_width(void **state)
{
    (void)state;
    const struct {
        const char *file;
        bool runs;
    } selectors[] = {{"switch_wide.spvasm", differential.gpu.int64},
                     {"switch_narrow.spvasm", differential.gpu.small_types}};
    differential_inputs(&differential, 5, false);
    for (size_t i = 0; i < sizeof(selectors) / sizeof(selectors[0]); i++) {
        if (!selectors[i].runs)
            continue;
        struct pm_words original = pm_test_assemble_file(selectors[i].file, 3);
        check_shape(selectors[i].file, &original, i);
        pm_words_finish(&original);
    }
}

/* What fits a pass fits a larger one: what belongs together is cut open where it is too large only
 * together. */
static void larger_passes_cut_too(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        uint32_t least;
    } shapes[] = {{"together.comp", 4}, {"switch_labels.comp", 10}, {"switch_return.comp", 10}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct pm_words original;
        pm_gpu_load(PM_TEST_SHAPES, shapes[i].file, &original.data, &original.count);
        struct pm_words words = canonicalize(&original);
        for (uint32_t alu = shapes[i].least; alu <= 80; alu++) {
            const struct pm_pass_limits limit = {alu,         PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT,
                                                 PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT, false};
            const struct pm_partition_info info = {.limits = &limit, .target = target};
            struct pm_partitioned made;
            struct pm_error error = {0};
            if (!pm_partition(words.data, words.count, &info, &made, &error))
                fail_msg("%s, %u operations a pass: %s", shapes[i].file, alu, error.message);
            pm_partitioned_finish(&made);
        }
        pm_words_finish(&words);
        pm_words_finish(&original);
    }
}

/* Where one of a construct's values cannot be spilled, others are asked for first. */
static void large_values_stay_where_they_are(void **state)
{
    (void)state;
    static struct differential_output expected;
    struct pm_words original;
    pm_gpu_load(PM_TEST_SHAPES, "large_value.comp", &original.data, &original.count);
    struct pm_words words = canonicalize(&original);
    differential_inputs(&differential, 5, false);
    differential_run(&differential, &words, PM_STAGE_COMPUTE, NULL, &expected);
    const uint32_t passes = seen.passes;
    for (uint32_t alu = 4; alu <= 24; alu += 4) {
        const struct pm_pass_limits limit = {alu,         PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT,
                                             PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT, false};
        const struct pm_partition_info info = {.limits = &limit, .target = target};
        struct pm_partitioned made;
        struct pm_error error = {0};
        if (!pm_partition(words.data, words.count, &info, &made, &error))
            fail_msg("%u operations a pass: %s", alu, error.message);
        pm_partitioned_finish(&made);
        if (alu == 12) /* drivers take long for what is cut open */
            check(alu, &words, &expected, &limit, PM_PARTITION_BEYOND);
    }
    assert_true(seen.passes - passes > 1);
    pm_words_finish(&words);
    pm_words_finish(&original);
}

static void what_cannot_be_cut_stays_whole(void **state)
{
    (void)state;
    static const struct {
        const char *file, *reason;
        uint32_t limit;
    } shapes[] = {
        {"spin_in_selection.comp", "a loop reads what other invocations may write meanwhile", 0},
        {"spin_in_switch.comp", "a loop reads what other invocations may write meanwhile", 2},
        {"chosen_pointer.comp", "gives a pointer that it loads", 0},
        {"switch_falls.comp", "its cases are not apart", 0},
        {"switch_leaves.comp", "its cases are not apart", 0},
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const struct pm_partition_info info = {.limits = &limits[shapes[i].limit],
                                               .target = target};
        struct pm_words original;
        struct pm_partitioned made;
        struct pm_error error = {0};
        pm_gpu_load(PM_TEST_SHAPES, shapes[i].file, &original.data, &original.count);
        struct pm_words words = canonicalize(&original);
        if (pm_partition(words.data, words.count, &info, &made, &error))
            fail_msg("%s was cut into %u passes", shapes[i].file, made.count);
        if (error.code != PM_ERROR_UNSUPPORTED || !strstr(error.message, shapes[i].reason))
            fail_msg("%s: %s", shapes[i].file, error.message);
        pm_words_finish(&words);
        pm_words_finish(&original);
    }
}

static int set_up(void **state)
{
    (void)state;
    differential_create(&differential);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    differential_destroy(&differential);
    return 0;
}

int main(int argc, char **argv)
{
    const char *driver = getenv("PM_TEST_DRIVER");
    const bool is_slow = driver && !strcmp(driver, "lavapipe-25");
    half_the_ways = argc == 1 && (is_slow || !pm_test_all());
    if (is_slow && !pm_test_all())
        seed_count /= 2;
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 0), seed_count = 1;
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_compute_what_the_whole_does),
                                       cmocka_unit_test(selectors_have_any_width),
                                       cmocka_unit_test(larger_passes_cut_too),
                                       cmocka_unit_test(large_values_stay_where_they_are),
                                       cmocka_unit_test(what_cannot_be_cut_stays_whole),
                                       cmocka_unit_test(passes_compute_what_the_whole_does)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
