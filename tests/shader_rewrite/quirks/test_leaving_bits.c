/* What passes over blocks and the recipes of variants make of loops that lanes leave at different
 * times computes what the original does, on every driver: also where the driver gets that wrong;
 * and what they make of loops in whose turns there are constants. */
#include "shader_rewrite/variants/variants.h"
#include "tests/gpu/gpu.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/gpu_driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 64, VALUES = 8, WORDS = LANES * VALUES, PROFILES = 8 };
enum { STEADY_AND_RARE = 0 }; /* of adversary_block_ways */

static const struct pm_target vulkan_1_3 = {.vulkan_minor = 3};

static void run(const struct pm_words *module, uint32_t *words)
{
    struct pm_gpu_buffer in, out;
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &in);
    pm_gpu_buffer_create(&pm_test_gpu, WORDS * sizeof(uint32_t), &out);
    for (uint32_t i = 0; i < WORDS; i++)
        ((float *)in.data)[i] = (float)(i % 7) + 1;
    const struct pm_gpu_shader shader = {
        .words = module->data, .count = module->count, .buffers = {&in, &out}};
    pm_gpu_dispatch(&pm_test_gpu, &shader, 1, 1, 1);
    memcpy(words, out.data, WORDS * sizeof(uint32_t));
    pm_gpu_buffer_destroy(&pm_test_gpu, &in);
    pm_gpu_buffer_destroy(&pm_test_gpu, &out);
}

static const char *const folders[] = {
    PM_TEST_LEAVING,      PM_TEST_LEAVING,      PM_TEST_LEAVING,     PM_TEST_LEAVING,
    PM_TEST_LEAVING,      PM_TEST_LEAVING,      PM_TEST_LEAVING,     PM_TEST_LEAVING,
    PM_TEST_ZERO_REGIONS, PM_TEST_ZERO_REGIONS, PM_TEST_ZERO_REGIONS};
static const char *const names[] = {
    "made.comp",           "tested.comp",       "rare.comp",          "ready.comp",
    "begun.comp",          "tables.comp",       "sums.comp",          "scalars.comp",
    "leaving_chosen.comp", "leaving_read.comp", "leaving_branch.comp"};
enum { MADE, TESTED, SUMS = 6, SCALARS, SHADERS = sizeof names / sizeof names[0] };

static struct subject {
    struct pm_words canonical;
    uint32_t expected[WORDS];
} subjects[SHADERS];

static size_t different(const struct subject *subject, const struct pm_words *module)
{
    static uint32_t words[WORDS];
    size_t count = 0;
    if (module->count == 0)
        return 0;
    run(module, words);
    for (size_t i = 0; i < WORDS; i++)
        count += words[i] != subject->expected[i];
    return count;
}

/* How many words differ from the original's with guards for the driver, over some profiles. */
static size_t differ(int shader, uint32_t passes, bool vote, const struct pm_driver *driver)
{
    const struct subject *subject = &subjects[shader];
    struct pm_error error = {0};
    size_t count = 0;
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct pm_optimized_blocks out;
        if (!adversary_blocks(passes, STEADY_AND_RARE, seed, &subject->canonical, vote, &vulkan_1_3,
                              driver, &out, &error))
            fail_msg("%s, profile %u: %s", names[shader], (unsigned)seed, error.message);
        count += different(subject, &out.words);
        pm_optimized_blocks_finish(&out);
    }
    return count;
}

/* Likewise of a recipe of variants. */
static size_t varied(int shader, const struct pm_recipe *recipe, const struct pm_driver *driver)
{
    const struct subject *subject = &subjects[shader];
    const struct pm_variant_info info = {
        .choice = {recipe, NULL}, .target = vulkan_1_3, .driver = driver, .subgroup_vote = true};
    struct pm_words variant;
    struct pm_error error = {0};
    if (!pm_make_variant(subject->canonical.data, subject->canonical.count, &info, &variant,
                         &error))
        fail_msg("%s, %s: %s", names[shader], recipe->name, error.message);
    const size_t count = different(subject, &variant);
    pm_words_finish(&variant);
    return count;
}

static void each_pass(void **state)
{
    (void)state;
    const struct pm_driver driver = gpu_driver(&pm_test_gpu);
    for (int shader = 0; shader < SHADERS; shader++) {
        for (uint32_t pass = 0; pass < PM_BLOCK_PASSES; pass++) {
            const size_t count = differ(shader, 1u << pass, true, &driver);
            if (count != 0)
                fail_msg("%s, %s: %zu words", names[shader], pm_block_pass_name(pass), count);
        }
    }
}

static void all_passes(void **state)
{
    (void)state;
    const struct pm_driver driver = gpu_driver(&pm_test_gpu);
    for (int shader = 0; shader < SHADERS; shader++) {
        assert_int_equal(differ(shader, PM_BLOCK_ALL, false, &driver), 0);
        assert_int_equal(differ(shader, PM_BLOCK_ALL, true, NULL), 0);
    }
}

static void each_recipe(void **state)
{
    (void)state;
    const struct pm_driver driver = gpu_driver(&pm_test_gpu);
    for (int shader = 0; shader < SHADERS; shader++) {
        for (uint32_t r = 0; r < pm_recipe_count(); r++) {
            const size_t count = varied(shader, pm_recipe_at(r), &driver);
            if (count != 0)
                fail_msg("%s, %s: %zu words", names[shader], pm_recipe_at(r)->name, count);
        }
    }
}

/* How many recipes, and how many passes over blocks, would change words without guards. */
static uint32_t recipes_that_differ(const struct pm_driver *other)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        size_t words = 0;
        for (int shader = 0; shader < SHADERS; shader++)
            words += varied(shader, pm_recipe_at(r), other);
        count += words > 0;
    }
    return count;
}

static uint32_t passes_that_differ(const struct pm_driver *other)
{
    uint32_t count = 0;
    for (uint32_t pass = 0; pass < PM_BLOCK_PASSES; pass++) {
        size_t words = 0;
        for (int shader = 0; shader < SHADERS; shader++)
            words += differ(shader, 1u << pass, true, other);
        count += words > 0;
    }
    return count;
}

/* The guards are on for those drivers alone that need them: this fails on one that was mended. */
static void quirks_are_there(void **state)
{
    (void)state;
    const struct pm_driver driver = gpu_driver(&pm_test_gpu);
    const struct pm_driver other = {.id = VK_DRIVER_ID_NVIDIA_PROPRIETARY, .version = 1};
    const uint32_t quirks = pm_quirks_of(&driver);
    const bool chooses = quirks & PM_QUIRK_CHOOSES_AGAIN,
               again = quirks & (PM_QUIRK_CHOOSES_AGAIN | PM_QUIRK_LOADS_AGAIN);
    assert_int_equal(pm_quirks_of(&other), 0);
    assert_int_equal(differ(MADE, PM_BLOCK_ALL, false, &other) > 0, again);
    const uint32_t recipes = recipes_that_differ(&other), passes = passes_that_differ(&other);
    print_message("%u recipes and %u passes need the guard\n", recipes, passes);
    assert_int_equal(recipes > 0, chooses);
    assert_int_equal(passes > 0, again);
}

/* Likewise those against hints to unroll. */
static void check_unrolling(int shader, uint32_t quirk)
{
    const struct pm_driver driver = gpu_driver(&pm_test_gpu);
    const struct pm_driver other = {.id = VK_DRIVER_ID_NVIDIA_PROPRIETARY, .version = 1};
    const size_t asked = varied(shader, pm_recipe_find("ask-unroll"), &other);
    print_message("%s: %zu words differ where it is asked to unroll\n", names[shader], asked);
    assert_int_equal(asked > 0, (pm_quirks_of(&driver) & quirk) != 0);
}

static void unrolls_short(void **state)
{
    (void)state;
    check_unrolling(TESTED, PM_QUIRK_UNROLLS_SHORT);
}

static void unrolls_inexact(void **state)
{
    (void)state;
    check_unrolling(SUMS, PM_QUIRK_UNROLLS_INEXACT);
}

/* Likewise that against vectors component by component. */
static void folds_scalars(void **state)
{
    (void)state;
    const struct pm_driver driver = gpu_driver(&pm_test_gpu);
    const struct pm_driver other = {.id = VK_DRIVER_ID_NVIDIA_PROPRIETARY, .version = 1};
    const size_t words = varied(SCALARS, pm_recipe_find("scalarize"), &other);
    print_message("%s: %zu words differ component by component\n", names[SCALARS], words);
    assert_int_equal(words > 0, (pm_quirks_of(&driver) & PM_QUIRK_FOLDS_SCALARS) != 0);
}

static int set_up(void **state)
{
    if (pm_gpu_set_up(state) != 0)
        return -1;
    for (int shader = 0; shader < SHADERS; shader++) {
        struct pm_error error = {0};
        struct pm_words original;
        pm_gpu_load(folders[shader], names[shader], &original.data, &original.count);
        const struct pm_canonicalize_info info = {.words = original.data,
                                                  .word_count = original.count,
                                                  .stage = PM_STAGE_COMPUTE,
                                                  .entry_point = "main",
                                                  .target = vulkan_1_3};
        if (!pm_canonicalize(&info, &subjects[shader].canonical, &error))
            fail_msg("%s: %s", names[shader], error.message);
        run(&original, subjects[shader].expected);
        pm_words_finish(&original);
    }
    return 0;
}

static int tear_down(void **state)
{
    for (int shader = 0; shader < SHADERS; shader++)
        pm_words_finish(&subjects[shader].canonical);
    return pm_gpu_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pass),     cmocka_unit_test(all_passes),
        cmocka_unit_test(each_recipe),   cmocka_unit_test(quirks_are_there),
        cmocka_unit_test(unrolls_short), cmocka_unit_test(unrolls_inexact),
        cmocka_unit_test(folds_scalars)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
