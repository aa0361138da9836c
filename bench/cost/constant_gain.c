/*
 * constant_gain FOLDER KEY original|folded COUNT WORD=VALUE…: what a fragment shader of a real
 * program costs where words of its uniform buffers or push constants have these values: as the
 * program made it (its canonical module), or for these words being known, with the guard
 * (specialize_constants). WORD is push:BYTE or SET.BINDING:BYTE. FOLDER has what
 * tests/corpus/store_contents.py dumped.
 *
 * Draws COUNT times over all of a picture. What is around the shader is made up: inputs that run
 * from -1 to 3, textures of noise, other words from 0.25 to 1. So a shader may take other ways than
 * in its program; how often it runs there is not asked.
 *
 * Prints milliseconds of processor time a draw, a hash of the picture, and the guarded words.
 * bench/cost/constant_gain.sh makes a table of it, and counts instructions.
 */
#include "bench/cost/dumped.h"
#include "bench/cost/measured.h"
#include "bench/cost/module_layout.h"
#include "shader_rewrite/quirks/quirks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, TEXELS = 32, BUFFER_BYTES = 16384, MOST_KNOWN = 64, VERTICES = 3 };

struct bench {
    struct pm_gpu gpu;
    struct pm_interface interface;
    struct pm_module_layout layout;
    struct pm_gpu_buffer words[PM_INTERFACE_MOST]; /* by binding */
    uint32_t push[PM_MODULE_PUSH_BYTES / 4];
    struct pm_gpu_image texture, targets[PM_GPU_MAX_ATTACHMENTS];
    VkSampler sampler;
    uint32_t target_count;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkDescriptorPool pool;
    VkDescriptorSet sets[PM_INTERFACE_SETS];
    struct pm_gpu_buffer vertices, picture;
    VkPipeline pipeline;
};

struct request {
    struct pm_constant_known known[MOST_KNOWN];
    uint32_t known_count, guarded;
    bool folded;
    unsigned long draws;
};

/* ---- the module ---- */

static bool read_known(struct request *r, const char *text)
{
    struct pm_constant_known *known = &r->known[r->known_count];
    struct pm_constant_point *point = &known->point;
    *known = (struct pm_constant_known){.anywhere = true};
    if (r->known_count == MOST_KNOWN)
        return false;
    if (sscanf(text, "push:%u=%" SCNi32, &point->offset, (int32_t *)&known->value) == 2) {
        point->source = PM_CONSTANT_PUSH;
    } else if (sscanf(text, "%u.%u:%u=%" SCNi32, &point->set, &point->binding, &point->offset,
                      (int32_t *)&known->value) == 4) {
        point->source = PM_CONSTANT_UNIFORM;
    } else {
        return false;
    }
    r->known_count++;
    return true;
}

static bool make_module(struct request *r, const struct pm_dumped *shader, struct pm_words *out,
                        struct pm_error *error)
{
    if (!pm_canonicalize(&shader->info, out, error) || !r->folded)
        return out->count > 0;
    const struct pm_driver lavapipe = {.id = VK_DRIVER_ID_MESA_LLVMPIPE};
    const struct pm_specialize_constants_info info = {.known = r->known,
                                                      .known_count = r->known_count,
                                                      .target = pm_dumped_target,
                                                      .driver = &lavapipe,
                                                      .take_all = true};
    struct pm_specialized_constants made;
    const bool ok = pm_specialize_constants(out->data, out->count, &info, &made, error) &&
                    (made.words.count || pm_fail(error, PM_ERROR_INPUT, "nothing is folded"));
    pm_words_finish(out);
    if (!ok)
        return false;
    *out = made.words;
    made.words = (struct pm_words){0};
    r->guarded = made.guarded;
    pm_specialized_constants_finish(&made);
    return true;
}

/* ---- what is around it ---- */

static float noise(uint32_t i)
{
    return (float)(i * 2654435761u >> 8) / (float)(1 << 24);
}

static bool make_buffers(struct bench *b, const struct request *r, struct pm_error *error)
{
    static const float places[VERTICES][4] = {
        {-1, -1, 0.5f, 1}, {3, -1, 0.5f, 1}, {-1, 3, 0.5f, 1}};
    for (size_t i = 0; i < b->interface.binding_count; i++) {
        const struct pm_interface_binding *binding = &b->interface.bindings[i];
        if (binding->type != VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER)
            continue;
        if (!pm_gpu_buffer_init(&b->words[i], &b->gpu, BUFFER_BYTES,
                                VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error))
            return false;
        uint32_t *words = b->words[i].mapped;
        for (uint32_t w = 0; w < BUFFER_BYTES / 4; w++)
            ((float *)words)[w] = 0.25f + 0.75f * noise(w);
        for (uint32_t k = 0; k < r->known_count; k++)
            if (r->known[k].point.source == PM_CONSTANT_UNIFORM &&
                r->known[k].point.set == binding->set &&
                r->known[k].point.binding == binding->binding &&
                r->known[k].point.offset / 4 < BUFFER_BYTES / 4)
                words[r->known[k].point.offset / 4] = r->known[k].value;
    }
    for (uint32_t k = 0; k < r->known_count; k++)
        if (r->known[k].point.source == PM_CONSTANT_PUSH &&
            r->known[k].point.offset < PM_MODULE_PUSH_BYTES)
            b->push[r->known[k].point.offset / 4] = r->known[k].value;
    if (!pm_gpu_buffer_init(&b->picture, &b->gpu, SIDE * SIDE * 16,
                            VK_BUFFER_USAGE_TRANSFER_DST_BIT, PM_GPU_READBACK, error) ||
        !pm_gpu_buffer_init(&b->vertices, &b->gpu, sizeof(places),
                            VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, PM_GPU_UPLOAD, error))
        return false;
    memcpy(b->vertices.mapped, places, sizeof(places));
    return true;
}

static bool make_images(struct bench *b, struct pm_error *error)
{
    uint32_t texels[TEXELS * TEXELS];
    struct pm_gpu_attachment attachments[PM_GPU_MAX_ATTACHMENTS];
    for (uint32_t i = 0; i < TEXELS * TEXELS; i++)
        texels[i] = i * 2654435761u;
    const struct pm_gpu_image_info texture = {
        .format = VK_FORMAT_R8G8B8A8_UNORM, .width = TEXELS, .height = TEXELS};
    if (!pm_gpu_texture_init(&b->texture, &b->gpu, &texture, texels, 4, error) ||
        !pm_gpu_sampler_create(&b->gpu, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_REPEAT,
                               &b->sampler, error))
        return false;
    for (size_t i = 0; i < b->interface.output_count; i++) {
        const struct pm_interface_variable *output = &b->interface.outputs[i];
        if (output->scalar != PM_SCALAR_FLOAT || output->location != i ||
            i >= PM_GPU_MAX_ATTACHMENTS)
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "outputs that are not made up");
        const struct pm_gpu_image_info target = {.format = VK_FORMAT_R32G32B32A32_SFLOAT,
                                                 .width = SIDE,
                                                 .height = SIDE,
                                                 .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                          VK_IMAGE_USAGE_SAMPLED_BIT |
                                                          VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
        if (!pm_gpu_image_init(&b->targets[i], &b->gpu, &target, error))
            return false;
        attachments[i] = (struct pm_gpu_attachment){&b->targets[i], VK_ATTACHMENT_LOAD_OP_CLEAR};
        b->target_count++;
    }
    return (b->target_count || pm_fail(error, PM_ERROR_UNSUPPORTED, "no outputs")) &&
           pm_gpu_pass_create(&b->gpu, attachments, b->target_count, &b->pass, &b->framebuffer,
                              error);
}

static bool make_sets(struct bench *b, struct pm_error *error)
{
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, PM_INTERFACE_MOST},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, PM_INTERFACE_MOST}};
    if (!pm_gpu_pool_create(&b->gpu, sizes, 2, PM_INTERFACE_SETS, &b->pool, error))
        return false;
    for (uint32_t s = 0; s < b->layout.set_count; s++)
        if (!pm_gpu_set_allocate(&b->gpu, b->pool, b->layout.sets[s], &b->sets[s], error))
            return false;
    for (size_t i = 0; i < b->interface.binding_count; i++) {
        const struct pm_interface_binding *binding = &b->interface.bindings[i];
        const bool image = binding->type == VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
        if (binding->count != 1 || (image && !binding->flat_image) ||
            (!image && binding->type != VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER))
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "set %u, binding %u is not made up",
                           binding->set, binding->binding);
        if (image)
            pm_gpu_set_image(&b->gpu, b->sets[binding->set], binding->binding, &b->texture,
                             b->sampler);
        else
            pm_gpu_set_buffer(&b->gpu, b->sets[binding->set], binding->binding, binding->type,
                              &b->words[i]);
    }
    return true;
}

static bool make_pipeline(struct bench *b, const struct pm_words *fragment, struct pm_error *error)
{
    VkVertexInputAttributeDescription attributes[PM_INTERFACE_MOST + 1];
    const uint32_t count = (uint32_t)b->interface.input_count;
    struct pm_words vertex;
    /* Each input is the vertex's place, or the first numbers of it. */
    for (uint32_t i = 0; i <= count; i++) {
        const struct pm_interface_variable *input = &b->interface.inputs[i];
        attributes[i] = (VkVertexInputAttributeDescription){
            .location = i,
            .format = i < count ? pm_module_format(input->scalar, input->components)
                                : VK_FORMAT_R32G32B32A32_SFLOAT};
    }
    const VkVertexInputBindingDescription binding = {0, 4 * sizeof(float),
                                                     VK_VERTEX_INPUT_RATE_VERTEX};
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = count + 1,
        .pVertexAttributeDescriptions = attributes};
    if (count == PM_INTERFACE_MOST || !pm_interface_vertex(&b->interface, true, &vertex, error))
        return false;
    const struct pm_gpu_graphics_info info = {
        .vertex = {vertex.data, vertex.count * sizeof(uint32_t)},
        .fragment = {fragment->data, fragment->count * sizeof(uint32_t)},
        .layout = b->layout.pipeline,
        .pass = b->pass,
        .input = &input,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .targets = b->target_count};
    const bool made = pm_gpu_graphics_create(&b->gpu, &info, &b->pipeline, error);
    pm_words_finish(&vertex);
    return made;
}

static void tear_down(struct bench *b)
{
    if (b->gpu.device) {
        vkDestroyPipeline(b->gpu.device, b->pipeline, NULL);
        vkDestroyDescriptorPool(b->gpu.device, b->pool, NULL);
        pm_module_layout_finish(&b->layout, &b->gpu);
        vkDestroyFramebuffer(b->gpu.device, b->framebuffer, NULL);
        vkDestroyRenderPass(b->gpu.device, b->pass, NULL);
        vkDestroySampler(b->gpu.device, b->sampler, NULL);
        for (uint32_t i = 0; i < PM_GPU_MAX_ATTACHMENTS; i++)
            pm_gpu_image_finish(&b->targets[i], &b->gpu);
        pm_gpu_image_finish(&b->texture, &b->gpu);
        for (size_t i = 0; i < PM_INTERFACE_MOST; i++)
            pm_gpu_buffer_finish(&b->words[i], &b->gpu);
        pm_gpu_buffer_finish(&b->vertices, &b->gpu);
        pm_gpu_buffer_finish(&b->picture, &b->gpu);
    }
    pm_gpu_finish(&b->gpu);
}

/* ---- draws ---- */

static void record_picture(const struct bench *b, VkCommandBuffer commands)
{
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {SIDE, SIDE, 1}};
    pm_gpu_image_barrier(commands, &b->targets[0], VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
                         VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                         VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_ACCESS_TRANSFER_READ_BIT);
    vkCmdCopyImageToBuffer(commands, b->targets[0].handle, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           b->picture.handle, 1, &copy);
    pm_gpu_memory_barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                          VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
}

static bool draw(const struct bench *b, unsigned long count, struct pm_error *error)
{
    const VkDeviceSize zero = 0;
    VkCommandBuffer commands;
    if (!pm_gpu_once_begin(&b->gpu, &commands, error))
        return false;
    pm_gpu_pass_begin(commands, b->pass, b->framebuffer, SIDE, SIDE, b->target_count);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, b->pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, b->layout.pipeline, 0,
                            b->layout.set_count, b->sets, 0, NULL);
    vkCmdPushConstants(commands, b->layout.pipeline, VK_SHADER_STAGE_ALL, 0, sizeof(b->push),
                       b->push);
    vkCmdBindVertexBuffers(commands, 0, 1, &b->vertices.handle, &zero);
    for (unsigned long i = 0; i < count; i++)
        vkCmdDraw(commands, VERTICES, 1, 0, 0);
    vkCmdEndRenderPass(commands);
    record_picture(b, commands);
    return pm_gpu_once_submit(&b->gpu, commands, error);
}

static bool run(struct bench *b, struct request *r, const struct pm_dumped *shader,
                struct pm_error *error)
{
    const struct pm_gpu_info info = {.application = "constant_gain"};
    struct pm_words words = {0};
    if (shader->info.stage != PM_STAGE_FRAGMENT)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "it is no fragment shader");
    bool ok = make_module(r, shader, &words, error) &&
              pm_interface_read(words.data, words.count, &b->interface, error) &&
              pm_gpu_init(&b->gpu, &info, error) &&
              pm_module_layout_init(&b->layout, &b->gpu, &b->interface, error) &&
              make_buffers(b, r, error) && make_images(b, error) && make_sets(b, error) &&
              make_pipeline(b, &words, error) && draw(b, 1, error); /* drivers compile now */
    pm_words_finish(&words);
    const double start = ok ? pm_processor_ms() : 0;
    ok = ok && draw(b, r->draws, error);
    if (ok)
        printf("%.6f %016" PRIx64 " %u\n", (pm_processor_ms() - start) / (double)r->draws,
               pm_bytes_hash(b->picture.mapped, b->picture.size), r->guarded);
    return ok;
}

int main(int argc, char **argv)
{
    struct pm_error error = {0};
    struct request r = {0};
    struct bench *b = calloc(1, sizeof(*b));
    struct pm_dumped shader;
    bool good = b && argc > 5;
    for (int i = 5; i < argc; i++)
        good = good && read_known(&r, argv[i]);
    r.folded = good && strcmp(argv[3], "folded") == 0;
    r.draws = good ? strtoul(argv[4], NULL, 10) : 0;
    if (!r.draws) {
        fprintf(stderr, "usage: constant_gain FOLDER KEY original|folded COUNT WORD=VALUE…\n");
        free(b);
        return 2;
    }
    bool ok = pm_dumped_read(argv[1], argv[2], &shader, &error);
    if (ok) {
        ok = run(b, &r, &shader, &error);
        pm_dumped_finish(&shader);
    }
    tear_down(b);
    free(b);
    if (!ok)
        fprintf(stderr, "constant_gain: %s: %s\n", argv[2], error.message);
    return ok ? 0 : 1;
}
