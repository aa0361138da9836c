#include "examples/terrain/renderer.h"

#include "land.frag.h"
#include "land.frag.scalar.h"
#include "land.vert.h"
#include "screen.vert.h"
#include "sky.frag.h"
#include "sky.frag.scalar.h"
#include "tonemap.comp.h"
#include "tonemap.comp.scalar.h"
#include "water.frag.h"
#include "water.frag.scalar.h"
#include "water.vert.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

#define UNIFORM VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
#define SAMPLED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define WRITTEN VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
#define STAGES                                                                                     \
    (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT)

static const VkDescriptorType bindings[] = {UNIFORM, SAMPLED, SAMPLED, SAMPLED, SAMPLED, SAMPLED,
                                            SAMPLED, SAMPLED, SAMPLED, UNIFORM, SAMPLED, WRITTEN};

static bool create_targets(struct pm_terrain *t, struct pm_error *error)
{
    const struct pm_gpu *gpu = t->gpu;
    const struct pm_gpu_image_info hdr = {
        .format = VK_FORMAT_R16G16B16A16_SFLOAT,
        .width = t->width,
        .height = t->height,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
    };
    const struct pm_gpu_image_info depth = {
        .format = VK_FORMAT_D32_SFLOAT,
        .width = t->width,
        .height = t->height,
        .usage = VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
    };
    const struct pm_gpu_attachment land[] = {{&t->hdr, VK_ATTACHMENT_LOAD_OP_DONT_CARE},
                                             {&t->depth, VK_ATTACHMENT_LOAD_OP_CLEAR}};
    const struct pm_gpu_attachment later[] = {{&t->hdr, VK_ATTACHMENT_LOAD_OP_LOAD},
                                              {&t->depth, VK_ATTACHMENT_LOAD_OP_LOAD}};
    return pm_gpu_image_init(&t->hdr, gpu, &hdr, error) &&
           pm_gpu_image_init(&t->depth, gpu, &depth, error) &&
           pm_gpu_pass_create(gpu, land, 2, &t->land_pass, &t->land_target, error) &&
           pm_gpu_pass_create(gpu, later, 2, &t->later_pass, &t->later_target, error);
}

static bool create_pipelines(struct pm_terrain *t, struct pm_error *error)
{
    const struct pm_gpu *gpu = t->gpu;
    if (!pm_gpu_set_layout_create(gpu, bindings, COUNT(bindings), STAGES, &t->set_layout, error) ||
        !pm_gpu_pipeline_layout_create(gpu, &t->set_layout, 1, STAGES, 0, &t->layout, error))
        return false;
    static const VkVertexInputBindingDescription binding = {0, sizeof(pm_vec3),
                                                            VK_VERTEX_INPUT_RATE_VERTEX};
    static const VkVertexInputAttributeDescription attribute = {0, 0, VK_FORMAT_R32G32B32_SFLOAT,
                                                                0};
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = 1,
        .pVertexAttributeDescriptions = &attribute,
    };
    struct pm_gpu_graphics_info info = {
        .vertex = PM_GPU_SPIRV(land_vert),
        .fragment = PM_GPU_SPIRV_OR(t->scalar, land_frag),
        .layout = t->layout,
        .pass = t->land_pass,
        .input = &input,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .cull = VK_CULL_MODE_BACK_BIT,
        .targets = 1,
        .depth = true,
    };
    if (!pm_gpu_graphics_create(gpu, &info, &t->ground, error))
        return false;
    info.vertex = PM_GPU_SPIRV(water_vert);
    info.fragment = PM_GPU_SPIRV_OR(t->scalar, water_frag);
    info.pass = t->later_pass;
    info.input = NULL;
    info.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP;
    info.cull = VK_CULL_MODE_NONE;
    if (!pm_gpu_graphics_create(gpu, &info, &t->water, error))
        return false;
    info.vertex = PM_GPU_SPIRV(screen_vert);
    info.fragment = PM_GPU_SPIRV_OR(t->scalar, sky_frag);
    info.read_only = true;
    return pm_gpu_graphics_create(gpu, &info, &t->sky, error) &&
           pm_gpu_compute_create(gpu, PM_GPU_SPIRV_OR(t->scalar, tonemap_comp), t->layout,
                                 &t->tonemap, error);
}

static bool create_sets(struct pm_terrain *t, struct pm_error *error)
{
    const struct pm_gpu *gpu = t->gpu;
    const uint32_t n = PM_FRAMES_IN_FLIGHT;
    const VkDescriptorPoolSize sizes[] = {{UNIFORM, 2 * n}, {SAMPLED, 9 * n}, {WRITTEN, n}};
    if (!pm_gpu_pool_create(gpu, sizes, COUNT(sizes), n, &t->pool, error))
        return false;
    const struct pm_gpu_image *const maps[] = {&t->surface, &t->splat_low, &t->splat_high,
                                               &t->mask,    &t->albedo,    &t->normal,
                                               &t->detail,  &t->decals};
    for (uint32_t i = 0; i < n; i++) {
        if (!pm_gpu_set_allocate(gpu, t->pool, t->set_layout, &t->sets[i], error) ||
            !pm_gpu_buffer_init(&t->constants[i], gpu, sizeof(struct pm_terrain_constants),
                                VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error))
            return false;
        pm_gpu_set_buffer(gpu, t->sets[i], 0, UNIFORM, &t->constants[i]);
        for (uint32_t map = 0; map < COUNT(maps); map++)
            pm_gpu_set_image(gpu, t->sets[i], 1 + map, maps[map],
                             maps[map]->levels > 1 && maps[map] != &t->decals ? t->repeat
                                                                              : t->clamp);
        pm_gpu_set_buffer(gpu, t->sets[i], 9, UNIFORM, &t->decal_list);
        pm_gpu_set_image(gpu, t->sets[i], 10, &t->hdr, t->nearest);
        pm_gpu_set_image(gpu, t->sets[i], 11, t->picture, VK_NULL_HANDLE);
    }
    return true;
}

bool pm_terrain_init(void *renderer, const struct pm_example_setting *setting,
                     struct pm_error *error)
{
    struct pm_terrain *t = renderer;
    const struct pm_gpu *gpu = setting->gpu;
    t->gpu = gpu;
    t->picture = setting->picture;
    t->width = setting->width;
    t->height = setting->height;
    t->scalar = setting->scalar;
    pm_land_init(&t->land, setting->scene, setting->seed);
    return pm_gpu_sampler_create(gpu, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_REPEAT, &t->repeat,
                                 error) &&
           pm_gpu_sampler_create(gpu, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                 &t->clamp, error) &&
           pm_gpu_sampler_create(gpu, VK_FILTER_NEAREST, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                 &t->nearest, error) &&
           pm_terrain_create_textures(t, setting->scene, error) &&
           pm_terrain_create_mesh(t, error) && create_targets(t, error) &&
           create_pipelines(t, error) && create_sets(t, error);
}

void pm_terrain_finish(void *renderer)
{
    struct pm_terrain *t = renderer;
    if (!t->gpu)
        return;
    const VkDevice device = t->gpu->device;
    const VkPipeline pipelines[] = {t->ground, t->water, t->sky, t->tonemap};
    for (uint32_t i = 0; i < COUNT(pipelines); i++)
        vkDestroyPipeline(device, pipelines[i], NULL);
    vkDestroyPipelineLayout(device, t->layout, NULL);
    vkDestroyDescriptorPool(device, t->pool, NULL);
    vkDestroyDescriptorSetLayout(device, t->set_layout, NULL);
    vkDestroyFramebuffer(device, t->land_target, NULL);
    vkDestroyFramebuffer(device, t->later_target, NULL);
    vkDestroyRenderPass(device, t->land_pass, NULL);
    vkDestroyRenderPass(device, t->later_pass, NULL);
    vkDestroySampler(device, t->repeat, NULL);
    vkDestroySampler(device, t->clamp, NULL);
    vkDestroySampler(device, t->nearest, NULL);
    struct pm_gpu_image *const images[] = {&t->surface, &t->splat_low, &t->splat_high, &t->mask,
                                           &t->albedo,  &t->normal,    &t->detail,     &t->decals,
                                           &t->hdr,     &t->depth};
    for (uint32_t i = 0; i < COUNT(images); i++)
        pm_gpu_image_finish(images[i], t->gpu);
    pm_gpu_buffer_finish(&t->vertices, t->gpu);
    pm_gpu_buffer_finish(&t->indices, t->gpu);
    pm_gpu_buffer_finish(&t->decal_list, t->gpu);
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++)
        pm_gpu_buffer_finish(&t->constants[i], t->gpu);
}
