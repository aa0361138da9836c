/* Shader objects (VK_EXT_shader_object): sampled and specialized as pipelines are, by stage. */
#include "tests/layer/shader_objects.h"

#include "profile/left_alone.h"
#include "tests/layer/optimized.h"
#include "tests/layer/spooled.h"
#include "tests/patience.h"
#include <stdlib.h>
#include <string.h>

#define VERTEX VK_SHADER_STAGE_VERTEX_BIT
#define FRAGMENT VK_SHADER_STAGE_FRAGMENT_BIT
#define COMPUTE VK_SHADER_STAGE_COMPUTE_BIT
#define NEWER ((VkStructureType)1999000042)

static struct pm_harness h;

static void open_sampled(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    objects_open(&h);
}

static VkCommandBuffer begin(VkCommandBufferLevel level)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, level);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    return buffer;
}

static void finish(VkCommandBuffer buffer)
{
    pm_harness_run(&h, buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
}

static void destroy(VkShaderEXT shader)
{
    h.vk.DestroyShaderEXT(h.device, shader, NULL);
}

static void assert_bind(uint32_t n, VkShaderStageFlagBits stage, VkShaderEXT shader)
{
    const struct object_bind bind = objects_bound(n);
    assert_int_equal(bind.count, 1);
    assert_int_equal(bind.stages[0], stage);
    assert_ptr_equal(bind.shaders[0], shader);
}

static void assert_variant(uint32_t n, VkShaderStageFlagBits stage, VkShaderEXT shader)
{
    const struct object_bind bind = objects_bound(n);
    assert_int_equal(bind.count, 1);
    assert_int_equal(bind.stages[0], stage);
    assert_ptr_not_equal(bind.shaders[0], shader);
    assert_non_null(bind.shaders[0]);
}

/* ---- sampled ---- */

static void a_dispatch(void **state)
{
    (void)state;
    open_sampled();
    const VkShaderEXT compute = object_make(&h, COMPUTE);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    object_bind(&h, buffer, COMPUTE, compute);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindShadersEXT vkCmdBindShadersEXT vkCmdDispatch "
                           "vkCmdBindShadersEXT ");
    assert_bind(0, COMPUTE, compute);
    assert_variant(1, COMPUTE, compute);
    assert_bind(2, COMPUTE, compute);
    finish(buffer);
    /* Built from the game's, with the address of the counters as its constants. */
    const struct object_made made = objects_made();
    assert_int_equal(made.calls, 2);
    assert_int_equal(made.stage, COMPUTE);
    assert_int_equal(made.spec_entries, 2);
    assert_int_equal(made.set_layouts, 1);
    assert_int_equal(made.push_ranges, 1);
    destroy(compute);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 1);
}

static void a_draw(void **state)
{
    (void)state;
    open_sampled();
    const VkShaderEXT vertex = object_make(&h, VERTEX), fragment = object_make(&h, FRAGMENT);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin_pass(&h, buffer);
    const uint64_t position = h.driver->position();
    objects_bind(&h, buffer, vertex, fragment);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    /* What is bound at another stage changes nothing for this one. */
    object_bind(&h, buffer, VERTEX, vertex);
    object_bind(&h, buffer, VK_SHADER_STAGE_GEOMETRY_BIT, VK_NULL_HANDLE);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindShadersEXT vkCmdBindShadersEXT vkCmdDraw vkCmdBindShadersEXT "
                           "vkCmdBindShadersEXT vkCmdBindShadersEXT vkCmdBindShadersEXT vkCmdDraw "
                           "vkCmdBindShadersEXT ");
    assert_int_equal(objects_bound(0).count, 2);
    assert_ptr_equal(objects_bound(0).shaders[0], vertex);
    assert_ptr_equal(objects_bound(0).shaders[1], fragment);
    assert_variant(1, FRAGMENT, fragment);
    assert_bind(2, FRAGMENT, fragment);
    assert_variant(5, FRAGMENT, fragment);
    assert_bind(6, FRAGMENT, fragment);
    h.vk.CmdEndRenderPass(buffer);
    finish(buffer);
    destroy(vertex);
    destroy(fragment);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 2);
}

static void nothing_is_bound(void **state)
{
    (void)state;
    open_sampled();
    const VkShaderEXT vertex = object_make(&h, VERTEX), fragment = object_make(&h, FRAGMENT);
    const VkShaderStageFlagBits stages[2] = {VERTEX, FRAGMENT};
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin_pass(&h, buffer);
    objects_bind(&h, buffer, vertex, fragment);
    h.vk.CmdBindShadersEXT(buffer, 2, stages, NULL);
    const uint64_t position = h.driver->position();
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    objects_bind(&h, buffer, vertex, VK_NULL_HANDLE);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    optimized_assert_calls(&h, position, buffer, "vkCmdDraw vkCmdBindShadersEXT vkCmdDraw ");
    h.vk.CmdEndRenderPass(buffer);
    finish(buffer);
    destroy(vertex);
    destroy(fragment);
    pm_harness_close(&h);
}

/* Each takes the place of the other, for its own bind point only. */
static void pipelines_and_objects(void **state)
{
    (void)state;
    open_sampled();
    const VkShaderEXT vertex = object_make(&h, VERTEX), fragment = object_make(&h, FRAGMENT);
    const VkShaderEXT compute = object_make(&h, COMPUTE);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    uint64_t position = h.driver->position();
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    objects_bind(&h, buffer, vertex, fragment);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindPipeline vkCmdDraw vkCmdBindPipeline vkCmdBindShadersEXT "
                           "vkCmdBindShadersEXT vkCmdDraw vkCmdBindShadersEXT vkCmdBindPipeline "
                           "vkCmdBindPipeline vkCmdDraw vkCmdBindPipeline ");
    /* The pipeline is gone with the first stage; the fragment stage has nothing then. */
    object_bind(&h, buffer, VERTEX, vertex);
    position = h.driver->position();
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    optimized_assert_calls(&h, position, buffer, "vkCmdDraw ");
    h.vk.CmdEndRenderPass(buffer);
    /* The compute pipeline stayed. */
    position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    object_bind(&h, buffer, COMPUTE, compute);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline vkCmdBindShadersEXT "
                           "vkCmdBindShadersEXT vkCmdDispatch vkCmdBindShadersEXT ");
    finish(buffer);
    destroy(vertex);
    destroy(fragment);
    destroy(compute);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 5);
}

/* The objects of a set are bound together or not at all, which the driver sees to. */
static void linked_sets(void **state)
{
    (void)state;
    open_sampled();
    const struct object_options options[3] = {
        {.stage = VERTEX, .flags = VK_SHADER_CREATE_LINK_STAGE_BIT_EXT},
        {.stage = COMPUTE},
        {.stage = FRAGMENT, .flags = VK_SHADER_CREATE_LINK_STAGE_BIT_EXT}};
    VkShaderEXT set[3];
    objects_make(&h, options, 3, set);
    const struct object_made made = objects_made();
    assert_int_equal(made.calls, 3); /* and a variant of each */
    assert_int_equal(made.count, 2);
    assert_int_equal(made.stage, FRAGMENT);
    assert_int_equal(made.flags, VK_SHADER_CREATE_LINK_STAGE_BIT_EXT);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    object_bind(&h, buffer, COMPUTE, set[1]);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_begin_pass(&h, buffer);
    objects_bind(&h, buffer, set[0], set[2]);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    assert_int_equal(objects_binds(), 6);
    assert_variant(1, COMPUTE, set[1]);
    const struct object_bind variant = objects_bound(4), again = objects_bound(5);
    assert_int_equal(variant.count, 2);
    assert_int_equal(variant.stages[0], FRAGMENT);
    assert_int_equal(variant.stages[1], VERTEX);
    assert_ptr_not_equal(variant.shaders[0], set[2]);
    assert_ptr_not_equal(variant.shaders[1], set[0]);
    assert_int_equal(again.count, 2);
    assert_ptr_equal(again.shaders[0], set[2]);
    assert_ptr_equal(again.shaders[1], set[0]);
    h.vk.CmdEndRenderPass(buffer);
    finish(buffer);
    for (int i = 0; i < 3; i++)
        destroy(set[i]);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 2);
}

static void secondaries(void **state)
{
    (void)state;
    open_sampled();
    const VkShaderEXT compute = object_make(&h, COMPUTE);
    VkCommandBuffer secondary = begin(VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    object_bind(&h, secondary, COMPUTE, compute);
    h.vk.CmdDispatch(secondary, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(secondary));
    assert_variant(1, COMPUTE, compute);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    object_bind(&h, buffer, COMPUTE, compute);
    h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    /* What it left bound is not known. */
    const uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    optimized_assert_calls(&h, position, buffer, "vkCmdDispatch ");
    finish(buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &secondary);
    destroy(compute);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 1);
}

/* What they are made of goes at once, with them a variant that a recording does not name. */
static void destroyed_early(void **state)
{
    (void)state;
    const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_ALL};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    VkDescriptorSetLayout layout;
    VkShaderEXT compute, other;
    open_sampled();
    PM_CHECK(h.vk.CreateDescriptorSetLayout(h.device, &info, NULL, &layout));
    const struct object_options options = {.stage = COMPUTE, .set_layout = &layout};
    objects_make(&h, &options, 1, &compute);
    objects_make(&h, &options, 1, &other);
    h.vk.DestroyDescriptorSetLayout(h.device, layout, NULL);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_SHADER_EXT), 4);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    object_bind(&h, buffer, COMPUTE, compute);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    destroy(other);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_SHADER_EXT), 2);
    finish(buffer);
    destroy(compute);
    pm_harness_close(&h);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_SHADER_EXT), 0);
}

static void destroyed_while_it_is_made(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    unsetenv("PIECEMEAL_DEBUG_SYNCHRONOUS");
    setenv("PM_NULL_COMPILE_US", "50000", 1);
    objects_open(&h);
    const VkShaderEXT compute = object_make(&h, COMPUTE);
    uint64_t until = 0;
    while (objects_made().calls < 2 && patience(&until)) {
        VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        object_bind(&h, buffer, COMPUTE, compute);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        finish(buffer);
    }
    assert_int_equal(objects_made().calls, 2);
    destroy(compute);
    pm_harness_close(&h);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_SHADER_EXT), 0);
}

/* ---- left alone ---- */

/* Whether a dispatch with it is sampled. */
static bool is_sampled(VkShaderEXT shader)
{
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint32_t binds = objects_binds();
    object_bind(&h, buffer, COMPUTE, shader);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    finish(buffer);
    return objects_binds() > binds + 1;
}

static void what_cannot_be_built_again(void **state)
{
    (void)state;
    const VkBaseInStructure newer = {.sType = NEWER};
    enum { DESCRIPTOR_HEAP = 0x400 }; /* VK_SHADER_CREATE_DESCRIPTOR_HEAP_BIT_EXT */
    const struct object_options options[] = {
        {.stage = COMPUTE, .next = &newer},
        {.stage = COMPUTE, .flags = 1u << 20},
        {.stage = COMPUTE, .flags = DESCRIPTOR_HEAP},
        {.stage = COMPUTE, .binary = true},
        {.stage = COMPUTE,
         .flags = VK_SHADER_CREATE_REQUIRE_FULL_SUBGROUPS_BIT_EXT |
                  VK_SHADER_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT_EXT},
    };
    open_sampled();
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        VkShaderEXT shader;
        objects_make(&h, &options[i], 1, &shader);
        assert_int_equal(is_sampled(shader), i == 4);
        destroy(shader);
    }
    assert_int_equal(objects_made().flags, options[4].flags);
    pm_harness_close(&h);
    assert_int_equal(pm_layered_logged("a shader object gets no variants: a structure of sType"),
                     1);
    assert_int_equal(pm_layered_logged("create flags 0x100000 are not among"), 1);
    assert_int_equal(pm_layered_logged("create flags 0x400 are not among"), 1);
    assert_int_equal(pm_layered_logged("a shader object is a binary, not SPIR-V"), 1);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_left_alone left;
    struct pm_error error;
    assert_true(pm_left_alone_read(NULL, "game", 0, arena, &left, &error));
    assert_int_equal(left.shaders, 1);
    assert_string_equal(left.reasons[0].text, "a shader object is a binary, not SPIR-V");
    pm_arena_destroy(arena);
}

static void the_driver_refuses(void **state)
{
    (void)state;
    open_sampled();
    h.driver->inject("vkCreateShadersEXT:2");
    const VkShaderEXT shader = object_make(&h, COMPUTE);
    assert_false(is_sampled(shader));
    destroy(shader);
    pm_harness_close(&h);
    assert_int_equal(pm_layered_logged("the driver refused a shader object"), 1);
}

/* ---- specialized ---- */

static void open_specialized(void)
{
    optimized_learn();
    optimized_enable(true);
    objects_open(&h);
}

static void a_proven_one_is_bound(void **state)
{
    (void)state;
    open_specialized();
    const struct object_options options = {.stage = FRAGMENT, .weighted = true};
    VkShaderEXT vertex = object_make(&h, VERTEX), fragment;
    const VkShaderEXT compute = object_make(&h, COMPUTE);
    objects_make(&h, &options, 1, &fragment);
    assert_int_equal(objects_made().spec_entries, 0);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    object_bind(&h, buffer, COMPUTE, compute);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_begin_pass(&h, buffer);
    objects_bind(&h, buffer, vertex, fragment);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
    assert_int_equal(objects_binds(), 2);
    assert_variant(0, COMPUTE, compute);
    assert_int_equal(objects_bound(1).count, 2);
    assert_ptr_equal(objects_bound(1).shaders[0], vertex);
    assert_ptr_not_equal(objects_bound(1).shaders[1], fragment);
    finish(buffer);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_SHADER_EXT), 5);
    destroy(compute);
    destroy(fragment);
    destroy(vertex);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_SHADER_EXT), 0);
    pm_harness_close(&h);
}

static void queries_that_would_see_it(void **state)
{
    (void)state;
    open_specialized();
    const VkShaderEXT compute = object_make(&h, COMPUTE);
    const VkQueryPool queries = pm_harness_make_statistics(&h);
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    h.vk.CmdResetQueryPool(buffer, queries, 0, 1);
    object_bind(&h, buffer, COMPUTE, compute);
    h.vk.CmdBeginQuery(buffer, queries, 0, 0);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    object_bind(&h, buffer, COMPUTE, compute);
    h.vk.CmdEndQuery(buffer, queries, 0);
    object_bind(&h, buffer, COMPUTE, compute);
    assert_variant(0, COMPUTE, compute);
    assert_bind(1, COMPUTE, compute); /* before the query begins */
    assert_bind(2, COMPUTE, compute); /* while it is active */
    assert_variant(3, COMPUTE, compute);
    finish(buffer);
    h.vk.DestroyQueryPool(h.device, queries, NULL);
    destroy(compute);
    pm_harness_close(&h);
}

/* A linked set is bound as a whole, and what generated commands may bind is the game's own. */
static void those_that_never_stand(void **state)
{
    (void)state;
    open_specialized();
    const struct object_options options[2] = {
        {.stage = VERTEX, .flags = VK_SHADER_CREATE_LINK_STAGE_BIT_EXT},
        {.stage = FRAGMENT, .flags = VK_SHADER_CREATE_LINK_STAGE_BIT_EXT, .weighted = true}};
    const struct object_options bindable = {.stage = COMPUTE,
                                            .flags = VK_SHADER_CREATE_INDIRECT_BINDABLE_BIT_EXT};
    VkShaderEXT set[2], compute;
    objects_make(&h, options, 2, set);
    objects_make(&h, &bindable, 1, &compute);
    assert_int_equal(h.driver->live(VK_OBJECT_TYPE_SHADER_EXT), 3);
    destroy(set[0]);
    destroy(set[1]);
    destroy(compute);
    pm_harness_close(&h);
}

/* They name the game's own, which need not be bindable by the device where they name no set. */
static void generated_commands(void **state)
{
    (void)state;
    open_specialized();
    const VkShaderEXT compute = object_make(&h, COMPUTE);
    const VkGeneratedCommandsShaderInfoEXT named = {
        .sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_SHADER_INFO_EXT,
        .shaderCount = 1,
        .pShaders = &compute};
    const VkGeneratedCommandsInfoEXT info = {.sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_EXT,
                                             .pNext = &named,
                                             .shaderStages = COMPUTE};
    VkCommandBuffer buffer = begin(VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    object_bind(&h, buffer, COMPUTE, compute);
    h.vk.CmdExecuteGeneratedCommandsEXT(buffer, VK_FALSE, &info);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindShadersEXT vkCmdBindShadersEXT "
                           "vkCmdExecuteGeneratedCommandsEXT ");
    assert_variant(0, COMPUTE, compute);
    assert_bind(1, COMPUTE, compute);
    finish(buffer);
    destroy(compute);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_dispatch),
        PM_LAYERED_TEST(a_draw),
        PM_LAYERED_TEST(nothing_is_bound),
        PM_LAYERED_TEST(pipelines_and_objects),
        PM_LAYERED_TEST(linked_sets),
        PM_LAYERED_TEST(secondaries),
        PM_LAYERED_TEST(destroyed_early),
        PM_LAYERED_TEST(destroyed_while_it_is_made),
        PM_LAYERED_TEST(what_cannot_be_built_again),
        PM_LAYERED_TEST(the_driver_refuses),
        PM_LAYERED_TEST(a_proven_one_is_bound),
        PM_LAYERED_TEST(queries_that_would_see_it),
        PM_LAYERED_TEST(those_that_never_stand),
        PM_LAYERED_TEST(generated_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
