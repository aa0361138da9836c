#include "examples/deferred/renderer.h"
#include "examples/deferred/texture.h"
#include <stdlib.h>

static bool create_sampler(struct pm_renderer *r, VkFilter filter, VkSamplerAddressMode mode,
                           VkSampler *sampler, struct pm_error *error)
{
    const VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = filter,
        .minFilter = filter,
        .mipmapMode = filter == VK_FILTER_LINEAR ? VK_SAMPLER_MIPMAP_MODE_LINEAR
                                                 : VK_SAMPLER_MIPMAP_MODE_NEAREST,
        .addressModeU = mode,
        .addressModeV = mode,
        .addressModeW = mode,
        .maxLod = VK_LOD_CLAMP_NONE,
    };
    return pm_gpu_check(vkCreateSampler(r->gpu->device, &info, NULL, sampler), "vkCreateSampler",
                        error);
}

/* Takes texels and frees them. */
static bool create_texture(struct pm_renderer *r, struct pm_gpu_image *image, uint8_t *texels,
                           VkFormat format, uint32_t side, uint32_t layers, uint32_t levels,
                           uint32_t texel_bytes, struct pm_error *error)
{
    if (!texels)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a texture");
    const struct pm_gpu_image_info info = {
        .format = format,
        .width = side,
        .height = side,
        .layers = layers,
        .levels = levels,
        .is_array = true,
        .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    };
    const bool done = pm_gpu_image_init(image, r->gpu, &info, error) &&
                      pm_gpu_image_upload(image, r->gpu, texels, texel_bytes, error);
    free(texels);
    return done;
}

static bool upload_scene(struct pm_renderer *r, struct pm_error *error)
{
    const struct pm_meshes *meshes = &r->scene->meshes;
    return pm_gpu_buffer_upload(&r->vertices, r->gpu, meshes->vertices,
                                meshes->vertex_count * sizeof *meshes->vertices,
                                VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, error) &&
           pm_gpu_buffer_upload(&r->indices, r->gpu, meshes->indices,
                                meshes->index_count * sizeof *meshes->indices,
                                VK_BUFFER_USAGE_INDEX_BUFFER_BIT, error) &&
           create_texture(r, &r->albedo_maps, pm_texture_albedo(), VK_FORMAT_R8G8B8A8_UNORM,
                          PM_TEXTURE_SIDE, PM_ALBEDO_LAYERS, PM_TEXTURE_LEVELS, 4, error) &&
           create_texture(r, &r->surface_maps, pm_texture_surface(), VK_FORMAT_R8G8B8A8_UNORM,
                          PM_TEXTURE_SIDE, PM_SURFACE_LAYERS, PM_TEXTURE_LEVELS, 4, error) &&
           create_texture(r, &r->masks, pm_texture_masks(), VK_FORMAT_R8_UNORM, PM_MASK_SIDE,
                          PM_MASK_LAYERS, 1, 1, error);
}

static bool create_frame(struct pm_renderer *r, struct pm_frame *frame, struct pm_error *error)
{
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = r->gpu->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return pm_gpu_buffer_init(&frame->constants, r->gpu, sizeof(struct pm_frame_constants),
                              VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error) &&
           pm_gpu_buffer_init(&frame->lights, r->gpu,
                              PM_MAX_LIGHTS * sizeof(struct pm_light_constants),
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, PM_GPU_UPLOAD, error) &&
           pm_gpu_buffer_init(&frame->tiles, r->gpu, (VkDeviceSize)PM_TILES * PM_TILE_WORDS * 4,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, PM_GPU_UPLOAD, error) &&
           pm_gpu_buffer_init(&frame->histogram, r->gpu, 64 * 4,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              PM_GPU_DEVICE, error) &&
           pm_gpu_buffer_init(&frame->picture, r->gpu, (VkDeviceSize)r->width * r->height * 4,
                              VK_BUFFER_USAGE_TRANSFER_DST_BIT, PM_GPU_READBACK, error) &&
           pm_gpu_check(vkAllocateCommandBuffers(r->gpu->device, &commands, &frame->commands),
                        "vkAllocateCommandBuffers", error) &&
           pm_gpu_check(vkCreateFence(r->gpu->device, &fence, NULL, &frame->fence), "vkCreateFence",
                        error);
}

bool pm_renderer_init(struct pm_renderer *r, const struct pm_gpu *gpu, const struct pm_scene *scene,
                      uint32_t width, uint32_t height, bool record_once, struct pm_error *error)
{
    r->gpu = gpu;
    r->scene = scene;
    r->width = width;
    r->height = height;
    r->record_once = record_once;
    if (!create_sampler(r, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_REPEAT, &r->repeat, error) ||
        !create_sampler(r, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, &r->clamp,
                        error) ||
        !create_sampler(r, VK_FILTER_NEAREST, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, &r->nearest,
                        error) ||
        !upload_scene(r, error) || !pm_renderer_create_targets(r, error) ||
        !pm_renderer_create_pipelines(r, error))
        return false;
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++)
        if (!create_frame(r, &r->frames[i], error))
            return false;
    return pm_renderer_create_sets(r, error);
}

static void finish_frame(struct pm_renderer *r, struct pm_frame *frame)
{
    pm_gpu_buffer_finish(&frame->constants, r->gpu);
    pm_gpu_buffer_finish(&frame->lights, r->gpu);
    pm_gpu_buffer_finish(&frame->tiles, r->gpu);
    pm_gpu_buffer_finish(&frame->histogram, r->gpu);
    pm_gpu_buffer_finish(&frame->picture, r->gpu);
    vkDestroyFence(r->gpu->device, frame->fence, NULL);
}

static void finish_pipelines(struct pm_renderer *r, VkDevice device)
{
    for (int i = 0; i < PM_MATERIAL_COUNT; i++)
        vkDestroyPipeline(device, r->materials[i], NULL);
    const VkPipeline pipelines[] = {r->shadow_solid, r->shadow_leaf, r->light,  r->lights,
                                    r->bright,       r->blur,        r->tonemap};
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++)
        vkDestroyPipeline(device, pipelines[i], NULL);
    vkDestroyPipelineLayout(device, r->geometry_pipeline_layout, NULL);
    vkDestroyPipelineLayout(device, r->light_pipeline_layout, NULL);
    vkDestroyPipelineLayout(device, r->post_pipeline_layout, NULL);
    vkDestroyDescriptorPool(device, r->pool, NULL);
    vkDestroyDescriptorSetLayout(device, r->frame_layout, NULL);
    vkDestroyDescriptorSetLayout(device, r->light_layout, NULL);
    vkDestroyDescriptorSetLayout(device, r->post_layout, NULL);
}

void pm_renderer_finish(struct pm_renderer *r)
{
    if (!r->gpu || !r->gpu->device)
        return;
    const VkDevice device = r->gpu->device;
    vkDeviceWaitIdle(device);
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++)
        finish_frame(r, &r->frames[i]);
    finish_pipelines(r, device);
    vkDestroyFramebuffer(device, r->shadow_target, NULL);
    vkDestroyFramebuffer(device, r->geometry_target, NULL);
    vkDestroyFramebuffer(device, r->light_target, NULL);
    vkDestroyRenderPass(device, r->shadow_pass, NULL);
    vkDestroyRenderPass(device, r->geometry_pass, NULL);
    vkDestroyRenderPass(device, r->light_pass, NULL);
    vkDestroySampler(device, r->repeat, NULL);
    vkDestroySampler(device, r->clamp, NULL);
    vkDestroySampler(device, r->nearest, NULL);
    struct pm_gpu_image *images[] = {&r->albedo_maps, &r->surface_maps, &r->masks,   &r->albedo,
                                     &r->normal,      &r->material,     &r->depth,   &r->shadow,
                                     &r->hdr,         &r->bloom_a,      &r->bloom_b, &r->picture};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        pm_gpu_image_finish(images[i], r->gpu);
    pm_gpu_buffer_finish(&r->vertices, r->gpu);
    pm_gpu_buffer_finish(&r->indices, r->gpu);
    *r = (struct pm_renderer){0};
}

bool pm_renderer_wait(struct pm_renderer *r, struct pm_frame *frame, struct pm_error *error)
{
    if (!frame->submitted)
        return true;
    if (!pm_gpu_check(vkWaitForFences(r->gpu->device, 1, &frame->fence, VK_TRUE, UINT64_MAX),
                      "vkWaitForFences", error))
        return false;
    frame->submitted = false;
    return pm_gpu_check(vkResetFences(r->gpu->device, 1, &frame->fence), "vkResetFences", error);
}
