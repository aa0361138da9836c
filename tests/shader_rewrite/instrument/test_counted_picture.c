/* Counting zeros changes no pixel, also where nothing is `precise`: a driver that folds floats
 * inexactly by what uses a value sees the same uses as in the original (counted_copies.h). */
#include "shader_rewrite/shader_rewrite.h"
#include "tests/cmocka_includes.h"
#include "tests/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 256, HEIGHT = 192 };

static const struct pm_target vulkan_1_3 = {.vulkan_minor = 3};

static size_t texel_bytes(VkFormat format)
{
    return format == VK_FORMAT_R8G8B8A8_UNORM ? 4 : 16;
}

static void *draw(const struct pm_words *words, const VkSpecializationInfo *specialization,
                  VkFormat format)
{
    static const struct pm_gpu_vertex corners[6] = {
        {{-1, -1, 0.5f, 1}, {-1, -1}}, {{1, -1, 0.5f, 1}, {1, -1}}, {{-1, 1, 0.5f, 1}, {-1, 1}},
        {{-1, 1, 0.5f, 1}, {-1, 1}},   {{1, -1, 0.5f, 1}, {1, -1}}, {{1, 1, 0.5f, 1}, {1, 1}},
    };
    const struct pm_gpu_draw call = {
        .fragment = {.words = words->data, .count = words->count, .specialization = specialization},
        .vertices = corners,
        .vertex_count = 6,
        .width = WIDTH,
        .height = HEIGHT,
        .format = format};
    size_t size;
    void *texels = pm_gpu_draw(&pm_test_gpu, &call, &size);
    assert_int_equal(size, WIDTH * HEIGHT * texel_bytes(format));
    return texels;
}

static void *draw_counted(const struct pm_words *canonical, VkFormat format)
{
    struct pm_error error = {0};
    struct pm_zero_points all;
    struct pm_instrumented out;
    assert_true(pm_zero_candidates(canonical->data, canonical->count, &all, &error));
    uint32_t *points = malloc((all.count + 1) * sizeof(*points));
    assert_non_null(points);
    for (uint32_t i = 0; i < all.count; i++)
        points[i] = i;
    const struct pm_instrument_info info = {.all_candidates = true,
                                            .count_copies = true,
                                            .points = points,
                                            .point_count = all.count,
                                            .slot_count = 16,
                                            .int64_atomics = pm_test_gpu.int64_atomics,
                                            .subgroup_quad = true,
                                            .target = vulkan_1_3};
    if (!pm_instrument_zero(canonical->data, canonical->count, &info, &out, &error))
        fail_msg("%s", error.message);
    free(points);
    pm_zero_points_finish(&all);

    struct pm_gpu_buffer counters;
    pm_gpu_buffer_create(&pm_test_gpu, out.counter_bytes, &counters);
    const uint32_t address[2] = {(uint32_t)counters.address, (uint32_t)(counters.address >> 32)};
    const VkSpecializationMapEntry entries[2] = {{out.spec_id_low, 0, 4}, {out.spec_id_high, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof address, address};
    void *texels = draw(&out.words, &specialization, format);
    const uint64_t *counts = counters.data;
    uint64_t counted = 0;
    for (uint32_t i = 0; i < pm_zero_units(&out.zeros); i++)
        counted += counts[i];
    assert_true(counted > 0);
    pm_gpu_buffer_destroy(&pm_test_gpu, &counters);
    pm_instrumented_finish(&out);
    return texels;
}

static void check(const char *name, VkFormat format)
{
    struct pm_error error = {0};
    struct pm_words original, canonical;
    pm_gpu_load(PM_TEST_PICTURES, name, &original.data, &original.count);
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = PM_STAGE_FRAGMENT,
                                              .entry_point = "main",
                                              .target = vulkan_1_3};
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s", error.message);
    uint8_t *plain = draw(&original, NULL, format), *counted = draw_counted(&canonical, format);
    const size_t bytes = texel_bytes(format);
    uint32_t different = 0;
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        different += memcmp(&plain[i * bytes], &counted[i * bytes], bytes) != 0;
    if (different)
        fail_msg("%s on %s: %u of %u pixels differ where zeros are counted", name, pm_test_gpu.name,
                 different, WIDTH * HEIGHT);
    free(plain);
    free(counted);
    pm_words_finish(&original);
    pm_words_finish(&canonical);
}

static void test_turns(void **state)
{
    (void)state;
    check("turns.frag", VK_FORMAT_R32G32B32A32_SFLOAT);
}

/* In floats it is not the same, whatever is counted: with counters in it a loop is too long to be
 * unrolled, and sin() of its index is then computed by the shader. */
static void test_escape(void **state)
{
    (void)state;
    check("escape.frag", VK_FORMAT_R8G8B8A8_UNORM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns), cmocka_unit_test(test_escape)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
