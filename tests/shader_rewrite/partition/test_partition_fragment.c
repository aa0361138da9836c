/* Fragment shaders in several passes draw the bits that they draw in one, on every driver: each
 * pass's color attachments are what the next ones fetch. */
#include "tests/gpu/gpu_private.h"
#include "tests/shader_rewrite/partition/pass_drawing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const struct pm_target target = {.vulkan_minor = 3};

static struct {
    uint32_t partitions, passes, images, switches, refused;
} seen;

/* The harness's descriptors, which are the whole's too. */
static void draw_passes(struct pm_gpu *gpu, const struct pm_partitioned *made, void *picture)
{
    const struct pm_gpu_shader shader = {0};
    struct pm_gpu_buffer dummy;
    pm_gpu_buffer_create(gpu, PM_GPU_PUSH_BYTES, &dummy);
    const struct pm_pass_drawing drawing = {.gpu = gpu,
                                            .vertex = gpu->vertex,
                                            .set_layouts = {gpu->set_layout},
                                            .sets = {gpu_descriptors(gpu, &shader, &dummy)},
                                            .set_count = 1,
                                            .outputs = 1};
    pm_pass_drawing_draw(&drawing, made, picture);
    pm_gpu_buffer_destroy(gpu, &dummy);
}

static void check(struct pm_gpu *gpu, const char *file, uint32_t alu, uint32_t outputs)
{
    struct pm_error error = {0};
    struct pm_partitioned made;
    const struct pm_pass_limits limits = {alu, 16, 200, 32, 64, 16, outputs, true};
    struct pm_words words = pm_pass_drawing_load(PM_TEST_FRAGMENTS, file);
    const struct pm_gpu_draw draw = {.fragment = {.words = words.data, .count = words.count},
                                     .vertices = pm_pass_drawing_vertices,
                                     .vertex_count = PM_PASS_DRAWING_VERTICES,
                                     .width = PM_PASS_DRAWING_SIDE,
                                     .height = PM_PASS_DRAWING_SIDE};
    size_t size;
    void *expected = pm_gpu_draw(gpu, &draw, &size), *drawn = malloc(size);
    assert_non_null(drawn);
    for (int method = 0; method < PM_PARTITION_METHODS; method++) {
        const struct pm_partition_info info = {
            .limits = &limits, .method = (enum pm_partition_method)method, .target = target};
        if (!pm_partition(words.data, words.count, &info, &made, &error)) {
            if (error.code != PM_ERROR_UNSUPPORTED)
                fail_msg("%s of %u: %s", file, alu, error.message);
            seen.refused++;
            continue;
        }
        assert_true(made.fragment);
        pm_pass_drawing_assert_whole(&made, 1);
        draw_passes(gpu, &made, drawn);
        if (memcmp(expected, drawn, size) != 0)
            fail_msg("%s, %u operations, %u outputs, method %d: another picture in %u passes", file,
                     alu, outputs, method, made.count);
        seen.partitions++;
        seen.passes += made.count;
        seen.images += made.image_count;
        seen.switches += made.switches;
        pm_partitioned_finish(&made);
    }
    free(drawn);
    free(expected);
    pm_words_finish(&words);
}

static void passes_draw_what_the_whole_does(void **state)
{
    (void)state;
    static const char *const files[] = {"lit.frag", "quads.frag", "switch.frag"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const uint32_t partitions = seen.partitions, passes = seen.passes;
        check(&pm_test_gpu, files[i], 12, 2);
        check(&pm_test_gpu, files[i], 26, 4);
        if (seen.passes - passes <= seen.partitions - partitions)
            fail_msg("%s was never cut", files[i]);
    }
    printf("%u partitions of %u passes and %u images, %u switches made selections, %u refused\n",
           seen.partitions, seen.passes, seen.images, seen.switches, seen.refused);
    assert_true(seen.switches > 0);
}

static void what_cannot_be_cut_stays_whole(void **state)
{
    (void)state;
    static const struct {
        const char *file, *reason;
    } fragments[] = {
        {"discards.frag", "discards"},
        {"only_discards.frag", "discards"},
        {"components.frag", "an output that is not a color attachment's only one"},
        {"dual_source.frag", "an output that is not a color attachment's only one"},
        {"input_attachment.frag", "reads input attachments"},
    };
    const struct pm_pass_limits limits = {4, 16, 200, 32, 64, 16, 4, true};
    const struct pm_partition_info info = {.limits = &limits, .target = target};
    for (size_t i = 0; i < sizeof fragments / sizeof *fragments; i++) {
        struct pm_error error = {0};
        struct pm_partitioned made;
        struct pm_words words = pm_pass_drawing_load(PM_TEST_FRAGMENTS, fragments[i].file);
        if (pm_partition(words.data, words.count, &info, &made, &error))
            fail_msg("%s was cut into %u passes", fragments[i].file, made.count);
        if (error.code != PM_ERROR_UNSUPPORTED || !strstr(error.message, fragments[i].reason))
            fail_msg("%s: %s", fragments[i].file, error.message);
        pm_words_finish(&words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_draw_what_the_whole_does),
                                       cmocka_unit_test(what_cannot_be_cut_stays_whole)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
