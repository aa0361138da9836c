#include "tests/system/words_scene.h"

#include <stdlib.h>

static VkShaderModule module_of(struct words_scene *s, const char *name, const char *stage)
{
    char file[64];
    uint32_t *words;
    size_t count;
    snprintf(file, sizeof file, "%s.%s", name, stage);
    pm_gpu_load(SYSTEM_SHADERS, file, &words, &count);
    const VkShaderModule module = gpu_module(&s->gpu, words, count);
    free(words);
    return module;
}

static void make_pipelines(struct words_scene *s, const char *name)
{
    VkShaderModule module = module_of(s, name, "frag");
    s->drawn =
        gpu_draw_pipeline(&s->gpu, &(struct pm_gpu_draw){.width = SIDE, .height = SIDE}, module);
    vkDestroyShaderModule(s->gpu.device, module, NULL);
    module = module_of(s, name, "comp");
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main"},
        .layout = s->gpu.layout};
    CHECK(vkCreateComputePipelines(s->gpu.device, VK_NULL_HANDLE, 1, &info, NULL, &s->dispatched));
    vkDestroyShaderModule(s->gpu.device, module, NULL);
}

/* A strip of the picture for each call. */
static void make_vertices(struct words_scene *s)
{
    static const float corners[6][2] = {{0, 0}, {1, 0}, {0, 1}, {0, 1}, {1, 0}, {1, 1}};
    pm_gpu_buffer_create(&s->gpu, (size_t)6 * (size_t)s->calls * sizeof(struct pm_gpu_vertex),
                         &s->vertices);
    struct pm_gpu_vertex *vertices = s->vertices.data;
    for (int i = 0; i < 6 * s->calls; i++) {
        const float x = (float)(i / 6) + corners[i % 6][0];
        vertices[i] = (struct pm_gpu_vertex){
            .position = {2 * x / (float)s->calls - 1, 2 * corners[i % 6][1] - 1, 0, 1}};
    }
}

void words_scene_make(struct words_scene *s, const char *name, int calls)
{
    s->calls = calls;
    make_pipelines(s, name);
    make_vertices(s);
    pm_gpu_buffer_create(&s->gpu, (size_t)calls * LANES * sizeof(float), &s->sums);
    pm_gpu_buffer_create(&s->gpu, (size_t)SIDE * SIDE * 4 * sizeof(float), &s->texels);
    gpu_image_create(&s->gpu, VK_FORMAT_R32G32B32A32_SFLOAT, SIDE, SIDE, 1, 1,
                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                     VK_IMAGE_ASPECT_COLOR_BIT, &s->target);
}

void words_scene_destroy(struct words_scene *s)
{
    gpu_image_destroy(&s->gpu, &s->target);
    pm_gpu_buffer_destroy(&s->gpu, &s->vertices);
    pm_gpu_buffer_destroy(&s->gpu, &s->sums);
    pm_gpu_buffer_destroy(&s->gpu, &s->texels);
    vkDestroyPipeline(s->gpu.device, s->drawn, NULL);
    vkDestroyPipeline(s->gpu.device, s->dispatched, NULL);
}

void words_scene_draw(const struct words_scene *s, VkCommandBuffer commands,
                      void (*give)(void *user, VkCommandBuffer commands, int i), void *user)
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
    for (int i = 0; i < s->calls; i++) {
        give(user, commands, i);
        vkCmdDraw(commands, 6, 1, 6 * (uint32_t)i, 0);
    }
    vkCmdEndRendering(commands);
    gpu_barrier(commands);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {SIDE, SIDE, 1}};
    vkCmdCopyImageToBuffer(commands, s->target.image, VK_IMAGE_LAYOUT_GENERAL, s->texels.buffer, 1,
                           &copy);
}

void words_scene_write(const struct words_scene *s, FILE *file)
{
    assert_int_equal(fwrite(s->texels.data, s->texels.size, 1, file), 1);
    assert_int_equal(fwrite(s->sums.data, s->sums.size, 1, file), 1);
}

struct program {
    const char *output;
    int usual;
    void (*run)(FILE *file, int usual);
};

static void run_program(void **state)
{
    const struct program *program = *state;
    FILE *file = fopen(program->output, "wb");
    assert_non_null(file);
    program->run(file, program->usual);
    assert_int_equal(fclose(file), 0);
}

int words_scene_main(int argc, char **argv, void (*run)(FILE *file, int usual))
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s FILE MODE\n", argv[0]);
        return 2;
    }
    struct program program = {argv[1], atoi(argv[2]), run};
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(run_program, &program)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
