/*
 * A program whose shaders hang on words of uniform buffers, for uniforms.sh. A recording of draws
 * and dispatches is made once and submitted again and again. Which words they read changes from
 * call to call (dynamic offsets), inside the recording (vkCmdUpdateBuffer), after it was recorded,
 * and between its submissions. A buffer that is read in one mode only is not bound at all in the
 * other, where the device allows that. What was drawn and computed goes to a file, as bytes.
 *
 * usage: uniforms FILE MODE     MODE: the value of the word that most calls have
 */
#include "tests/gpu/gpu_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 64, LANES = 32, SIDE = 64, SUBMISSIONS = 3, STRIDE = 256 };

struct words {
    int32_t mode, taps;
    float strength, scale;
};

struct scene {
    struct pm_gpu gpu;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout, own_layout; /* own_layout: the harness's */
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipeline drawn, dispatched;
    struct gpu_image target;
    struct pm_gpu_buffer vertices, words, rare, often, sums, texels;
    bool may_be_unbound;
};

static const char *output;
static int32_t usual;

/* ---- objects ---- */

static bool may_be_unbound(const struct pm_gpu *gpu)
{
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    vkGetPhysicalDeviceFeatures2(gpu->physical, &features);
    /* SwiftShader says that it may, and reads what no lane does (seen: a crash without us). */
    return features12.descriptorBindingPartiallyBound && !gpu->swiftshader;
}

static void make_layouts(struct scene *s)
{
    const VkDescriptorBindingFlags flags[4] = {
        [1] = s->may_be_unbound ? VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT : 0};
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
        .pNext = s->may_be_unbound ? &flag_info : NULL,
        .bindingCount = 4,
        .pBindings = bindings};
    CHECK(vkCreateDescriptorSetLayout(s->gpu.device, &set, NULL, &s->set_layout));
    const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, sizeof(int32_t)};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &s->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    CHECK(vkCreatePipelineLayout(s->gpu.device, &layout, NULL, &s->layout));
    s->own_layout = s->gpu.layout;
    s->gpu.layout = s->layout;
}

static void make_pipelines(struct scene *s)
{
    uint32_t *words;
    size_t count;
    pm_gpu_load(SYSTEM_SHADERS, "uniforms.frag", &words, &count);
    VkShaderModule module = gpu_module(&s->gpu, words, count);
    s->drawn =
        gpu_draw_pipeline(&s->gpu, &(struct pm_gpu_draw){.width = SIDE, .height = SIDE}, module);
    vkDestroyShaderModule(s->gpu.device, module, NULL);
    free(words);
    pm_gpu_load(SYSTEM_SHADERS, "uniforms.comp", &words, &count);
    module = gpu_module(&s->gpu, words, count);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = s->layout};
    CHECK(vkCreateComputePipelines(s->gpu.device, VK_NULL_HANDLE, 1, &info, NULL, &s->dispatched));
    vkDestroyShaderModule(s->gpu.device, module, NULL);
    free(words);
}

/* A strip of the picture for each draw. */
static void make_buffers(struct scene *s)
{
    static const float corners[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 1}};
    pm_gpu_buffer_create(&s->gpu, (size_t)6 * CALLS * sizeof(struct pm_gpu_vertex), &s->vertices);
    struct pm_gpu_vertex *vertices = s->vertices.data;
    for (int i = 0; i < 6 * CALLS; i++) {
        const float x = (float)(i / 6) + corners[i % 6][0];
        vertices[i] = (struct pm_gpu_vertex){
            .position = {2 * x / (float)CALLS - 1, 2 * corners[i % 6][1] - 1, 0, 1}};
    }
    pm_gpu_buffer_create(&s->gpu, (size_t)2 * CALLS * STRIDE, &s->words);
    pm_gpu_buffer_create(&s->gpu, STRIDE, &s->rare);
    memcpy(s->rare.data, &(float[4]){0.25f, 0.75f, 0, 0}, 4 * sizeof(float));
    ((int32_t *)s->rare.data)[4] = 7;
    pm_gpu_buffer_create(&s->gpu, STRIDE, &s->often);
    pm_gpu_buffer_create(&s->gpu, (size_t)CALLS * LANES * sizeof(float), &s->sums);
    pm_gpu_buffer_create(&s->gpu, (size_t)SIDE * SIDE * 4 * sizeof(float), &s->texels);
}

static void write_buffer(const struct scene *s, uint32_t binding, VkDescriptorType type,
                         const struct pm_gpu_buffer *buffer, VkDeviceSize range)
{
    const VkDescriptorBufferInfo info = {buffer->buffer, 0, range};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = s->set,
                                        .dstBinding = binding,
                                        .descriptorCount = 1,
                                        .descriptorType = type,
                                        .pBufferInfo = &info};
    vkUpdateDescriptorSets(s->gpu.device, 1, &write, 0, NULL);
}

static void make_set(struct scene *s)
{
    const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1},
                                          {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 2},
                                          {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1}};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 3,
                                             .pPoolSizes = sizes};
    CHECK(vkCreateDescriptorPool(s->gpu.device, &pool, NULL, &s->pool));
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = s->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &s->set_layout};
    CHECK(vkAllocateDescriptorSets(s->gpu.device, &allocate, &s->set));
    /* No more of the block than is there. */
    write_buffer(s, 0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, &s->words, sizeof(struct words));
    if (usual == 2 || !s->may_be_unbound)
        write_buffer(s, 1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, &s->rare, 32);
    write_buffer(s, 2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, &s->sums, VK_WHOLE_SIZE);
    write_buffer(s, 3, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, &s->often, 48);
}

/* ---- a recording ---- */

static struct words *words_of(const struct scene *s, int call)
{
    return (struct words *)(void *)((char *)s->words.data + (size_t)call * STRIDE);
}

/* What a call reads. Mode 2 is not to be where the buffer that it reads may not be bound. */
static struct words words_for(const struct scene *s, int call, int submission)
{
    struct words words = {usual, 3, 0.5f, 1.5f};
    const int turn = call + 13 * submission;
    if (turn % 41 == 17)
        words.mode = usual == 1 && s->may_be_unbound ? 0 : 3 - usual;
    if (turn % 53 == 29)
        words.strength = 0;
    if (turn % 47 == 31)
        words.taps = 5;
    return words;
}

static void fill(const struct scene *s, int submission)
{
    for (int i = 0; i < 2 * CALLS; i++)
        *words_of(s, i) = words_for(s, i, submission);
    /* Zero in most submissions. */
    memset(s->often.data, 0, s->often.size);
    if (usual == 2 && submission == SUBMISSIONS - 1)
        ((float *)s->often.data)[9] = 0.5f;
}

static void bind_for(const struct scene *s, VkCommandBuffer commands, VkPipelineBindPoint point,
                     int call, int32_t slot)
{
    const uint32_t offset = (uint32_t)call * STRIDE;
    vkCmdBindDescriptorSets(commands, point, s->layout, 0, 1, &s->set, 1, &offset);
    vkCmdPushConstants(commands, s->layout, VK_SHADER_STAGE_ALL, 0, sizeof slot, &slot);
}

static void draw(struct scene *s, VkCommandBuffer commands)
{
    const VkDeviceSize zero = 0;
    const VkRenderingAttachmentInfo color = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                             .imageView = s->target.view,
                                             .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                             .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                             .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    gpu_image_layout(commands, s->target.image, VK_IMAGE_ASPECT_COLOR_BIT,
                     VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    vkCmdBeginRendering(commands, &(VkRenderingInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                                     .renderArea = {{0, 0}, {SIDE, SIDE}},
                                                     .layerCount = 1,
                                                     .colorAttachmentCount = 1,
                                                     .pColorAttachments = &color});
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, s->drawn);
    vkCmdBindVertexBuffers(commands, 0, 1, &s->vertices.buffer, &zero);
    for (int i = 0; i < CALLS; i++) {
        bind_for(s, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, i, i);
        vkCmdDraw(commands, 6, 1, 6 * (uint32_t)i, 0);
    }
    vkCmdEndRendering(commands);
    gpu_barrier(commands);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {SIDE, SIDE, 1}};
    vkCmdCopyImageToBuffer(commands, s->target.image, VK_IMAGE_LAYOUT_GENERAL, s->texels.buffer, 1,
                           &copy);
}

/* Every eighth call's words are written by the GPU right before it. */
static void dispatch(struct scene *s, VkCommandBuffer commands)
{
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->dispatched);
    for (int i = 0; i < CALLS; i++) {
        const struct words words = {i == 24 ? 0 : usual, i == 40 ? 5 : 3, 0.5f, 1.5f};
        if (i % 8 == 0) {
            gpu_barrier(commands);
            vkCmdUpdateBuffer(commands, s->words.buffer, (VkDeviceSize)(CALLS + i) * STRIDE,
                              sizeof words, &words);
            gpu_barrier(commands);
        }
        bind_for(s, commands, VK_PIPELINE_BIND_POINT_COMPUTE, CALLS + i, i);
        vkCmdDispatch(commands, 1, 1, 1);
    }
    gpu_barrier(commands);
}

static VkCommandBuffer record(struct scene *s)
{
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = s->gpu.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(s->gpu.device, &allocate, &commands));
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    draw(s, commands);
    dispatch(s, commands);
    CHECK(vkEndCommandBuffer(commands));
    return commands;
}

static void submit(struct scene *s, VkCommandBuffer commands)
{
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(s->gpu.queue, 1, &submit, VK_NULL_HANDLE));
    CHECK(vkQueueWaitIdle(s->gpu.queue));
}

/* ---- the program ---- */

static void make(struct scene *s)
{
    pm_gpu_create(&s->gpu);
    s->may_be_unbound = may_be_unbound(&s->gpu);
    make_layouts(s);
    make_pipelines(s);
    make_buffers(s);
    make_set(s);
    gpu_image_create(&s->gpu, VK_FORMAT_R32G32B32A32_SFLOAT, SIDE, SIDE, 1, 1,
                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                     VK_IMAGE_ASPECT_COLOR_BIT, &s->target);
}

static void destroy(struct scene *s)
{
    struct pm_gpu_buffer *buffers[] = {&s->vertices, &s->words, &s->rare,
                                       &s->often,    &s->sums,  &s->texels};
    gpu_image_destroy(&s->gpu, &s->target);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        pm_gpu_buffer_destroy(&s->gpu, buffers[i]);
    vkDestroyPipeline(s->gpu.device, s->drawn, NULL);
    vkDestroyPipeline(s->gpu.device, s->dispatched, NULL);
    vkDestroyDescriptorPool(s->gpu.device, s->pool, NULL);
    s->gpu.layout = s->own_layout;
    vkDestroyPipelineLayout(s->gpu.device, s->layout, NULL);
    vkDestroyDescriptorSetLayout(s->gpu.device, s->set_layout, NULL);
    pm_gpu_destroy(&s->gpu);
}

static void run(void **state)
{
    static struct scene s;
    (void)state;
    make(&s);
    FILE *file = fopen(output, "wb");
    assert_non_null(file);
    VkCommandBuffer commands = record(&s);
    for (int i = 0; i < SUBMISSIONS; i++) {
        fill(&s, i);
        submit(&s, commands);
        assert_int_equal(fwrite(s.texels.data, s.texels.size, 1, file), 1);
        assert_int_equal(fwrite(s.sums.data, s.sums.size, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    vkFreeCommandBuffers(s.gpu.device, s.gpu.pool, 1, &commands);
    destroy(&s);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s FILE MODE\n", argv[0]);
        return 2;
    }
    output = argv[1];
    usual = atoi(argv[2]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
