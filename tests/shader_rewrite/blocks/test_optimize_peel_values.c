/* What optimize_peel makes of loops that lanes leave at different times computes what the original
 * does, on every driver. */
#include "shader_rewrite/quirks/quirks.h"
#include "tests/gpu/gpu.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"

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

/* How many words differ from the original's with guards for the driver, over some profiles. */
static size_t differ(const struct pm_driver *driver)
{
    static uint32_t expected[WORDS], words[WORDS];
    struct pm_error error = {0};
    struct pm_words original, canonical;
    size_t different = 0;
    pm_gpu_load(PM_TEST_PEELED, "leaving.comp", &original.data, &original.count);
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = vulkan_1_3};
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s", error.message);
    run(&original, expected);
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct pm_optimized_blocks out;
        if (!adversary_blocks(STEADY_AND_RARE, seed, &canonical, false, &vulkan_1_3, driver, &out,
                              &error))
            fail_msg("profile %u: %s", (unsigned)seed, error.message);
        if (out.words.count) {
            run(&out.words, words);
            for (size_t i = 0; i < WORDS; i++)
                different += words[i] != expected[i];
        }
        pm_optimized_blocks_finish(&out);
    }
    pm_words_finish(&original);
    pm_words_finish(&canonical);
    return different;
}

static struct pm_driver this_driver(void)
{
    return pm_driver_of(pm_test_gpu.driver_id, pm_test_gpu.driver_version, pm_test_gpu.driver_info);
}

static void test_same_bits(void **state)
{
    (void)state;
    const struct pm_driver driver = this_driver();
    assert_int_equal(differ(&driver), 0);
    assert_int_equal(differ(NULL), 0);
}

/* The guard is on for those drivers alone that need it: this fails on one that was mended. */
static void test_quirks_are_there(void **state)
{
    (void)state;
    const struct pm_driver driver = this_driver();
    const struct pm_driver other = {.id = VK_DRIVER_ID_NVIDIA_PROPRIETARY, .version = 1};
    const uint32_t again = PM_QUIRK_CHOOSES_AGAIN | PM_QUIRK_LOADS_AGAIN;
    assert_int_equal(pm_quirks_of(&other), 0);
    assert_int_equal(differ(&other) > 0, (pm_quirks_of(&driver) & again) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits),
                                       cmocka_unit_test(test_quirks_are_there)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
