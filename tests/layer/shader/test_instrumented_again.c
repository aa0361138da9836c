/* An instrumented module whose words are no longer kept is made again, the same (shader_record.h).
 */
#include "layer/core/layer.h"
#include "layer/shader/kept_modules.h"
#include "layer/shader/shader_record_make.h"
#include "leaving.comp.h"
#include "shader_rewrite/canonical/canonical.h"
#include "tests/cmocka_includes.h"

static struct pm_instance instance;
static struct pm_device device;

static struct pm_shader_record *make_record(struct pm_kept_modules *kept)
{
    const struct pm_canonicalize_info info = {.words = leaving_comp,
                                              .word_count = sizeof leaving_comp / sizeof(uint32_t),
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = {.vulkan_minor = 2}};
    const struct pm_shader_request request = {.stage = PM_STAGE_COMPUTE, .subgroup_size = 32};
    struct pm_words canonical;
    struct pm_error error = {0};
    assert_true(pm_canonicalize(&info, &canonical, &error));
    const struct pm_shader_key key =
        pm_shader_key_compute(pm_canonicalize_recipe(), canonical.data, canonical.count);
    struct pm_shader_record *record =
        pm_shader_record_make(&device, kept, &key, &request, &canonical, &error);
    assert_non_null(record);
    return record;
}

/* Each of its batches twice; kept bytes: of modules. */
static void instrument_twice(size_t bytes)
{
    struct pm_kept_modules *kept = pm_kept_modules_create(bytes);
    struct pm_shader_record *record = make_record(kept);
    assert_true(record->batch_count > 1);
    for (uint32_t i = 0; i < record->batch_count; i++) {
        struct pm_words words[2];
        struct pm_error error = {0};
        bool first[2];
        const struct pm_instrumented *module[2];
        for (int turn = 0; turn < 2; turn++) {
            module[turn] = pm_shader_record_instrument(&device, record, i, false, &first[turn],
                                                       &words[turn], &error);
            assert_non_null(module[turn]);
        }
        assert_true(first[0] && !first[1]);
        assert_ptr_equal(module[0], module[1]);
        assert_int_equal(words[0].count, words[1].count);
        assert_memory_equal(words[0].data, words[1].data, words[0].count * sizeof(uint32_t));
        for (int turn = 0; turn < 2; turn++)
            pm_words_finish(&words[turn]);
    }
    pm_shader_record_destroy(record);
    pm_kept_modules_destroy(kept);
}

static void kept_or_made_again(void **state)
{
    (void)state;
    instrument_twice((size_t)1 << 20);
    instrument_twice(16); /* no module is as small */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_or_made_again),
    };
    device.instance = &instance;
    device.abilities = (struct pm_device_abilities){.driver_id = VK_DRIVER_ID_MESA_RADV,
                                                    .int64_atomics = true,
                                                    .subgroup_arithmetic = true,
                                                    .subgroup_quad = true,
                                                    .most_lanes = 64,
                                                    .target = {.vulkan_minor = 2}};
    pm_config_init(&instance.config);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pm_config_finish(&instance.config);
    return failed;
}
