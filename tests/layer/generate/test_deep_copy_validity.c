/* A copy keeps the specification's implicit rules: infos that have every structure that vk.xml lets
 * them have, for each state that can be dynamic, and for each part that a library can be.
 *
 * Of these are compared, by vk.xml (validity.py): each structure's type, what a chain may hold and
 * that it holds nothing twice, which pointers may be NULL and which counts 0; and all memory that
 * the copy names is read. Enumerants, flags and handles are copied as numbers, and not looked at.
 * Explicit rules (VUIDs with a number) are prose, which nothing here reads: those that an array
 * could break that a copy leaves out are a list by hand, in test_deep_copy_dropped.c. For the
 * others there is the validation layer below us (tests/layer/validated.py). */
#include "validity.h"

#include "deep_copy.h"
#include "tests/cmocka_includes.h"
#include "tests/layer/generate/varied.h"

static void check(const char *broken, const char *what, uint64_t which)
{
    if (broken)
        fail_msg("%s %lu: %s", what, (unsigned long)which, broken);
}

/* The original is gone when the copy is read. */
static const char *copy_graphics(const struct variation *by)
{
    const struct pm_copy_subpass both = {.color = true, .depth_stencil = true};
    struct pm_arena *original = pm_arena_create(0), *own = pm_arena_create(0);
    struct pm_error error = {.code = PM_OK};
    VkGraphicsPipelineCreateInfo info;
    varied_fill(original, by, &info);
    const char *broken = validity_check_GraphicsPipelineCreateInfo(&info);
    if (!broken) {
        const VkGraphicsPipelineCreateInfo *copy =
            pm_copy_GraphicsPipelineCreateInfo(own, &info, &both, NULL, &error);
        pm_arena_destroy(original);
        broken = copy ? validity_check_GraphicsPipelineCreateInfo(copy) : "it is not copied";
    }
    pm_arena_destroy(own);
    return broken;
}

static void check_dynamic(const struct variation *by, uint64_t which)
{
    check(copy_graphics(by), "dynamic state", which);
}

static void check_part(const struct variation *by, uint64_t which)
{
    check(copy_graphics(by), "parts", which);
}

static void each_dynamic_state(void **state)
{
    (void)state;
    assert_true(validity_dynamic_count > 70);
    varied_each_dynamic(check_dynamic);
}

static void each_part(void **state)
{
    (void)state;
    varied_each_part(check_part);
}

/* Compute pipelines' may share, too, but do not here. */
#define pm_copy_ComputePipelineCreateInfo(arena, info, error)                                      \
    (pm_copy_ComputePipelineCreateInfo)(arena, info, NULL, error)

#define OTHER(name)                                                                                \
    static void a_##name(void **state)                                                             \
    {                                                                                              \
        (void)state;                                                                               \
        struct pm_arena *original = pm_arena_create(0), *own = pm_arena_create(0);                 \
        struct pm_error error = {.code = PM_OK};                                                   \
        Vk##name info = {0};                                                                       \
        validity_fill_##name(original, &info);                                                     \
        check(validity_check_##name(&info), "filled", 0);                                          \
        const Vk##name *copy = pm_copy_##name(own, &info, &error);                                 \
        pm_arena_destroy(original);                                                                \
        check(copy ? validity_check_##name(copy) : error.message, "copied", 0);                    \
        pm_arena_destroy(own);                                                                     \
    }

OTHER(ComputePipelineCreateInfo)
OTHER(PipelineLayoutCreateInfo)
OTHER(DescriptorSetLayoutCreateInfo)
OTHER(RenderPassCreateInfo)
OTHER(RenderPassCreateInfo2)
OTHER(SamplerCreateInfo)
OTHER(SamplerYcbcrConversionCreateInfo)
OTHER(ShaderModuleCreateInfo)
OTHER(ShaderCreateInfoEXT)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dynamic_state),
        cmocka_unit_test(each_part),
        cmocka_unit_test(a_ComputePipelineCreateInfo),
        cmocka_unit_test(a_PipelineLayoutCreateInfo),
        cmocka_unit_test(a_DescriptorSetLayoutCreateInfo),
        cmocka_unit_test(a_RenderPassCreateInfo),
        cmocka_unit_test(a_RenderPassCreateInfo2),
        cmocka_unit_test(a_SamplerCreateInfo),
        cmocka_unit_test(a_SamplerYcbcrConversionCreateInfo),
        cmocka_unit_test(a_ShaderModuleCreateInfo),
        cmocka_unit_test(a_ShaderCreateInfoEXT),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
