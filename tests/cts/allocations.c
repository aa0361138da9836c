/* The game's callbacks have no memory: a call says so or does without, leaves nothing behind, and
 * what comes next is as if nothing had been. What a driver allocates, and what it says to each
 * failure, must be the same in all modes. */
#include "tests/cts/special.h"

#include "tests/cts/describe.h"

#include <stdatomic.h>
#include <stdio.h>

static struct cts cts;

/* ---- the calls: each makes something and destroys what it made ---- */

#define MAKES(name, object, ...)                                                                   \
    static VkResult name(void)                                                                     \
    {                                                                                              \
        const Vk##object##CreateInfo info = __VA_ARGS__;                                           \
        Vk##object made = VK_NULL_HANDLE;                                                          \
        const VkResult result = vkCreate##object(cts.gpu.device, &info, &cts_allocator, &made);    \
        if (result == VK_SUCCESS)                                                                  \
            vkDestroy##object(cts.gpu.device, made, &cts_allocator);                               \
        return result;                                                                             \
    }

MAKES(module, ShaderModule,
      {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
       .codeSize = cts.word_count * sizeof(uint32_t),
       .pCode = cts.words})
MAKES(cache, PipelineCache, {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO})
MAKES(command_pool, CommandPool,
      {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
       .queueFamilyIndex = cts.gpu.queue_family})
MAKES(sampler, Sampler, {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO})
MAKES(query_pool, QueryPool,
      {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
       .queryType = VK_QUERY_TYPE_OCCLUSION,
       .queryCount = 4})
MAKES(fence, Fence, {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO})
MAKES(pipeline_layout, PipelineLayout,
      {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
       .setLayoutCount = 1,
       .pSetLayouts = &cts.gpu.set_layout})

static const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                     VK_SHADER_STAGE_ALL, NULL};
MAKES(set_layout, DescriptorSetLayout,
      {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
       .bindingCount = 1,
       .pBindings = &binding})

static const VkSubpassDescription subpass;
MAKES(render_pass, RenderPass,
      {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
       .subpassCount = 1,
       .pSubpasses = &subpass})

static VkResult render_pass2(void)
{
    const VkSubpassDescription2 one = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2};
    const VkRenderPassCreateInfo2 info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
                                          .subpassCount = 1,
                                          .pSubpasses = &one};
    VkRenderPass made = VK_NULL_HANDLE;
    const VkResult result = vkCreateRenderPass2(cts.gpu.device, &info, &cts_allocator, &made);
    if (result == VK_SUCCESS)
        vkDestroyRenderPass(cts.gpu.device, made, &cts_allocator);
    return result;
}

/* Of several pipelines those that were made are there, whatever became of the others. */
static VkResult destroy_made(VkResult result, const VkPipeline *made, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (result == VK_SUCCESS && !made[i])
            cts_fail("there is no pipeline, and no error");
        vkDestroyPipeline(cts.gpu.device, made[i], &cts_allocator);
    }
    return result;
}

static VkResult make_graphics(uint32_t count)
{
    struct cts_description d;
    VkGraphicsPipelineCreateInfo infos[3];
    VkPipeline made[3] = {VK_NULL_HANDLE};
    cts_describe(&cts, &d);
    for (uint32_t i = 0; i < count; i++)
        infos[i] = d.info;
    return destroy_made(vkCreateGraphicsPipelines(cts.gpu.device, VK_NULL_HANDLE, count, infos,
                                                  &cts_allocator, made),
                        made, count);
}

static VkResult make_compute(uint32_t count)
{
    struct cts_description d;
    VkComputePipelineCreateInfo infos[3];
    VkPipeline made[3] = {VK_NULL_HANDLE};
    cts_describe_stages(&cts, &d);
    for (uint32_t i = 0; i < count; i++) {
        infos[i] =
            (VkComputePipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                          .stage = d.stages[1],
                                          .layout = cts.gpu.layout,
                                          .basePipelineIndex = -1};
        infos[i].stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    return destroy_made(vkCreateComputePipelines(cts.gpu.device, VK_NULL_HANDLE, count, infos,
                                                 &cts_allocator, made),
                        made, count);
}

static VkResult graphics(void)
{
    return make_graphics(1);
}

static VkResult graphics_batch(void)
{
    return make_graphics(3);
}

static VkResult compute(void)
{
    return make_compute(1);
}

static VkResult compute_batch(void)
{
    return make_compute(3);
}

static VkResult device(void)
{
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = cts.gpu.queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    VkDevice made = VK_NULL_HANDLE;
    const VkResult result = vkCreateDevice(cts.gpu.physical, &info, &cts_allocator, &made);
    if (result == VK_SUCCESS)
        vkDestroyDevice(made, &cts_allocator);
    return result;
}

/* Of Vulkan 1.0, which the layer raises. */
static VkResult instance(void)
{
    struct cts_instance_info of;
    cts_describe_instance(&of, VK_API_VERSION_1_0);
    VkInstance made = VK_NULL_HANDLE;
    const VkResult result = vkCreateInstance(&of.info, &cts_allocator, &made);
    if (result == VK_SUCCESS)
        vkDestroyInstance(made, &cts_allocator);
    return result;
}

static const struct call {
    const char *name;
    VkResult (*run)(void);
    bool compute;       /* whose module there is */
    bool of_the_loader; /* which allocates, too, and more with each layer */
} calls[] = {{"module", module, false, false},
             {"cache", cache, false, false},
             {"command_pool", command_pool, false, false},
             {"sampler", sampler, false, false},
             {"query_pool", query_pool, false, false},
             {"fence", fence, false, false},
             {"set_layout", set_layout, false, false},
             {"pipeline_layout", pipeline_layout, false, false},
             {"render_pass", render_pass, false, false},
             {"render_pass2", render_pass2, false, false},
             {"graphics", graphics, false, false},
             {"graphics_batch", graphics_batch, false, false},
             {"compute", compute, true, false},
             {"compute_batch", compute_batch, true, false},
             {"device", device, false, true},
             {"instance", instance, false, true}};

const char *cts_failing_call(uint32_t n)
{
    return n < sizeof calls / sizeof calls[0] ? calls[n].name : NULL;
}

/* ---- failing ---- */

/* Hashes what it is told where the n-th allocation fails; false: there are not so many. */
static bool fail_at(const struct call *call, int64_t n, uint64_t *hash)
{
    const int64_t live = atomic_load(&cts_live);
    atomic_store(&cts_allocations, 0);
    atomic_store(&cts_fail_at, n);
    const VkResult result = call->run();
    atomic_store(&cts_fail_at, 0);
    const bool failed = atomic_load(&cts_allocations) >= n;
    const int64_t left = atomic_load(&cts_live) - live;
    if (!failed && result != VK_SUCCESS)
        cts_fail("%s: VkResult %d although no allocation fails", call->name, result);
    if (failed && result != VK_SUCCESS && result != VK_ERROR_OUT_OF_HOST_MEMORY)
        cts_fail("%s: VkResult %d where allocation %d fails", call->name, result, (int)n);
    if (left != 0)
        cts_fail("%s: where allocation %d fails %d are left", call->name, (int)n, (int)left);
    if (!call->of_the_loader)
        *hash = cts_hash(*hash, &result, sizeof result);
    return failed;
}

void cts_run_allocation(uint32_t n, bool on)
{
    const struct call *call = &calls[n];
    const struct cts_case *of = call->compute ? &cts_special_compute : &cts_special_graphics;
    cts_open(&cts, of);
    const uint64_t wanted = cts_plainly(&cts, of);
    uint64_t hash = wanted;
    atomic_store(&cts_fails_on, on);
    /* Of the loader's hundreds, some. */
    uint32_t failed = 0;
    for (int64_t at = 1; fail_at(call, at, &hash); at += call->of_the_loader ? 1 + at / 8 : 1)
        failed++;
    atomic_store(&cts_fails_on, false);
    printf("  Allocations that failed: %u\n", failed); /* some drivers ask the device's callbacks */
    struct cts_case with = *of;
    with.make = CTS_ALLOCATOR;
    cts_expect(cts_plainly(&cts, &with), wanted, "what came after");
    cts_close(&cts, of);
    cts_pass(hash);
}
