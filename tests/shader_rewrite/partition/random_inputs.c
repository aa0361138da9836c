#include "tests/shader_rewrite/partition/random_inputs.h"

#include "base/random.h"
#include "shader_rewrite/constants/constant_layout.h"

#include <string.h>

enum {
    UNIFORM_BYTES = 16 << 10,
    STORAGE_BYTES = 4 << 20,
    TEXTURE_SIDE = 64,
    TEXTURE_LAYERS = 8,
    TEXTURE_LEVELS = 7,
};

/* ---- contents ---- */

struct filling {
    struct pm_random random;
    float most;
    uint8_t *bytes;
    size_t size;
};

static void fill_word(struct filling *f, size_t at, bool real)
{
    const float number = (float)pm_random_unit(&f->random) * f->most;
    const uint32_t count = pm_random_below(&f->random, 8);
    if (at + 4 <= f->size)
        memcpy(f->bytes + at, real ? (const void *)&number : &count, 4);
}

/* How many parts a type has; UINT32_MAX: as many as there is room for. */
static uint32_t part_count(const struct pm_ir_instr *type)
{
    switch (type->opcode) {
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        return pm_ir_operand_word(&type->operands[1]);
    case SpvOpTypeArray:
        return pm_ir_operand_word(&pm_ir_operand_instr(type, 1)->operands[0]);
    case SpvOpTypeStruct:
        return type->operand_count;
    case SpvOpTypeRuntimeArray:
        return UINT32_MAX;
    default:
        fail_msg("a block has a type of opcode %u", type->opcode);
        return 0;
    }
}

/* A part of a type that has parts. */
static struct pm_constant_place part_of(const struct pm_constant_place *place, uint32_t index)
{
    struct pm_constant_place part = *place;
    uint32_t stride;
    if (place->type->opcode != SpvOpTypeRuntimeArray) {
        assert_true(pm_constant_place_step(&part, index));
        return part;
    }
    assert_true(pm_constant_decoration(place->type->result, SpvDecorationArrayStride, &stride));
    part = pm_constant_place_of(pm_ir_operand_instr(place->type, 0));
    part.offset = place->offset + index * stride;
    return part;
}

static void fill_part(struct filling *f, struct pm_constant_place place)
{
    if (place.type->opcode == SpvOpTypeFloat || place.type->opcode == SpvOpTypeInt) {
        assert_int_equal(pm_ir_operand_word(&place.type->operands[0]), 32);
        fill_word(f, place.offset, place.type->opcode == SpvOpTypeFloat);
        return;
    }
    const uint32_t count = part_count(place.type);
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_constant_place part = part_of(&place, i);
        if (part.offset >= f->size)
            return;
        fill_part(f, part);
    }
}

static void fill_block(struct filling *f, const struct pm_ir_instr *type, void *bytes, size_t size)
{
    f->bytes = bytes;
    f->size = size;
    fill_part(f, pm_constant_place_of(type));
}

static uint8_t random_byte(struct pm_random *random)
{
    static const uint8_t classes[] = {0, 1, 2, 3, 255, 255, 255, 255};
    const uint64_t bits = pm_random_next(random);
    return bits & 1 ? (uint8_t)(bits >> 8) : classes[bits >> 8 & 7];
}

static void fill_texture(struct pm_gpu *gpu, VkImage image, uint32_t layers,
                         struct pm_random *random)
{
    struct pm_gpu_buffer staging;
    VkBufferImageCopy copies[TEXTURE_LEVELS];
    VkDeviceSize size = 0;
    for (uint32_t level = 0; level < TEXTURE_LEVELS; level++) {
        const uint32_t side = TEXTURE_SIDE >> level;
        copies[level] =
            (VkBufferImageCopy){.bufferOffset = size,
                                .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, layers},
                                .imageExtent = {side, side, 1}};
        size += (VkDeviceSize)side * side * 4 * layers;
    }
    pm_gpu_buffer_create(gpu, size, &staging);
    for (VkDeviceSize i = 0; i < size; i++)
        ((uint8_t *)staging.data)[i] = random_byte(random);
    VkCommandBuffer commands = gpu_begin(gpu);
    gpu_image_layout(commands, image, VK_IMAGE_ASPECT_COLOR_BIT, VK_IMAGE_LAYOUT_UNDEFINED,
                     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdCopyBufferToImage(commands, staging.buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                           TEXTURE_LEVELS, copies);
    gpu_image_layout(commands, image, VK_IMAGE_ASPECT_COLOR_BIT,
                     VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                     VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
    gpu_finish(gpu, commands);
    pm_gpu_buffer_destroy(gpu, &staging);
}

static void make_texture(struct pm_gpu *gpu, bool arrayed, struct gpu_image *image)
{
    const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {TEXTURE_SIDE, TEXTURE_SIDE, 1},
                                    .mipLevels = TEXTURE_LEVELS,
                                    .arrayLayers = arrayed ? TEXTURE_LAYERS : 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_SAMPLED_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_DST_BIT};
    CHECK(vkCreateImage(gpu->device, &info, NULL, &image->image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(gpu->device, image->image, &needs);
    image->memory = gpu_allocate(gpu, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0);
    CHECK(vkBindImageMemory(gpu->device, image->image, image->memory, 0));
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->image,
        .viewType = arrayed ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
        .format = format,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, TEXTURE_LEVELS, 0, info.arrayLayers}};
    CHECK(vkCreateImageView(gpu->device, &view, NULL, &image->view));
}

/* ---- what the module tells ---- */

static uint32_t decoration_of(const struct pm_ir_instr *variable, SpvDecoration decoration)
{
    uint32_t word;
    if (!pm_constant_decoration(variable->result, decoration, &word))
        fail_msg("variable %u lacks decoration %d", variable->result->id, decoration);
    return word;
}

static void add_buffer(struct pm_random_inputs *inputs, struct pm_random_input *input,
                       struct filling *filling, const struct pm_ir_instr *type, bool storage)
{
    input->binding.descriptorType =
        storage ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    pm_gpu_buffer_create(inputs->gpu, storage ? STORAGE_BYTES : UNIFORM_BYTES, &input->buffer);
    fill_block(filling, type, input->buffer.data, input->buffer.size);
}

static void add_texture(struct pm_random_inputs *inputs, struct pm_random_input *input,
                        struct filling *filling, const struct pm_ir_instr *type)
{
    const struct pm_ir_instr *image = pm_ir_operand_instr(type, 0);
    assert_int_equal(type->opcode, SpvOpTypeSampledImage);
    assert_int_equal(pm_ir_operand_instr(image, 0)->opcode, SpvOpTypeFloat);
    assert_int_equal(pm_ir_operand_word(&image->operands[1]), SpvDim2D);
    assert_int_not_equal(pm_ir_operand_word(&image->operands[2]), 1); /* compares no depths */
    const bool arrayed = pm_ir_operand_word(&image->operands[3]) != 0;
    input->binding.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    make_texture(inputs->gpu, arrayed, &input->image);
    fill_texture(inputs->gpu, input->image.image, arrayed ? TEXTURE_LAYERS : 1, &filling->random);
}

static void add_input(struct pm_random_inputs *inputs, struct filling *filling,
                      const struct pm_ir_instr *variable, SpvStorageClass storage)
{
    const struct pm_ir_instr *type = pm_ir_operand_instr(pm_ir_type_of(variable), 1);
    assert_true(inputs->count < PM_RANDOM_INPUTS_MOST);
    struct pm_random_input *input = &inputs->inputs[inputs->count++];
    input->set = decoration_of(variable, SpvDecorationDescriptorSet);
    input->binding.binding = decoration_of(variable, SpvDecorationBinding);
    input->binding.descriptorCount = 1;
    input->binding.stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT;
    if (input->set >= inputs->set_count)
        inputs->set_count = input->set + 1;
    assert_true(inputs->set_count <= PM_PASS_DRAWING_SETS);
    if (storage == SpvStorageClassUniformConstant)
        add_texture(inputs, input, filling, type);
    else
        add_buffer(inputs, input, filling, type, storage == SpvStorageClassStorageBuffer);
}

static void look_at(struct pm_random_inputs *inputs, struct filling *filling,
                    const struct pm_ir_instr *variable)
{
    const SpvStorageClass storage = (SpvStorageClass)pm_ir_operand_word(&variable->operands[0]);
    switch (storage) {
    case SpvStorageClassInput:
    case SpvStorageClassPrivate:
        break;
    case SpvStorageClassOutput:
        inputs->outputs |= UINT32_C(1) << decoration_of(variable, SpvDecorationLocation);
        break;
    case SpvStorageClassPushConstant:
        fill_block(filling, pm_ir_operand_instr(pm_ir_type_of(variable), 1), inputs->push,
                   sizeof inputs->push);
        break;
    case SpvStorageClassUniform:
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassUniformConstant:
        add_input(inputs, filling, variable, storage);
        break;
    default:
        fail_msg("variable %u is of storage class %d", variable->result->id, storage);
    }
}

/* ---- descriptors ---- */

static void make_layout(struct pm_random_inputs *inputs, uint32_t set)
{
    VkDescriptorSetLayoutBinding bindings[PM_RANDOM_INPUTS_MOST];
    uint32_t count = 0;
    for (uint32_t i = 0; i < inputs->count; i++)
        if (inputs->inputs[i].set == set)
            bindings[count++] = inputs->inputs[i].binding;
    const VkDescriptorSetLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = bindings};
    CHECK(vkCreateDescriptorSetLayout(inputs->gpu->device, &layout, NULL, &inputs->layouts[set]));
}

static void write_descriptor(const struct pm_random_inputs *inputs,
                             const struct pm_random_input *input)
{
    const VkDescriptorImageInfo image = {inputs->sampler, input->image.view,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkDescriptorBufferInfo buffer = {input->buffer.buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = inputs->sets[input->set],
                                        .dstBinding = input->binding.binding,
                                        .descriptorCount = 1,
                                        .descriptorType = input->binding.descriptorType,
                                        .pImageInfo = &image,
                                        .pBufferInfo = &buffer};
    vkUpdateDescriptorSets(inputs->gpu->device, 1, &write, 0, NULL);
}

static void make_sets(struct pm_random_inputs *inputs)
{
    VkDevice device = inputs->gpu->device;
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, PM_RANDOM_INPUTS_MOST},
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, PM_RANDOM_INPUTS_MOST},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, PM_RANDOM_INPUTS_MOST}};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = PM_PASS_DRAWING_SETS,
                                             .poolSizeCount = 3,
                                             .pPoolSizes = sizes};
    CHECK(vkCreateDescriptorPool(device, &pool, NULL, &inputs->pool));
    for (uint32_t set = 0; set < inputs->set_count; set++) {
        make_layout(inputs, set);
        const VkDescriptorSetAllocateInfo allocate = {
            .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
            .descriptorPool = inputs->pool,
            .descriptorSetCount = 1,
            .pSetLayouts = &inputs->layouts[set]};
        CHECK(vkAllocateDescriptorSets(device, &allocate, &inputs->sets[set]));
    }
    const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                         .magFilter = VK_FILTER_LINEAR,
                                         .minFilter = VK_FILTER_LINEAR,
                                         .mipmapMode = VK_SAMPLER_MIPMAP_MODE_LINEAR,
                                         .maxLod = TEXTURE_LEVELS};
    CHECK(vkCreateSampler(device, &sampler, NULL, &inputs->sampler));
    for (uint32_t i = 0; i < inputs->count; i++)
        write_descriptor(inputs, &inputs->inputs[i]);
}

void pm_random_inputs_create(struct pm_random_inputs *inputs, struct pm_gpu *gpu,
                             const struct pm_words *words, uint64_t seed, float most)
{
    struct pm_error error = {0};
    struct filling filling = {.most = most};
    *inputs = (struct pm_random_inputs){.gpu = gpu};
    pm_random_init(&filling.random, seed);
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    if (!module)
        fail_msg("%s", error.message);
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i; i = i->next)
        if (i->opcode == SpvOpVariable)
            look_at(inputs, &filling, i);
    pm_ir_module_destroy(module);
    make_sets(inputs);
}

void pm_random_inputs_destroy(struct pm_random_inputs *inputs)
{
    VkDevice device = inputs->gpu->device;
    for (uint32_t i = 0; i < inputs->count; i++) {
        if (inputs->inputs[i].image.image)
            gpu_image_destroy(inputs->gpu, &inputs->inputs[i].image);
        else
            pm_gpu_buffer_destroy(inputs->gpu, &inputs->inputs[i].buffer);
    }
    vkDestroySampler(device, inputs->sampler, NULL);
    vkDestroyDescriptorPool(device, inputs->pool, NULL);
    for (uint32_t set = 0; set < inputs->set_count; set++)
        vkDestroyDescriptorSetLayout(device, inputs->layouts[set], NULL);
}
