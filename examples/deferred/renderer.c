#include "examples/deferred/renderer.h"
#include "examples/deferred/texture.h"
#include <stdlib.h>

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
    };
    const bool done = pm_gpu_texture_init(image, r->gpu, &info, texels, texel_bytes, error);
    free(texels);
    return done;
}

static bool upload_scene(struct pm_renderer *r, struct pm_error *error)
{
    const struct pm_meshes *meshes = &r->scene.meshes;
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
    return pm_gpu_buffer_init(&frame->constants, r->gpu, sizeof(struct pm_frame_constants),
                              VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error) &&
           pm_gpu_buffer_init(&frame->lights, r->gpu,
                              PM_MAX_LIGHTS * sizeof(struct pm_light_constants),
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, PM_GPU_UPLOAD, error) &&
           pm_gpu_buffer_init(&frame->tiles, r->gpu, (VkDeviceSize)PM_TILES * PM_TILE_WORDS * 4,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, PM_GPU_UPLOAD, error) &&
           pm_gpu_buffer_init(&frame->spots, r->gpu, sizeof(struct pm_spots_constants),
                              VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error) &&
           pm_gpu_buffer_init(&frame->histogram, r->gpu, 64 * 4,
                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                              PM_GPU_DEVICE, error);
}

bool pm_renderer_init(void *renderer, const struct pm_example_setting *setting,
                      struct pm_error *error)
{
    struct pm_renderer *r = renderer;
    const struct pm_gpu *gpu = setting->gpu;
    r->gpu = gpu;
    r->width = setting->width;
    r->height = setting->height;
    r->picture = setting->picture;
    r->scalar = setting->scalar;
    if (!pm_scene_init(&r->scene, setting->scene, setting->seed))
        return pm_fail(error, PM_ERROR_MEMORY, "the scene does not fit into memory");
    if (!pm_gpu_sampler_create(gpu, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_REPEAT, &r->repeat,
                               error) ||
        !pm_gpu_sampler_create(gpu, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                               &r->clamp, error) ||
        !pm_gpu_sampler_create(gpu, VK_FILTER_NEAREST, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                               &r->nearest, error) ||
        !upload_scene(r, error) || !pm_renderer_create_targets(r, error) ||
        !pm_renderer_create_pipelines(r, error))
        return false;
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++)
        if (!create_frame(r, &r->frames[i], error))
            return false;
    return pm_renderer_create_sets(r, error) && pm_spots_draw_shadows(r, error);
}

static void finish_frame(struct pm_renderer *r, struct pm_frame *frame)
{
    pm_gpu_buffer_finish(&frame->constants, r->gpu);
    pm_gpu_buffer_finish(&frame->lights, r->gpu);
    pm_gpu_buffer_finish(&frame->tiles, r->gpu);
    pm_gpu_buffer_finish(&frame->spots, r->gpu);
    pm_gpu_buffer_finish(&frame->histogram, r->gpu);
}

static void finish_pipelines(struct pm_renderer *r, VkDevice device)
{
    for (int i = 0; i < PM_MATERIAL_COUNT; i++)
        vkDestroyPipeline(device, r->materials[i], NULL);
    const VkPipeline pipelines[] = {r->shadow_solid, r->shadow_leaf, r->light, r->lights,
                                    r->spots,        r->bright,      r->blur,  r->tonemap};
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

void pm_renderer_finish(void *renderer)
{
    struct pm_renderer *r = renderer;
    pm_scene_finish(&r->scene);
    if (!r->gpu)
        return;
    const VkDevice device = r->gpu->device;
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++)
        finish_frame(r, &r->frames[i]);
    finish_pipelines(r, device);
    vkDestroyFramebuffer(device, r->shadow_target, NULL);
    vkDestroyFramebuffer(device, r->spot_target, NULL);
    vkDestroyFramebuffer(device, r->geometry_target, NULL);
    vkDestroyFramebuffer(device, r->sun_target, NULL);
    vkDestroyFramebuffer(device, r->light_target, NULL);
    vkDestroyRenderPass(device, r->shadow_pass, NULL);
    vkDestroyRenderPass(device, r->spot_pass, NULL);
    vkDestroyRenderPass(device, r->geometry_pass, NULL);
    vkDestroyRenderPass(device, r->sun_pass, NULL);
    vkDestroyRenderPass(device, r->light_pass, NULL);
    vkDestroySampler(device, r->repeat, NULL);
    vkDestroySampler(device, r->clamp, NULL);
    vkDestroySampler(device, r->nearest, NULL);
    struct pm_gpu_image *images[] = {&r->albedo_maps,  &r->surface_maps, &r->masks,   &r->albedo,
                                     &r->normal,       &r->material,     &r->depth,   &r->shadow,
                                     &r->spot_shadows, &r->hdr,          &r->bloom_a, &r->bloom_b};
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        pm_gpu_image_finish(images[i], r->gpu);
    for (int i = 0; i < PM_MAX_SPOTS; i++)
        pm_gpu_buffer_finish(&r->spot_constants[i], r->gpu);
    pm_gpu_buffer_finish(&r->vertices, r->gpu);
    pm_gpu_buffer_finish(&r->indices, r->gpu);
}
