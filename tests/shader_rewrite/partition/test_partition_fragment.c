/* Fragment shaders in several passes draw the bits that they draw in one, on every driver: each
 * pass's color attachments are what the next ones fetch. */
#include "tests/gpu/gpu_private.h"
#include "tests/shader_rewrite/differential/differential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { SIDE = 48, LOCATIONS = 8, MOST_IMAGES = 16 };

static const struct pm_target target = {.vulkan_minor = 3};
static const VkFormat result_format = VK_FORMAT_R32G32B32A32_SFLOAT;
static const VkFormat image_format = VK_FORMAT_R32G32B32A32_UINT;

/* Two triangles, with edges across pixels, so that quads have helper lanes. */
static const struct pm_gpu_vertex vertices[] = {
    {{-0.9f, -0.8f, 0, 1}, {0.1f, 0.9f, 0.3f, 0.5f}}, {{0.7f, -0.9f, 0, 1}, {0.8f, 0.2f, 0.6f, 1}},
    {{-0.6f, 0.9f, 0, 1}, {0.4f, 0.3f, 0.9f, 0.2f}},  {{0.8f, -0.7f, 0, 1}, {0.9f, 0.1f, 0.2f, 0}},
    {{0.9f, 0.9f, 0, 1}, {0.2f, 0.7f, 0.5f, 0.7f}},   {{-0.4f, 0.95f, 0, 1}, {0.6f, 0.6f, 0, 1}},
};

static struct {
    uint32_t partitions, passes, images, refused;
} seen;

/* What a drawing in passes needs. */
struct drawing {
    struct pm_gpu *gpu;
    const struct pm_partitioned *made;
    struct gpu_image result, images[MOST_IMAGES];
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    struct pm_gpu_buffer vertices, texels;
};

static void make_images(struct drawing *d)
{
    assert_true(d->made->image_count <= MOST_IMAGES);
    gpu_image_create(d->gpu, result_format, SIDE, SIDE, 1, 1,
                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                     VK_IMAGE_ASPECT_COLOR_BIT, &d->result);
    for (uint32_t i = 0; i < d->made->image_count; i++)
        gpu_image_create(d->gpu, image_format, SIDE, SIDE, 1, 1,
                         VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                         VK_IMAGE_ASPECT_COLOR_BIT, &d->images[i]);
}

static void make_descriptors(struct drawing *d)
{
    VkDevice device = d->gpu->device;
    VkDescriptorSetLayoutBinding bindings[MOST_IMAGES];
    VkDescriptorImageInfo infos[MOST_IMAGES];
    VkWriteDescriptorSet writes[MOST_IMAGES];
    for (uint32_t i = 0; i < d->made->image_count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, 1,
                                                     VK_SHADER_STAGE_FRAGMENT_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = d->made->image_count,
        .pBindings = bindings};
    CHECK(vkCreateDescriptorSetLayout(device, &layout, NULL, &d->set_layout));
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, MOST_IMAGES};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    CHECK(vkCreateDescriptorPool(device, &pool, NULL, &d->pool));
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = d->pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &d->set_layout};
    CHECK(vkAllocateDescriptorSets(device, &allocate, &d->set));
    for (uint32_t i = 0; i < d->made->image_count; i++) {
        infos[i] = (VkDescriptorImageInfo){NULL, d->images[i].view, VK_IMAGE_LAYOUT_GENERAL};
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = d->set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                           .pImageInfo = &infos[i]};
    }
    vkUpdateDescriptorSets(device, d->made->image_count, writes, 0, NULL);
    /* Behind the sets that the shader has; the tests' shaders have one. */
    const VkDescriptorSetLayout sets[] = {d->gpu->set_layout, d->set_layout};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 2,
                                             .pSetLayouts = sets};
    CHECK(vkCreatePipelineLayout(device, &info, NULL, &d->layout));
}

/* What a pass writes, by location. */
struct targets {
    VkRenderingAttachmentInfo attachments[LOCATIONS];
    VkFormat formats[LOCATIONS];
};

static void find_targets(const struct drawing *d, const struct pm_partition_pass *pass,
                         struct targets *out)
{
    *out = (struct targets){0};
    for (uint32_t i = 0; i < LOCATIONS; i++)
        out->attachments[i] =
            (VkRenderingAttachmentInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    if (pass->outputs & 1) {
        out->attachments[0].imageView = d->result.view;
        out->formats[0] = result_format;
    }
    for (uint32_t i = 0; i < pass->target_count; i++) {
        assert_true(pass->targets[i].location < LOCATIONS);
        out->attachments[pass->targets[i].location].imageView =
            d->images[pass->targets[i].image].view;
        out->formats[pass->targets[i].location] = image_format;
    }
}

static VkPipeline make_pipeline(const struct drawing *d, const struct pm_partition_pass *pass,
                                const struct targets *targets)
{
    VkShaderModule module = gpu_module(d->gpu, pass->words.data, pass->words.count);
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = d->gpu->vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = module,
         .pName = "main"}};
    struct gpu_fixed_state state;
    gpu_fixed_state_fill(&state, SIDE, SIDE, 1);
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState blend[LOCATIONS];
    for (uint32_t i = 0; i < LOCATIONS; i++)
        blend[i] = (VkPipelineColorBlendAttachmentState){.colorWriteMask = 0xf};
    const VkPipelineColorBlendStateCreateInfo blends = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = LOCATIONS,
        .pAttachments = blend};
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = LOCATIONS,
        .pColorAttachmentFormats = targets->formats};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &rendering,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &state.input,
                                               .pInputAssemblyState = &state.assembly,
                                               .pViewportState = &state.viewports,
                                               .pRasterizationState = &state.rasterization,
                                               .pMultisampleState = &multisample,
                                               .pColorBlendState = &blends,
                                               .layout = d->layout};
    VkPipeline pipeline;
    CHECK(vkCreateGraphicsPipelines(d->gpu->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    vkDestroyShaderModule(d->gpu->device, module, NULL);
    return pipeline;
}

static void draw_pass(const struct drawing *d, uint32_t number)
{
    const struct pm_partition_pass *pass = &d->made->passes[number];
    const struct pm_gpu_shader shader = {0};
    const VkDescriptorSet sets[] = {gpu_descriptors(d->gpu, &shader, &d->vertices), d->set};
    const VkDeviceSize zero = 0;
    struct targets targets;
    find_targets(d, pass, &targets);
    VkPipeline pipeline = make_pipeline(d, pass, &targets);
    VkCommandBuffer commands = gpu_begin(d->gpu);
    for (uint32_t i = 0; i < d->made->image_count && number == 0; i++)
        gpu_image_layout(commands, d->images[i].image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    if (number == 0)
        gpu_image_layout(commands, d->result.image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .renderArea = {{0, 0}, {SIDE, SIDE}},
                                       .layerCount = 1,
                                       .colorAttachmentCount = LOCATIONS,
                                       .pColorAttachments = targets.attachments};
    vkCmdBeginRendering(commands, &rendering);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, d->layout, 0, 2, sets, 0,
                            NULL);
    vkCmdBindVertexBuffers(commands, 0, 1, &d->vertices.buffer, &zero);
    vkCmdDraw(commands, sizeof vertices / sizeof *vertices, 1, 0, 0);
    vkCmdEndRendering(commands);
    gpu_barrier(commands);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {SIDE, SIDE, 1}};
    if (number + 1 == d->made->count)
        vkCmdCopyImageToBuffer(commands, d->result.image, VK_IMAGE_LAYOUT_GENERAL, d->texels.buffer,
                               1, &copy);
    gpu_finish(d->gpu, commands);
    vkDestroyPipeline(d->gpu->device, pipeline, NULL);
}

static void draw_passes(struct pm_gpu *gpu, const struct pm_partitioned *made, size_t size,
                        void *out)
{
    struct drawing d = {.gpu = gpu, .made = made};
    assert_int_equal(made->image_set, 1);
    make_images(&d);
    make_descriptors(&d);
    pm_gpu_buffer_create(gpu, sizeof vertices, &d.vertices);
    memcpy(d.vertices.data, vertices, sizeof vertices);
    pm_gpu_buffer_create(gpu, size, &d.texels);
    for (uint32_t i = 0; i < made->count; i++)
        draw_pass(&d, i);
    memcpy(out, d.texels.data, size);
    pm_gpu_buffer_destroy(gpu, &d.texels);
    pm_gpu_buffer_destroy(gpu, &d.vertices);
    vkDestroyPipelineLayout(gpu->device, d.layout, NULL);
    vkDestroyDescriptorPool(gpu->device, d.pool, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, d.set_layout, NULL);
    for (uint32_t i = 0; i < made->image_count; i++)
        gpu_image_destroy(gpu, &d.images[i]);
    gpu_image_destroy(gpu, &d.result);
}

static struct pm_words load(const char *file)
{
    struct pm_error error = {0};
    struct pm_words original, canonical;
    pm_gpu_load(PM_TEST_FRAGMENTS, file, &original.data, &original.count);
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = PM_STAGE_FRAGMENT,
                                              .entry_point = "main",
                                              .target = target};
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s", error.message);
    struct pm_words precise = differential_precise(&canonical);
    pm_words_finish(&canonical);
    pm_words_finish(&original);
    return precise;
}

/* Every output is written by one pass, and what is read was written. */
static void assert_whole(const struct pm_partitioned *made)
{
    uint32_t outputs = 0, written = 0;
    for (uint32_t i = 0; i < made->count; i++) {
        const struct pm_partition_pass *pass = &made->passes[i];
        assert_int_equal(outputs & pass->outputs, 0);
        outputs |= pass->outputs;
        for (uint32_t r = 0; r < pass->read_count; r++)
            assert_true(written >> pass->reads[r] & 1);
        for (uint32_t t = 0; t < pass->target_count; t++)
            written |= UINT32_C(1) << pass->targets[t].image;
    }
    assert_int_equal(outputs, 1);
}

static void check(struct pm_gpu *gpu, const char *file, uint32_t alu, uint32_t outputs)
{
    struct pm_error error = {0};
    struct pm_partitioned made;
    const struct pm_pass_limits limits = {alu, 16, 200, 32, 64, 16, outputs, true};
    struct pm_words words = load(file);
    const struct pm_gpu_draw draw = {.fragment = {.words = words.data, .count = words.count},
                                     .vertices = vertices,
                                     .vertex_count = sizeof vertices / sizeof *vertices,
                                     .width = SIDE,
                                     .height = SIDE};
    size_t size;
    void *expected = pm_gpu_draw(gpu, &draw, &size), *drawn = malloc(size);
    assert_non_null(drawn);
    for (int method = 0; method < PM_PARTITION_METHODS; method++) {
        const struct pm_partition_info info = {
            .limits = &limits, .method = (enum pm_partition_method)method, .target = target};
        if (!pm_partition(words.data, words.count, &info, &made, &error)) {
            if (error.code != PM_ERROR_UNSUPPORTED)
                fail_msg("%s of %u: %s", file, alu, error.message);
            seen.refused++;
            continue;
        }
        assert_true(made.fragment);
        assert_whole(&made);
        draw_passes(gpu, &made, size, drawn);
        if (memcmp(expected, drawn, size) != 0)
            fail_msg("%s, %u operations, %u outputs, method %d: another picture in %u passes", file,
                     alu, outputs, method, made.count);
        seen.partitions++;
        seen.passes += made.count;
        seen.images += made.image_count;
        pm_partitioned_finish(&made);
    }
    free(drawn);
    free(expected);
    pm_words_finish(&words);
}

static void passes_draw_what_the_whole_does(void **state)
{
    (void)state;
    static const char *const files[] = {"lit.frag", "quads.frag"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const uint32_t partitions = seen.partitions, passes = seen.passes;
        check(&pm_test_gpu, files[i], 12, 2);
        check(&pm_test_gpu, files[i], 26, 4);
        if (seen.passes - passes <= seen.partitions - partitions)
            fail_msg("%s was never cut", files[i]);
    }
    printf("%u partitions of %u passes and %u images, %u refused\n", seen.partitions, seen.passes,
           seen.images, seen.refused);
}

static void what_discards_stays_whole(void **state)
{
    (void)state;
    static const char *const files[] = {"discards.frag", "only_discards.frag"};
    const struct pm_pass_limits limits = {4, 16, 200, 32, 64, 16, 4, true};
    const struct pm_partition_info info = {.limits = &limits, .target = target};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct pm_error error = {0};
        struct pm_partitioned made;
        struct pm_words words = load(files[i]);
        assert_false(pm_partition(words.data, words.count, &info, &made, &error));
        assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.message, "discards"));
        pm_words_finish(&words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_draw_what_the_whole_does),
                                       cmocka_unit_test(what_discards_stays_whole)};
    return cmocka_run_group_tests(tests, pm_gpu_set_up, pm_gpu_tear_down);
}
