/*
 * A program whose shaders hang on words of uniform buffers, for constants.sh. A recording of draws
 * and dispatches is made once and submitted again and again. Which words they read changes from
 * call to call (dynamic offsets), inside the recording (vkCmdUpdateBuffer), after it was recorded,
 * and between its submissions. A buffer that is read in one mode only is not bound at all in the
 * other, where the device allows that, unless PM_ALL_BOUND is set. What was drawn and computed goes
 * to a file, as bytes.
 *
 * usage: uniforms FILE MODE     MODE: the value of the word that most calls have
 */
#include "tests/system/words_scene.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS = 64, SUBMISSIONS = 3, STRIDE = 256 };

struct words {
    int32_t mode, taps;
    float strength, scale;
};

struct reading {
    struct words_scene scene;
    int32_t usual;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout, own_layout; /* own_layout: the harness's */
    VkDescriptorPool pool;
    VkDescriptorSet set;
    struct pm_gpu_buffer words, rare, often;
    bool may_be_unbound;
};

/* ---- objects ---- */

static bool may_be_unbound(const struct pm_gpu *gpu)
{
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    vkGetPhysicalDeviceFeatures2(gpu->physical, &features);
    /* SwiftShader says that it may, and reads what no lane does (seen: a crash without us). */
    return features12.descriptorBindingPartiallyBound && !gpu->swiftshader &&
           !getenv("PM_ALL_BOUND");
}

static void make_layouts(struct reading *r)
{
    const VkDescriptorBindingFlags flags[4] = {
        [1] = r->may_be_unbound ? VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT : 0};
    const VkDescriptorSetLayoutBindingFlagsCreateInfo flag_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
        .bindingCount = 4,
        .pBindingFlags = flags};
    const VkDescriptorSetLayoutBinding bindings[4] = {
        {0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1, VK_SHADER_STAGE_ALL, NULL},
        {1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_ALL, NULL},
        {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_ALL, NULL},
        {3, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_ALL, NULL}};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .pNext = r->may_be_unbound ? &flag_info : NULL,
        .bindingCount = 4,
        .pBindings = bindings};
    CHECK(vkCreateDescriptorSetLayout(r->scene.gpu.device, &set, NULL, &r->set_layout));
    const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, sizeof(int32_t)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &r->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    CHECK(vkCreatePipelineLayout(r->scene.gpu.device, &layout, NULL, &r->layout));
    r->own_layout = r->scene.gpu.layout;
    r->scene.gpu.layout = r->layout;
}

static void make_buffers(struct reading *r)
{
    struct pm_gpu *gpu = &r->scene.gpu;
    pm_gpu_buffer_create(gpu, (size_t)2 * CALLS * STRIDE, &r->words);
    pm_gpu_buffer_create(gpu, STRIDE, &r->rare);
    memcpy(r->rare.data, &(float[4]){0.25f, 0.75f, 0, 0}, 4 * sizeof(float));
    ((int32_t *)r->rare.data)[4] = 7;
    pm_gpu_buffer_create(gpu, STRIDE, &r->often);
}

static void write_buffer(const struct reading *r, uint32_t binding, VkDescriptorType type,
                         const struct pm_gpu_buffer *buffer, VkDeviceSize range)
{
    const VkDescriptorBufferInfo info = {buffer->buffer, 0, range};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = r->set,
                                        .dstBinding = binding,
                                        .descriptorCount = 1,
                                        .descriptorType = type,
                                        .pBufferInfo = &info};
    vkUpdateDescriptorSets(r->scene.gpu.device, 1, &write, 0, NULL);
}

static void make_set(struct reading *r)
{
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 2},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 3,
                                             .pPoolSizes = sizes};
    CHECK(vkCreateDescriptorPool(r->scene.gpu.device, &pool, NULL, &r->pool));
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = r->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &r->set_layout};
    CHECK(vkAllocateDescriptorSets(r->scene.gpu.device, &allocate, &r->set));
    /* No more of the block than is there. */
    write_buffer(r, 0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, &r->words, sizeof(struct words));
    if (r->usual == 2 || !r->may_be_unbound)
        write_buffer(r, 1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, &r->rare, 32);
    write_buffer(r, 2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &r->scene.sums, VK_WHOLE_SIZE);
    write_buffer(r, 3, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, &r->often, 48);
}

/* ---- a recording ---- */

static struct words *words_of(const struct reading *r, int call)
{
    return (struct words *)(void *)((char *)r->words.data + (size_t)call * STRIDE);
}

/* What a call reads. Mode 2 is not to be where the buffer that it reads may not be bound. */
static struct words words_for(const struct reading *r, int call, int submission)
{
    struct words words = {r->usual, 3, 0.5f, 1.5f};
    const int turn = call + 13 * submission;
    if (turn % 41 == 17)
        words.mode = r->usual == 1 && r->may_be_unbound ? 0 : 3 - r->usual;
    if (turn % 53 == 29)
        words.strength = 0;
    if (turn % 47 == 31)
        words.taps = 5;
    return words;
}

static void fill(const struct reading *r, int submission)
{
    for (int i = 0; i < 2 * CALLS; i++)
        *words_of(r, i) = words_for(r, i, submission);
    /* Zero in most submissions. */
    memset(r->often.data, 0, r->often.size);
    if (r->usual == 2 && submission == SUBMISSIONS - 1)
        ((float *)r->often.data)[9] = 0.5f;
}

static void bind_for(const struct reading *r, VkCommandBuffer commands, VkPipelineBindPoint point,
                     int call, int32_t slot)
{
    const uint32_t offset = (uint32_t)call * STRIDE;
    vkCmdBindDescriptorSets(commands, point, r->layout, 0, 1, &r->set, 1, &offset);
    vkCmdPushConstants(commands, r->layout, VK_SHADER_STAGE_ALL, 0, sizeof slot, &slot);
}

static void give(void *user, VkCommandBuffer commands, int call)
{
    bind_for(user, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, call, call);
}

/* Every eighth call's words are written by the GPU right before it. */
static void dispatch(struct reading *r, VkCommandBuffer commands)
{
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->scene.dispatched);
    for (int i = 0; i < CALLS; i++) {
        const struct words words = {i == 24 ? 0 : r->usual, i == 40 ? 5 : 3, 0.5f, 1.5f};
        if (i % 8 == 0) {
            gpu_barrier(commands);
            vkCmdUpdateBuffer(commands, r->words.buffer, (VkDeviceSize)(CALLS + i) * STRIDE,
                              sizeof words, &words);
            gpu_barrier(commands);
        }
        bind_for(r, commands, VK_PIPELINE_BIND_POINT_COMPUTE, CALLS + i, i);
        vkCmdDispatch(commands, 1, 1, 1);
    }
    gpu_barrier(commands);
}

static VkCommandBuffer record(struct reading *r)
{
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->scene.gpu.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(r->scene.gpu.device, &allocate, &commands));
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    words_scene_draw(&r->scene, commands, give, r);
    dispatch(r, commands);
    CHECK(vkEndCommandBuffer(commands));
    return commands;
}

static void submit(struct reading *r, VkCommandBuffer commands)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(r->scene.gpu.queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(r->scene.gpu.queue));
}

/* ---- the program ---- */

static void make(struct reading *r)
{
    pm_gpu_create(&r->scene.gpu);
    r->may_be_unbound = may_be_unbound(&r->scene.gpu);
    make_layouts(r);
    words_scene_make(&r->scene, "uniforms", CALLS);
    make_buffers(r);
    make_set(r);
}

static void destroy(struct reading *r)
{
    struct pm_gpu *gpu = &r->scene.gpu;
    pm_gpu_buffer_destroy(gpu, &r->words);
    pm_gpu_buffer_destroy(gpu, &r->rare);
    pm_gpu_buffer_destroy(gpu, &r->often);
    words_scene_destroy(&r->scene);
    vkDestroyDescriptorPool(gpu->device, r->pool, NULL);
    gpu->layout = r->own_layout;
    vkDestroyPipelineLayout(gpu->device, r->layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, r->set_layout, NULL);
    pm_gpu_destroy(gpu);
}

static void run(FILE *file, int usual)
{
    static struct reading r;
    r.usual = usual;
    make(&r);
    VkCommandBuffer commands = record(&r);
    for (int i = 0; i < SUBMISSIONS; i++) {
        fill(&r, i);
        submit(&r, commands);
        words_scene_write(&r.scene, file);
    }
    vkFreeCommandBuffers(r.scene.gpu.device, r.scene.gpu.pool, 1, &commands);
    destroy(&r);
}

int main(int argc, char **argv)
{
    return words_scene_main(argc, argv, run);
}
