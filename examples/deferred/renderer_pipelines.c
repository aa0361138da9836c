#include "examples/deferred/renderer.h"

#include "blur.comp.h"
#include "blur.comp.scalar.h"
#include "brick.frag.h"
#include "brick.frag.scalar.h"
#include "bright.comp.h"
#include "bright.comp.scalar.h"
#include "foliage.frag.h"
#include "foliage.frag.scalar.h"
#include "lamp.frag.h"
#include "lamp.frag.scalar.h"
#include "lighting.frag.h"
#include "lighting.frag.scalar.h"
#include "lights.frag.h"
#include "lights.frag.scalar.h"
#include "marble.frag.h"
#include "marble.frag.scalar.h"
#include "mesh.vert.h"
#include "metal.frag.h"
#include "metal.frag.scalar.h"
#include "shadow.vert.h"
#include "shadow_leaf.frag.h"
#include "shadow_leaf.frag.scalar.h"
#include "spots.frag.h"
#include "spots.frag.scalar.h"
#include "terrain.frag.h"
#include "terrain.frag.scalar.h"
#include "tile.vert.h"
#include "tonemap.comp.h"
#include "tonemap.comp.scalar.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

#define GRAPHICS (VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT)
#define UNIFORM VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
#define STORAGE VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
#define SAMPLED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define WRITTEN VK_DESCRIPTOR_TYPE_STORAGE_IMAGE

/* The bindings of a set, numbered from 0, all for the same stages. */
static const VkDescriptorType frame_bindings[] = {UNIFORM, SAMPLED, SAMPLED};
static const VkDescriptorType light_bindings[] = {STORAGE, STORAGE, SAMPLED, SAMPLED, SAMPLED,
                                                  SAMPLED, SAMPLED, SAMPLED, SAMPLED, UNIFORM};
static const VkDescriptorType post_bindings[] = {SAMPLED, WRITTEN, WRITTEN, WRITTEN, STORAGE};

static bool create_layouts(struct pm_renderer *r, struct pm_error *error)
{
    const struct pm_gpu *gpu = r->gpu;
    if (!pm_gpu_set_layout_create(gpu, frame_bindings, COUNT(frame_bindings), GRAPHICS,
                                  &r->frame_layout, error) ||
        !pm_gpu_set_layout_create(gpu, light_bindings, COUNT(light_bindings),
                                  VK_SHADER_STAGE_FRAGMENT_BIT, &r->light_layout, error) ||
        !pm_gpu_set_layout_create(gpu, post_bindings, COUNT(post_bindings),
                                  VK_SHADER_STAGE_COMPUTE_BIT, &r->post_layout, error))
        return false;
    const VkDescriptorSetLayout light_sets[] = {r->frame_layout, r->light_layout};
    return pm_gpu_pipeline_layout_create(gpu, &r->frame_layout, 1, GRAPHICS,
                                         sizeof(struct pm_object_constants),
                                         &r->geometry_pipeline_layout, error) &&
           pm_gpu_pipeline_layout_create(gpu, light_sets, 2, GRAPHICS, 3 * 4,
                                         &r->light_pipeline_layout, error) &&
           pm_gpu_pipeline_layout_create(gpu, &r->post_layout, 1, VK_SHADER_STAGE_COMPUTE_BIT, 4,
                                         &r->post_pipeline_layout, error);
}

static const VkVertexInputBindingDescription vertex_binding = {0, sizeof(struct pm_vertex),
                                                               VK_VERTEX_INPUT_RATE_VERTEX};
static const VkVertexInputAttributeDescription vertex_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct pm_vertex, position)},
    {1, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct pm_vertex, normal)},
    {2, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(struct pm_vertex, uv)},
};
static const VkPipelineVertexInputStateCreateInfo vertex_input = {
    .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    .vertexBindingDescriptionCount = 1,
    .pVertexBindingDescriptions = &vertex_binding,
    .vertexAttributeDescriptionCount = COUNT(vertex_attributes),
    .pVertexAttributeDescriptions = vertex_attributes,
};
/* Shadows need no normals. */
static const VkVertexInputAttributeDescription shadow_attributes[] = {
    {0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(struct pm_vertex, position)},
    {2, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(struct pm_vertex, uv)},
};
static const VkPipelineVertexInputStateCreateInfo shadow_input = {
    .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
    .vertexBindingDescriptionCount = 1,
    .pVertexBindingDescriptions = &vertex_binding,
    .vertexAttributeDescriptionCount = COUNT(shadow_attributes),
    .pVertexAttributeDescriptions = shadow_attributes,
};

static bool create_materials(struct pm_renderer *r, struct pm_error *error)
{
    const struct pm_gpu_spirv shaders[PM_MATERIAL_COUNT] = {
        [PM_MATERIAL_BRICK] = PM_GPU_SPIRV_OR(r->scalar, brick_frag),
        [PM_MATERIAL_METAL] = PM_GPU_SPIRV_OR(r->scalar, metal_frag),
        [PM_MATERIAL_FOLIAGE] = PM_GPU_SPIRV_OR(r->scalar, foliage_frag),
        [PM_MATERIAL_TERRAIN] = PM_GPU_SPIRV_OR(r->scalar, terrain_frag),
        [PM_MATERIAL_MARBLE] = PM_GPU_SPIRV_OR(r->scalar, marble_frag),
        [PM_MATERIAL_LAMP] = PM_GPU_SPIRV_OR(r->scalar, lamp_frag),
    };
    struct pm_gpu_graphics_info info = {
        .vertex = PM_GPU_SPIRV(mesh_vert),
        .layout = r->geometry_pipeline_layout,
        .pass = r->geometry_pass,
        .input = &vertex_input,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
        .targets = 3,
        .depth = true,
    };
    for (int i = 0; i < PM_MATERIAL_COUNT; i++) {
        info.fragment = shaders[i];
        info.cull = i == PM_MATERIAL_FOLIAGE ? VK_CULL_MODE_NONE : VK_CULL_MODE_BACK_BIT;
        if (!pm_gpu_graphics_create(r->gpu, &info, &r->materials[i], error))
            return false;
    }
    info.vertex = PM_GPU_SPIRV(shadow_vert);
    info.fragment = (struct pm_gpu_spirv){0};
    info.input = &shadow_input;
    info.pass = r->shadow_pass;
    info.cull = VK_CULL_MODE_NONE;
    info.targets = 0;
    info.depth_bias = 2.0f;
    if (!pm_gpu_graphics_create(r->gpu, &info, &r->shadow_solid, error))
        return false;
    info.fragment = PM_GPU_SPIRV_OR(r->scalar, shadow_leaf_frag);
    return pm_gpu_graphics_create(r->gpu, &info, &r->shadow_leaf, error);
}

bool pm_renderer_create_pipelines(struct pm_renderer *r, struct pm_error *error)
{
    if (!create_layouts(r, error) || !create_materials(r, error))
        return false;
    struct pm_gpu_graphics_info light = {
        .vertex = PM_GPU_SPIRV(tile_vert),
        .fragment = PM_GPU_SPIRV_OR(r->scalar, lighting_frag),
        .layout = r->light_pipeline_layout,
        .pass = r->sun_pass,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP,
        .targets = 1,
    };
    const struct pm_gpu *gpu = r->gpu;
    const VkPipelineLayout post = r->post_pipeline_layout;
    if (!pm_gpu_graphics_create(gpu, &light, &r->light, error))
        return false;
    light.fragment = PM_GPU_SPIRV_OR(r->scalar, lights_frag);
    light.pass = r->light_pass;
    light.additive = true;
    if (!pm_gpu_graphics_create(gpu, &light, &r->lights, error))
        return false;
    light.fragment = PM_GPU_SPIRV_OR(r->scalar, spots_frag);
    return pm_gpu_graphics_create(gpu, &light, &r->spots, error) &&
           pm_gpu_compute_create(gpu, PM_GPU_SPIRV_OR(r->scalar, bright_comp), post, &r->bright,
                                 error) &&
           pm_gpu_compute_create(gpu, PM_GPU_SPIRV_OR(r->scalar, blur_comp), post, &r->blur,
                                 error) &&
           pm_gpu_compute_create(gpu, PM_GPU_SPIRV_OR(r->scalar, tonemap_comp), post, &r->tonemap,
                                 error);
}

bool pm_renderer_create_frame_set(const struct pm_renderer *r,
                                  const struct pm_gpu_buffer *constants, VkDescriptorSet *set,
                                  struct pm_error *error)
{
    if (!pm_gpu_set_allocate(r->gpu, r->pool, r->frame_layout, set, error))
        return false;
    pm_gpu_set_buffer(r->gpu, *set, 0, UNIFORM, constants);
    pm_gpu_set_image(r->gpu, *set, 1, &r->albedo_maps, r->repeat);
    pm_gpu_set_image(r->gpu, *set, 2, &r->surface_maps, r->repeat);
    return true;
}

bool pm_renderer_create_sets(struct pm_renderer *r, struct pm_error *error)
{
    const uint32_t n = PM_FRAMES_IN_FLIGHT;
    const VkDescriptorPoolSize sizes[] = {{UNIFORM, 2 * n + PM_MAX_SPOTS},
                                          {SAMPLED, 10 * n + 2 * PM_MAX_SPOTS},
                                          {STORAGE, 3 * n},
                                          {WRITTEN, 3 * n}};
    const struct pm_gpu *gpu = r->gpu;
    if (!pm_gpu_pool_create(gpu, sizes, COUNT(sizes), 3 * n + PM_MAX_SPOTS, &r->pool, error))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct pm_frame *f = &r->frames[i];
        if (!pm_renderer_create_frame_set(r, &f->constants, &f->frame_set, error) ||
            !pm_gpu_set_allocate(gpu, r->pool, r->light_layout, &f->light_set, error) ||
            !pm_gpu_set_allocate(gpu, r->pool, r->post_layout, &f->post_set, error))
            return false;
        pm_gpu_set_buffer(gpu, f->light_set, 0, STORAGE, &f->lights);
        pm_gpu_set_buffer(gpu, f->light_set, 1, STORAGE, &f->tiles);
        pm_gpu_set_image(gpu, f->light_set, 2, &r->albedo, r->nearest);
        pm_gpu_set_image(gpu, f->light_set, 3, &r->normal, r->nearest);
        pm_gpu_set_image(gpu, f->light_set, 4, &r->material, r->nearest);
        pm_gpu_set_image(gpu, f->light_set, 5, &r->depth, r->nearest);
        pm_gpu_set_image(gpu, f->light_set, 6, &r->shadow, r->nearest);
        pm_gpu_set_image(gpu, f->light_set, 7, &r->masks, r->clamp);
        pm_gpu_set_image(gpu, f->light_set, 8, &r->spot_shadows, r->nearest);
        pm_gpu_set_buffer(gpu, f->light_set, 9, UNIFORM, &f->spots);
        pm_gpu_set_image(gpu, f->post_set, 0, &r->hdr, r->nearest);
        pm_gpu_set_image(gpu, f->post_set, 1, &r->bloom_a, VK_NULL_HANDLE);
        pm_gpu_set_image(gpu, f->post_set, 2, &r->bloom_b, VK_NULL_HANDLE);
        pm_gpu_set_image(gpu, f->post_set, 3, r->picture, VK_NULL_HANDLE);
        pm_gpu_set_buffer(gpu, f->post_set, 4, STORAGE, &f->histogram);
    }
    return true;
}
