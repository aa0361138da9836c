/*
 * A program that pushes constants, for constants.sh: two frames, each one recording of draws and
 * dispatches, before each of which some words are pushed anew, all of them or a part. What it drew
 * and computed goes to a file, as bytes.
 *
 * usage: pushes FILE MODE     MODE: the value of the word that most calls have
 */
#include "tests/gpu/gpu_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 32, LANES = 32, SIDE = 64, FRAMES = 2 };

struct push {
    int32_t mode, taps;
    float strength, scale;
    int32_t slot;
};

struct scene {
    struct pm_gpu gpu;
    VkPipeline drawn, dispatched;
    struct gpu_image target;
    struct pm_gpu_buffer vertices, sums, texels;
};

static const char *output;
static int32_t usual;

static void make_pipelines(struct scene *s)
{
    uint32_t *words;
    size_t count;
    pm_gpu_load(SYSTEM_SHADERS, "pushes.frag", &words, &count);
    VkShaderModule module = gpu_module(&s->gpu, words, count);
    s->drawn =
        gpu_draw_pipeline(&s->gpu, &(struct pm_gpu_draw){.width = SIDE, .height = SIDE}, module);
    vkDestroyShaderModule(s->gpu.device, module, NULL);
    free(words);
    pm_gpu_load(SYSTEM_SHADERS, "pushes.comp", &words, &count);
    module = gpu_module(&s->gpu, words, count);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = s->gpu.layout};
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
    pm_gpu_buffer_create(&s->gpu, (size_t)CALLS * LANES * sizeof(float), &s->sums);
    pm_gpu_buffer_create(&s->gpu, (size_t)SIDE * SIDE * 4 * sizeof(float), &s->texels);
}

static void push(const struct scene *s, VkCommandBuffer commands, const struct push *now,
                 size_t first, size_t bytes)
{
    vkCmdPushConstants(commands, s->gpu.layout, VK_SHADER_STAGE_ALL, (uint32_t)first,
                       (uint32_t)bytes, (const char *)now + first);
}

/* What changes before a call: some words of one call in four or five, and the slot of all. */
static void push_for(const struct scene *s, VkCommandBuffer commands, struct push *now, int call)
{
    const int32_t mode = call % 5 == 4 ? 3 - usual : usual;
    const float strength = call % 7 == 3 ? 0 : 0.5f;
    now->slot = call;
    if (now->mode != mode) {
        now->mode = mode;
        push(s, commands, now, offsetof(struct push, mode), sizeof now->mode);
    }
    if (now->strength != strength) {
        now->strength = strength;
        now->scale = strength + 1;
        push(s, commands, now, offsetof(struct push, strength), 2 * sizeof(float));
    }
    if (call % 11 == 6)
        push(s, commands, now, 0, sizeof *now);
    else
        push(s, commands, now, offsetof(struct push, slot), sizeof now->slot);
}

static void draw(struct scene *s, VkCommandBuffer commands, struct push *now)
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
        push_for(s, commands, now, i);
        vkCmdDraw(commands, 6, 1, 6 * (uint32_t)i, 0);
    }
    vkCmdEndRendering(commands);
    gpu_barrier(commands);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {SIDE, SIDE, 1}};
    vkCmdCopyImageToBuffer(commands, s->target.image, VK_IMAGE_LAYOUT_GENERAL, s->texels.buffer, 1,
                           &copy);
}

static void frame(struct scene *s)
{
    struct push now = {usual, 3, 0.5f, 1.5f, 0};
    const struct pm_gpu_shader given = {
        .buffers = {&s->sums}, .push = &now, .push_size = sizeof now};
    const VkDescriptorSet set = gpu_descriptors(&s->gpu, &given, &s->sums);
    VkCommandBuffer commands = gpu_begin(&s->gpu);
    gpu_bind(&s->gpu, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, &given, set);
    gpu_bind(&s->gpu, commands, VK_PIPELINE_BIND_POINT_COMPUTE, &given, set);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, s->dispatched);
    draw(s, commands, &now);
    for (int i = 0; i < CALLS; i++) {
        push_for(s, commands, &now, i);
        vkCmdDispatch(commands, 1, 1, 1);
    }
    gpu_finish(&s->gpu, commands);
}

static void run(void **state)
{
    static struct scene s;
    (void)state;
    pm_gpu_create(&s.gpu);
    make_pipelines(&s);
    make_buffers(&s);
    gpu_image_create(&s.gpu, VK_FORMAT_R32G32B32A32_SFLOAT, SIDE, SIDE, 1, 1,
                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                     VK_IMAGE_ASPECT_COLOR_BIT, &s.target);
    FILE *file = fopen(output, "wb");
    assert_non_null(file);
    for (int i = 0; i < FRAMES; i++) {
        frame(&s);
        assert_int_equal(fwrite(s.texels.data, s.texels.size, 1, file), 1);
        assert_int_equal(fwrite(s.sums.data, s.sums.size, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    gpu_image_destroy(&s.gpu, &s.target);
    pm_gpu_buffer_destroy(&s.gpu, &s.vertices);
    pm_gpu_buffer_destroy(&s.gpu, &s.sums);
    pm_gpu_buffer_destroy(&s.gpu, &s.texels);
    vkDestroyPipeline(s.gpu.device, s.drawn, NULL);
    vkDestroyPipeline(s.gpu.device, s.dispatched, NULL);
    pm_gpu_destroy(&s.gpu);
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
