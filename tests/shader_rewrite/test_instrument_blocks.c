/* What instrumented modules look like; what they count is tested on drivers, in tests/gpu. */
#include "profile/profile.h"
#include "shader_rewrite/corpus_files.h"
#include "shader_rewrite/ir_module.h"
#include "shader_rewrite/points_blocks.h"
#include "shader_rewrite/shader_rewrite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static spv_target_env environment_of(const struct corpus_file *file)
{
    return file->target == SPV_ENV_VULKAN_1_0 ? SPV_ENV_VULKAN_1_1 : file->target;
}

static struct pm_instrument_info info_for(const struct corpus_file *file, const uint32_t *points,
                                          uint32_t point_count)
{
    return (struct pm_instrument_info){
        .points = points,
        .point_count = point_count,
        .slot_count = 16,
        .target = {.vulkan_minor = file->vulkan_minor, .spirv_1_4 = file->spirv_1_4},
    };
}

static void assert_instruments(const struct corpus_file *file, const uint32_t *words, size_t count,
                               const struct pm_instrument_info *info)
{
    struct pm_instrumented out;
    struct pm_error error = {0};
    if (!pm_instrument_blocks(words, count, info, &out, &error))
        fail_msg("%s, %u points, first %u: %s", file->name, info->point_count,
                 info->point_count ? info->points[0] : 0, error.message);
    corpus_assert_valid(file->name, out.words.data, out.words.count, environment_of(file));
    assert_true(out.slot_stride >= 2 + PM_COUNTS * info->point_count);
    assert_int_equal(out.slot_stride % 8, 0);
    assert_int_equal(out.counter_bytes, (uint64_t)info->slot_count * out.slot_stride * 8);
    assert_int_not_equal(out.spec_id_low, out.spec_id_high);
    pm_instrumented_finish(&out);
}

/* Every subset of one point, none, and all, in the ways a device may ask for. */
static void instrument_all_ways(const struct corpus_file *file, const uint32_t *words, size_t count)
{
    struct pm_block_points points;
    struct pm_error error = {0};
    if (!pm_points_blocks(words, count, &points, &error))
        fail_msg("%s: %s", file->name, error.message);
    uint32_t *all = malloc(points.count * sizeof(*all));
    assert_non_null(all);
    for (uint32_t i = 0; i < points.count; i++)
        all[i] = i;
    struct pm_instrument_info info = info_for(file, all, 0);
    assert_instruments(file, words, count, &info);
    for (uint32_t i = 0; i < points.count; i++) {
        info = info_for(file, &all[i], 1);
        assert_instruments(file, words, count, &info);
        info.int64_atomics = true;
        info.slot_count = 1;
        assert_instruments(file, words, count, &info);
    }
    for (int way = 0; way < 8; way++) {
        info = info_for(file, all, points.count);
        info.int64_atomics = way & 1;
        info.memory_model_device_scope = way & 2;
        info.may_force_early_tests = way & 4;
        assert_instruments(file, words, count, &info);
    }
    free(all);
    pm_block_points_finish(&points);
}

static bool is_stage(const struct corpus_file *file)
{
    return !strstr(file->name, ".vert.");
}

static void test_corpus(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    size_t done = 0;
    for (size_t i = 0; i < corpus.count; i++) {
        const struct corpus_file *file = &corpus.files[i];
        if (!is_stage(file))
            continue;
        instrument_all_ways(file, file->words, file->count);
        done++;
    }
    assert_true(done > 100);
    corpus_finish(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
