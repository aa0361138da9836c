/* Variants of a contest (layer/shader/contest.h) that are told apart by how the driver is to make
 * them: with a subgroup size, or of a shader without a loop. */
#include "tests/layer/trial/contested.h"

#include "counted.comp.h"
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

static struct {
    uint32_t sizes[CONTESTED_MOST]; /* that each pipeline requires; 0: none */
    double sized_time; /* of those that require 64, over the game's own; 0: as the others */
    uint64_t words[CONTESTED_MOST]; /* tell their shaders apart */
    bool straight[CONTESTED_MOST];  /* whose shader has no loop */
    double straight_time;           /* of these; 0: as the others */
    _Atomic uint32_t asked;         /* sizes that pipelines were made with, as bits */
} made;

/* The subgroup size that the pipeline requires which was made last, and whether its shader has no
 * loop. */
static _Atomic uint32_t made_with;
static _Atomic bool made_straight;
static _Atomic uint64_t made_of;

static void note_made(uint32_t index)
{
    made.sizes[index] = made_with;
    made.straight[index] = made_straight;
    made.words[index] = made_of;
}

static double time_of_made(uint32_t index)
{
    return made.sizes[index] == 64 ? made.sized_time
           : made.straight[index]  ? made.straight_time
                                   : 0;
}

static void see_module(const VkShaderModuleCreateInfo *module)
{
    uint64_t mixed = 0;
    made_straight = true;
    for (size_t at = 0; at < module->codeSize / 4; at++)
        mixed = pm_random_mix(mixed + module->pCode[at]);
    made_of = mixed;
    for (size_t at = 5; at < module->codeSize / 4; at += module->pCode[at] >> 16)
        if ((module->pCode[at] & 0xffff) == SpvOpLoopMerge)
            made_straight = false;
}

static void see_pipelines(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkCreateShaderModule") == 0)
        see_module((const VkShaderModuleCreateInfo *)(uintptr_t)call->arguments[1]);
    if (strcmp(call->command, "vkCreateComputePipelines") != 0)
        return;
    const VkComputePipelineCreateInfo *info =
        (const VkComputePipelineCreateInfo *)(uintptr_t)call->arguments[3];
    const VkBaseInStructure *item = info->stage.pNext;
    while (item && item->sType !=
                       VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO)
        item = item->pNext;
    made_with =
        item ? ((const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *)(const void *)item)
                   ->requiredSubgroupSize
             : 0;
    made.asked |= made_with;
}

/* What is required costs so much, and what has no loop; 0: as all else. */
static void open_session(double sized_time, double straight_time)
{
    memset(&made, 0, sizeof made);
    made.sized_time = sized_time;
    made.straight_time = straight_time;
    contested_set_times(1.2);
    contested.first = note_made;
    contested.other = time_of_made;
    contested_open_with(&(struct contested_session){.see = see_pipelines});
}

/* The pipeline may require subgroups of 16 to 64 lanes, and is fastest with 64; one has 32. */
static void a_subgroup_size_is_faster(void **state)
{
    (void)state;
    setenv("PM_NULL_LEAST_SUBGROUP_SIZE", "16", 1);
    setenv("PM_NULL_MOST_SUBGROUP_SIZE", "64", 1);
    open_session(0.5, 0);
    assert_true(contested_run_until("the fastest is subgroup-64"));
    assert_int_equal(made.asked, 16 | 64);
    assert_int_equal(made.sizes[contested_bound()], 64);
    contested_close();

    /* The next session requires that and nothing else. */
    open_session(0.5, 0);
    contested_run_until_logged("is used from now on", 2);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(made.asked, 64);
    assert_int_equal(contested.count, 2);
    contested_close();
    unsetenv("PM_NULL_LEAST_SUBGROUP_SIZE");
    unsetenv("PM_NULL_MOST_SUBGROUP_SIZE");
}

/* What several recipes make of a shader is measured once. */
static void equal_variants_are_one(void **state)
{
    (void)state;
    open_session(0, 0);
    assert_true(contested_run_until("variants"));
    assert_true(contested.count > 2);
    for (uint32_t i = 1; i < contested.count; i++)
        for (uint32_t j = i + 1; j < contested.count; j++)
            assert_true(made.words[i] != made.words[j]);
    contested_close();
}

/* The pipeline of a shader with a loop that says of unrolling what this is. */
static VkPipeline make_counted(uint32_t control)
{
    uint32_t words[sizeof counted_comp / sizeof(uint32_t)];
    const size_t count = sizeof words / sizeof *words;
    memcpy(words, counted_comp, sizeof words);
    for (size_t at = 5; at < count; at += words[at] >> 16)
        if ((words[at] & 0xffff) == SpvOpLoopMerge)
            words[at + 3] = control;
    return pm_harness_compute_of(&trying.h, words, sizeof words, trying.h.layout);
}

/* Unrolled they are the same. What the one's trial found is no verdict on the other's, which is
 * still to be measured. */
static void two_shaders_have_the_same_variant(void **state)
{
    (void)state;
    const uint32_t controls[] = {SpvLoopControlMaskNone, SpvLoopControlUnrollMask};
    VkPipeline counted[2];
    open_session(0, 0.5);
    const VkPipeline weighted = trying.compute;
    for (uint32_t s = 0; s < 2; s++) {
        counted[s] = trying.compute = make_counted(controls[s]);
        contested.times[contested_index(counted[s])] = 1;
        contested_run_until_logged("the fastest is unroll-full", s + 1);
        const VkPipeline bound =
            optimized_effective(&trying.h, counted[s], VK_PIPELINE_BIND_POINT_COMPUTE);
        assert_true(made.straight[contested_index(bound)]);
    }
    trying.h.vk.DestroyPipeline(trying.h.device, counted[0], NULL);
    trying.h.vk.DestroyPipeline(trying.h.device, weighted, NULL);
    contested_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_subgroup_size_is_faster),
        PM_LAYERED_TEST(equal_variants_are_one),
        PM_LAYERED_TEST(two_shaders_have_the_same_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
