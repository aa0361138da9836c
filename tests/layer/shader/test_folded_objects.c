/* Variants of shader objects for values of push constants: as those of pipelines (test_folded.c),
 * by the ranges that the objects were made with. */
#include "tests/layer/folded.h"
#include "tests/layer/optimized.h"
#include "tests/layer/shader_objects.h"

#include <stdlib.h>

#define VERTEX VK_SHADER_STAGE_VERTEX_BIT
#define FRAGMENT VK_SHADER_STAGE_FRAGMENT_BIT
#define COMPUTE VK_SHADER_STAGE_COMPUTE_BIT

static struct pm_harness h;
static VkPipelineLayout layout, other;
static VkShaderEXT vertex, fragment, compute;
static const struct folded_push usual = {1, 3, 0.5f, 2}, unusual = {2, 3, 0.5f, 2},
                                rescaled = {1, 3, 0.5f, 7};

static VkShaderEXT make(VkShaderStageFlagBits stage)
{
    struct object_options options = {.stage = stage};
    VkShaderEXT shader;
    options.words = folded_words(stage, &options.size);
    objects_make(&h, &options, 1, &shader);
    return shader;
}

static void open_all(void)
{
    objects_open(&h);
    layout = folded_layout(&h, sizeof(struct folded_push));
    other = folded_layout(&h, 2 * sizeof(struct folded_push));
    vertex = object_make(&h, VERTEX);
    fragment = make(FRAGMENT);
    compute = make(COMPUTE);
}

static void close_all(void)
{
    h.vk.DestroyShaderEXT(h.device, vertex, NULL);
    h.vk.DestroyShaderEXT(h.device, fragment, NULL);
    h.vk.DestroyShaderEXT(h.device, compute, NULL);
    h.vk.DestroyPipelineLayout(h.device, layout, NULL);
    h.vk.DestroyPipelineLayout(h.device, other, NULL);
    pm_harness_close(&h);
}

static VkCommandBuffer begin(void)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    return buffer;
}

/* A session that samples what is pushed, and then one in which what is built is used at once. */
static void open_trusting(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    open_all();
    VkCommandBuffer buffer = begin();
    folded_push(&h, buffer, layout, &usual, 0, 4);
    object_bind(&h, buffer, COMPUTE, compute);
    for (int i = 0; i < 20; i++)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_begin_pass(&h, buffer);
    objects_bind(&h, buffer, vertex, fragment);
    for (int i = 0; i < 20; i++)
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
    pm_harness_run(&h, buffer);
    close_all();
    optimized_enable(true);
    open_all();
    optimized_assert_logged("words of push constants", 2);
}

/* Whether the driver has a variant of the game's bound at its stage, by the last bind of one. */
static bool is_variant(VkShaderStageFlagBits stage, VkShaderEXT game)
{
    for (uint32_t n = objects_binds(); n-- > 0;) {
        const struct object_bind bind = objects_bound(n);
        for (uint32_t i = 0; i < bind.count; i++)
            if (bind.stages[i] == stage)
                return bind.shaders[i] != game;
    }
    fail_msg("nothing is bound");
    return false;
}

static void compute_is_turned(void **state)
{
    (void)state;
    open_trusting();
    VkCommandBuffer buffer = begin();
    object_bind(&h, buffer, COMPUTE, compute);
    assert_false(is_variant(COMPUTE, compute)); /* nothing is pushed */
    folded_push(&h, buffer, layout, &usual, 0, 1);
    assert_false(is_variant(COMPUTE, compute)); /* not all */
    folded_push(&h, buffer, layout, &usual, 1, 3);
    assert_true(is_variant(COMPUTE, compute));
    const uint32_t binds = objects_binds();
    folded_push(&h, buffer, layout, &rescaled, 3, 1); /* which nobody watches */
    assert_int_equal(objects_binds(), binds);
    folded_push(&h, buffer, layout, &unusual, 0, 1);
    assert_false(is_variant(COMPUTE, compute));
    folded_push(&h, buffer, layout, &usual, 0, 1);
    assert_true(is_variant(COMPUTE, compute));
    /* Other ranges: what was pushed before is not relied on. */
    folded_push(&h, buffer, other, &usual, 3, 1);
    assert_false(is_variant(COMPUTE, compute));
    pm_harness_run(&h, buffer);
    close_all();
}

/* In a render pass, and whatever is bound at the other stages. */
static void fragment_is_turned(void **state)
{
    (void)state;
    open_trusting();
    VkCommandBuffer buffer = begin();
    folded_push(&h, buffer, layout, &usual, 0, 4);
    pm_harness_begin_pass(&h, buffer);
    objects_bind(&h, buffer, vertex, fragment);
    assert_true(is_variant(FRAGMENT, fragment));
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    uint32_t binds = objects_binds();
    object_bind(&h, buffer, VERTEX, vertex);
    assert_int_equal(objects_binds(), binds + 1);
    folded_push(&h, buffer, layout, &unusual, 0, 4);
    assert_false(is_variant(FRAGMENT, fragment));
    assert_int_equal(objects_bound(objects_binds() - 1).count, 1); /* at its stage alone */
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    /* Unbound: pushes bind nothing any more. */
    object_bind(&h, buffer, FRAGMENT, VK_NULL_HANDLE);
    binds = objects_binds();
    folded_push(&h, buffer, layout, &usual, 0, 4);
    assert_int_equal(objects_binds(), binds);
    h.vk.CmdEndRenderPass(buffer);
    pm_harness_run(&h, buffer);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(compute_is_turned),
        PM_LAYERED_TEST(fragment_is_turned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
