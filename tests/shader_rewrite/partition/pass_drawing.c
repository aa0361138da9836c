#include "tests/shader_rewrite/partition/pass_drawing.h"

#include "tests/gpu/gpu_private.h"
#include "tests/shader_rewrite/differential/differential.h"

#include <string.h>

enum {
    SIDE = PM_PASS_DRAWING_SIDE,
    LOCATIONS = PM_PASS_DRAWING_LOCATIONS,
    MOST_IMAGES = 64,
    TEXEL_BYTES = 16,
};

static const VkFormat result_format = VK_FORMAT_R32G32B32A32_SFLOAT;
static const VkFormat image_format = VK_FORMAT_R32G32B32A32_UINT;

const struct pm_gpu_vertex pm_pass_drawing_vertices[PM_PASS_DRAWING_VERTICES] = {
    {{-0.9f, -0.8f, 0, 1}, {0.1f, 0.9f, 0.3f, 0.5f}}, {{0.7f, -0.9f, 0, 1}, {0.8f, 0.2f, 0.6f, 1}},
    {{-0.6f, 0.9f, 0, 1}, {0.4f, 0.3f, 0.9f, 0.2f}},  {{0.8f, -0.7f, 0, 1}, {0.9f, 0.1f, 0.2f, 0}},
    {{0.9f, 0.9f, 0, 1}, {0.2f, 0.7f, 0.5f, 0.7f}},   {{-0.4f, 0.95f, 0, 1}, {0.6f, 0.6f, 0, 1}},
};

struct pm_words pm_pass_drawing_load(const char *folder, const char *name)
{
    struct pm_error error = {0};
    struct pm_words original, canonical;
    pm_gpu_load(folder, name, &original.data, &original.count);
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = PM_STAGE_FRAGMENT,
                                              .entry_point = "main",
                                              .target = {.vulkan_minor = 3}};
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s: %s", name, error.message);
    struct pm_words precise = differential_precise(&canonical);
    pm_words_finish(&canonical);
    pm_words_finish(&original);
    return precise;
}

/* What a drawing in passes needs beside the shader's own. */
struct drawn {
    const struct pm_pass_drawing *drawing;
    struct pm_gpu *gpu;
    const struct pm_partitioned *made;
    struct gpu_image results[LOCATIONS], images[MOST_IMAGES];
    VkDescriptorSetLayout set_layout;
    VkDescriptorPool pool;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    struct pm_gpu_buffer vertices, texels;
};

static bool is_output(const struct pm_pass_drawing *drawing, uint32_t location)
{
    return (drawing->outputs >> location & 1) != 0;
}

size_t pm_pass_drawing_size(const struct pm_pass_drawing *drawing)
{
    size_t outputs = 0;
    for (uint32_t i = 0; i < LOCATIONS; i++)
        outputs += is_output(drawing, i);
    return outputs * SIDE * SIDE * TEXEL_BYTES;
}

static void make_images(struct drawn *d)
{
    assert_true(d->made->image_count <= MOST_IMAGES);
    for (uint32_t i = 0; i < LOCATIONS; i++)
        if (is_output(d->drawing, i))
            gpu_image_create(d->gpu, result_format, SIDE, SIDE, 1, 1,
                             VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                             VK_IMAGE_ASPECT_COLOR_BIT, &d->results[i]);
    for (uint32_t i = 0; i < d->made->image_count; i++)
        gpu_image_create(d->gpu, image_format, SIDE, SIDE, 1, 1,
                         VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
                         VK_IMAGE_ASPECT_COLOR_BIT, &d->images[i]);
}

static void make_set(struct drawn *d)
{
    VkDevice device = d->gpu->device;
    VkDescriptorSetLayoutBinding bindings[MOST_IMAGES];
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
        const VkDescriptorImageInfo image = {NULL, d->images[i].view, VK_IMAGE_LAYOUT_GENERAL};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = d->set,
                                            .dstBinding = i,
                                            .descriptorCount = 1,
                                            .descriptorType = VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE,
                                            .pImageInfo = &image};
        vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    }
}

/* The images' set behind those that the shader has. */
static void make_layout(struct drawn *d)
{
    const struct pm_pass_drawing *drawing = d->drawing;
    VkDescriptorSetLayout sets[PM_PASS_DRAWING_SETS + 1];
    for (uint32_t i = 0; i < drawing->set_count; i++)
        sets[i] = drawing->set_layouts[i];
    sets[drawing->set_count] = d->set_layout;
    const VkPushConstantRange push = {VK_SHADER_STAGE_FRAGMENT_BIT, 0, PM_GPU_PUSH_BYTES};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = drawing->set_count + 1,
                                             .pSetLayouts = sets,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &push};
    CHECK(vkCreatePipelineLayout(d->gpu->device, &info, NULL, &d->layout));
}

/* What a pass writes, by location. */
struct targets {
    VkRenderingAttachmentInfo attachments[LOCATIONS];
    VkFormat formats[LOCATIONS];
};

static void find_targets(const struct drawn *d, const struct pm_partition_pass *pass,
                         struct targets *out)
{
    *out = (struct targets){0};
    for (uint32_t i = 0; i < LOCATIONS; i++) {
        out->attachments[i] =
            (VkRenderingAttachmentInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
        if (pass->outputs >> i & 1) {
            out->attachments[i].imageView = d->results[i].view;
            out->formats[i] = result_format;
        }
    }
    for (uint32_t i = 0; i < pass->target_count; i++) {
        const struct pm_partition_target *target = &pass->targets[i];
        assert_true(target->location < LOCATIONS);
        out->attachments[target->location].imageView = d->images[target->image].view;
        out->formats[target->location] = image_format;
    }
}

static VkPipeline make_pipeline(const struct drawn *d, const struct pm_partition_pass *pass,
                                const struct targets *targets)
{
    VkShaderModule module = gpu_module(d->gpu, pass->words.data, pass->words.count);
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = d->drawing->vertex,
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

static void bind(const struct drawn *d, VkCommandBuffer commands, VkPipeline pipeline)
{
    const struct pm_pass_drawing *drawing = d->drawing;
    VkDescriptorSet sets[PM_PASS_DRAWING_SETS + 1];
    for (uint32_t i = 0; i < drawing->set_count; i++)
        sets[i] = drawing->sets[i];
    sets[drawing->set_count] = d->set;
    const VkDeviceSize zero = 0;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, d->layout, 0,
                            drawing->set_count + 1, sets, 0, NULL);
    if (drawing->push)
        vkCmdPushConstants(commands, d->layout, VK_SHADER_STAGE_FRAGMENT_BIT, 0, PM_GPU_PUSH_BYTES,
                           drawing->push);
    vkCmdBindVertexBuffers(commands, 0, 1, &d->vertices.buffer, &zero);
}

static void draw_pass(const struct drawn *d, uint32_t number)
{
    const struct pm_partition_pass *pass = &d->made->passes[number];
    struct targets targets;
    find_targets(d, pass, &targets);
    VkPipeline pipeline = make_pipeline(d, pass, &targets);
    VkCommandBuffer commands = gpu_begin(d->gpu);
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .renderArea = {{0, 0}, {SIDE, SIDE}},
                                       .layerCount = 1,
                                       .colorAttachmentCount = LOCATIONS,
                                       .pColorAttachments = targets.attachments};
    vkCmdBeginRendering(commands, &rendering);
    bind(d, commands, pipeline);
    vkCmdDraw(commands, PM_PASS_DRAWING_VERTICES, 1, 0, 0);
    vkCmdEndRendering(commands);
    gpu_barrier(commands);
    gpu_finish(d->gpu, commands);
    vkDestroyPipeline(d->gpu->device, pipeline, NULL);
}

static void begin_images(const struct drawn *d)
{
    VkCommandBuffer commands = gpu_begin(d->gpu);
    for (uint32_t i = 0; i < LOCATIONS; i++)
        if (is_output(d->drawing, i))
            gpu_image_layout(commands, d->results[i].image, VK_IMAGE_ASPECT_COLOR_BIT,
                             VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    for (uint32_t i = 0; i < d->made->image_count; i++)
        gpu_image_layout(commands, d->images[i].image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    gpu_finish(d->gpu, commands);
}

static void read_back(const struct drawn *d, void *picture)
{
    VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                              .imageExtent = {SIDE, SIDE, 1}};
    VkCommandBuffer commands = gpu_begin(d->gpu);
    for (uint32_t i = 0; i < LOCATIONS; i++) {
        if (!is_output(d->drawing, i))
            continue;
        vkCmdCopyImageToBuffer(commands, d->results[i].image, VK_IMAGE_LAYOUT_GENERAL,
                               d->texels.buffer, 1, &copy);
        copy.bufferOffset += (VkDeviceSize)SIDE * SIDE * TEXEL_BYTES;
    }
    gpu_finish(d->gpu, commands);
    memcpy(picture, d->texels.data, d->texels.size);
}

static void finish(struct drawn *d)
{
    VkDevice device = d->gpu->device;
    pm_gpu_buffer_destroy(d->gpu, &d->texels);
    pm_gpu_buffer_destroy(d->gpu, &d->vertices);
    vkDestroyPipelineLayout(device, d->layout, NULL);
    vkDestroyDescriptorPool(device, d->pool, NULL);
    vkDestroyDescriptorSetLayout(device, d->set_layout, NULL);
    for (uint32_t i = 0; i < d->made->image_count; i++)
        gpu_image_destroy(d->gpu, &d->images[i]);
    for (uint32_t i = 0; i < LOCATIONS; i++)
        if (is_output(d->drawing, i))
            gpu_image_destroy(d->gpu, &d->results[i]);
}

void pm_pass_drawing_draw(const struct pm_pass_drawing *drawing,
                          const struct pm_partitioned *partitioned, void *picture)
{
    struct drawn d = {.drawing = drawing, .gpu = drawing->gpu, .made = partitioned};
    assert_int_equal(partitioned->image_set, drawing->set_count);
    make_images(&d);
    make_set(&d);
    make_layout(&d);
    pm_gpu_buffer_create(d.gpu, sizeof pm_pass_drawing_vertices, &d.vertices);
    memcpy(d.vertices.data, pm_pass_drawing_vertices, sizeof pm_pass_drawing_vertices);
    pm_gpu_buffer_create(d.gpu, pm_pass_drawing_size(drawing), &d.texels);
    begin_images(&d);
    for (uint32_t i = 0; i < partitioned->count; i++)
        draw_pass(&d, i);
    read_back(&d, picture);
    finish(&d);
}

void pm_pass_drawing_draw_whole(const struct pm_pass_drawing *drawing, const struct pm_words *words,
                                void *picture)
{
    struct pm_partition_pass pass = {.words = *words, .outputs = drawing->outputs};
    const struct pm_partitioned one = {
        .passes = &pass, .count = 1, .fragment = true, .image_set = drawing->set_count};
    pm_pass_drawing_draw(drawing, &one, picture);
}

void pm_pass_drawing_assert_whole(const struct pm_partitioned *partitioned, uint32_t outputs)
{
    uint32_t own = 0;
    bool written[MOST_IMAGES] = {false};
    assert_true(partitioned->image_count <= MOST_IMAGES);
    for (uint32_t i = 0; i < partitioned->count; i++) {
        const struct pm_partition_pass *pass = &partitioned->passes[i];
        assert_int_equal(own & pass->outputs, 0);
        own |= pass->outputs;
        for (uint32_t r = 0; r < pass->read_count; r++)
            assert_true(written[pass->reads[r]]);
        for (uint32_t t = 0; t < pass->target_count; t++)
            written[pass->targets[t].image] = true;
    }
    assert_int_equal(own, outputs);
}
