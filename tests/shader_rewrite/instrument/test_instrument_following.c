/* What instrumented code takes where lanes of some blocks follow from others. */
#include "profile/profile.h"
#include "shader_rewrite/points/points_blocks.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/corpus_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Instructions of the functions, where all blocks are counted. flow: which lanes follow; NULL:
 * none. */
static uint32_t instructions(const struct corpus_file *file, struct pm_instrument_info info,
                             const struct pm_flow_points *flow)
{
    struct pm_instrumented out;
    struct pm_error error = {0};
    uint32_t count = 0;
    info.flow = flow;
    if (!pm_instrument_blocks(file->words, file->count, &info, &out, &error))
        fail_msg("%s: %s", file->name, error.message);
    for (size_t at = 5; at < out.words.count; at += out.words.data[at] >> 16)
        count += count > 0 || (out.words.data[at] & 0xffff) == SpvOpFunction;
    pm_instrumented_finish(&out);
    return count;
}

/* Lanes that follow take instructions off, and add none in any shader: so it is never dearer. */
static void following_adds_nothing(void **state)
{
    (void)state;
    struct corpus corpus;
    uint64_t with = 0, without = 0;
    corpus_load(&corpus);
    for (size_t i = 0; i < corpus.count; i++) {
        const struct corpus_file *file = &corpus.files[i];
        struct pm_flow_points flow;
        struct pm_error error = {0};
        if (strstr(file->name, ".vert."))
            continue;
        if (!pm_points_flow(file->words, file->count, NULL, &flow, &error))
            fail_msg("%s: %s", file->name, error.message);
        uint32_t *all = malloc((flow.space + 1u) * sizeof(*all));
        assert_non_null(all);
        for (uint32_t p = 0; p < flow.space; p++)
            all[p] = p;
        for (int way = 0; way < 4; way++) {
            const struct pm_instrument_info info = {
                .points = all,
                .point_count = flow.space,
                .slot_count = 16,
                .subgroup_size = 8,
                .target = {.vulkan_minor = file->vulkan_minor, .spirv_1_4 = file->spirv_1_4},
                .subgroup_arithmetic = way & 1,
                .sums_outlive_loops = way & 2,
            };
            const uint32_t follow = instructions(file, info, &flow);
            const uint32_t each = instructions(file, info, NULL);
            if (follow > each)
                fail_msg("%s, way %d: %u instructions where lanes follow, %u in all blocks",
                         file->name, way, follow, each);
            with += follow;
            without += each;
        }
        free(all);
        pm_flow_points_finish(&flow);
    }
    corpus_finish(&corpus);
    printf("instructions where lanes follow: %.4f of those in all blocks\n",
           (double)with / (double)without);
    assert_true(with < without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(following_adds_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
