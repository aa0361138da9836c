#include "examples/postprocess/renderer.h"

#include "blur.comp.h"
#include "blur.comp.scalar.h"
#include "bright.comp.h"
#include "bright.comp.scalar.h"
#include "composite.comp.h"
#include "composite.comp.scalar.h"
#include "light.comp.h"
#include "light.comp.scalar.h"
#include "occlusion.comp.h"
#include "occlusion.comp.scalar.h"
#include "reflections.comp.h"
#include "reflections.comp.scalar.h"
#include "scene.comp.h"
#include "scene.comp.scalar.h"
#include "temporal.comp.h"
#include "temporal.comp.scalar.h"

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

#define UNIFORM VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
#define SAMPLED VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
#define WRITTEN VK_DESCRIPTOR_TYPE_STORAGE_IMAGE

enum { MAPS = 10, OUTPUTS = 3 };

static const VkDescriptorType frame_bindings[] = {UNIFORM, SAMPLED, SAMPLED, SAMPLED,
                                                  SAMPLED, SAMPLED, SAMPLED, SAMPLED,
                                                  SAMPLED, SAMPLED, SAMPLED, UNIFORM};
static const VkDescriptorType output_bindings[OUTPUTS] = {WRITTEN, WRITTEN, WRITTEN};

/* All stay in the general layout. The history of the first frame is black. */
static bool create_images(struct pm_post *post, struct pm_error *error)
{
    const struct pm_gpu_image *list[PM_POST_IMAGES];
    for (int i = 0; i < PM_POST_IMAGES; i++) {
        const bool half = i == PM_POST_BLOOM || i == PM_POST_BLURRED;
        const struct pm_gpu_image_info info = {
            .format = i == PM_POST_GEOMETRY ? VK_FORMAT_R32G32B32A32_SFLOAT
                                            : VK_FORMAT_R16G16B16A16_SFLOAT,
            .width = half ? (post->width + 1) / 2 : post->width,
            .height = half ? (post->height + 1) / 2 : post->height,
            .usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT |
                     VK_IMAGE_USAGE_TRANSFER_DST_BIT,
        };
        if (!pm_gpu_image_init(&post->images[i], post->gpu, &info, error))
            return false;
        list[i] = &post->images[i];
    }
    VkCommandBuffer commands;
    if (!pm_gpu_image_prepare_storage(post->gpu, list, PM_POST_IMAGES, error) ||
        !pm_gpu_once_begin(post->gpu, &commands, error))
        return false;
    const VkClearColorValue black = {0};
    const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    for (int i = PM_POST_RESOLVED_A; i <= PM_POST_RESOLVED_B; i++)
        vkCmdClearColorImage(commands, list[i]->handle, VK_IMAGE_LAYOUT_GENERAL, &black, 1, &all);
    pm_gpu_memory_barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    return pm_gpu_once_submit(post->gpu, commands, error);
}

static bool create_pipelines(struct pm_post *post, struct pm_error *error)
{
    const struct pm_gpu *gpu = post->gpu;
    const VkShaderStageFlags stages = VK_SHADER_STAGE_COMPUTE_BIT;
    if (!pm_gpu_set_layout_create(gpu, frame_bindings, COUNT(frame_bindings), stages,
                                  &post->frame_layout, error) ||
        !pm_gpu_set_layout_create(gpu, output_bindings, OUTPUTS, stages, &post->output_layout,
                                  error))
        return false;
    const VkDescriptorSetLayout sets[] = {post->frame_layout, post->output_layout};
    if (!pm_gpu_pipeline_layout_create(gpu, sets, 2, stages, 4, &post->layout, error))
        return false;
    const struct pm_gpu_spirv shaders[PM_POST_PASSES] = {
        [PM_POST_SCENE] = PM_GPU_SPIRV_OR(post->scalar, scene_comp),
        [PM_POST_OCCLUSION] = PM_GPU_SPIRV_OR(post->scalar, occlusion_comp),
        [PM_POST_REFLECTIONS] = PM_GPU_SPIRV_OR(post->scalar, reflections_comp),
        [PM_POST_LIGHT] = PM_GPU_SPIRV_OR(post->scalar, light_comp),
        [PM_POST_TEMPORAL] = PM_GPU_SPIRV_OR(post->scalar, temporal_comp),
        [PM_POST_BRIGHT] = PM_GPU_SPIRV_OR(post->scalar, bright_comp),
        [PM_POST_BLUR] = PM_GPU_SPIRV_OR(post->scalar, blur_comp),
        [PM_POST_COMPOSITE] = PM_GPU_SPIRV_OR(post->scalar, composite_comp),
    };
    for (int i = 0; i < PM_POST_PASSES; i++)
        if (!pm_gpu_compute_create(gpu, shaders[i], post->layout, &post->pipelines[i], error))
            return false;
    return true;
}

/* A set of outputs: one, two or three images. */
static bool create_outputs(const struct pm_post *post, const struct pm_gpu_image *a,
                           const struct pm_gpu_image *b, const struct pm_gpu_image *c,
                           VkDescriptorSet *set, struct pm_error *error)
{
    const struct pm_gpu_image *const images[OUTPUTS] = {a, b ? b : a, c ? c : a};
    if (!pm_gpu_set_allocate(post->gpu, post->pool, post->output_layout, set, error))
        return false;
    for (uint32_t i = 0; i < OUTPUTS; i++)
        pm_gpu_set_image(post->gpu, *set, i, images[i], VK_NULL_HANDLE);
    return true;
}

static bool create_frame(struct pm_post *post, uint32_t index, struct pm_error *error)
{
    const struct pm_gpu *gpu = post->gpu;
    struct pm_post_frame *frame = &post->frames[index];
    const struct pm_gpu_image *images = post->images;
    /* Frames take turns: what one resolves is the next one's history. */
    const struct pm_gpu_image *resolved = &images[PM_POST_RESOLVED_A + index];
    const struct pm_gpu_image *history = &images[PM_POST_RESOLVED_B - index];
    const struct pm_gpu_image *const maps[MAPS] = {&images[PM_POST_COLOR],
                                                   &images[PM_POST_SURFACE],
                                                   &images[PM_POST_GEOMETRY],
                                                   &images[PM_POST_OCCLUDED],
                                                   &images[PM_POST_REFLECTED],
                                                   &images[PM_POST_LIT],
                                                   resolved,
                                                   history,
                                                   &images[PM_POST_BLOOM],
                                                   &images[PM_POST_BLURRED]};
    if (!pm_gpu_buffer_init(&frame->constants, gpu, sizeof(struct pm_post_constants),
                            VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error) ||
        !pm_gpu_buffer_init(&frame->shapes, gpu, sizeof(struct pm_shape_constants) * PM_SHAPES,
                            VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error) ||
        !pm_gpu_set_allocate(gpu, post->pool, post->frame_layout, &frame->set, error))
        return false;
    pm_gpu_set_buffer(gpu, frame->set, 0, UNIFORM, &frame->constants);
    for (uint32_t i = 0; i < MAPS; i++)
        pm_gpu_set_storage_texture(gpu, frame->set, 1 + i, maps[i], post->sampler);
    pm_gpu_set_buffer(gpu, frame->set, 1 + MAPS, UNIFORM, &frame->shapes);
    VkDescriptorSet *outputs = frame->outputs;
    return create_outputs(post, maps[0], maps[1], maps[2], &outputs[PM_POST_SCENE], error) &&
           create_outputs(post, maps[3], NULL, NULL, &outputs[PM_POST_OCCLUSION], error) &&
           create_outputs(post, maps[4], NULL, NULL, &outputs[PM_POST_REFLECTIONS], error) &&
           create_outputs(post, maps[5], NULL, NULL, &outputs[PM_POST_LIGHT], error) &&
           create_outputs(post, resolved, NULL, NULL, &outputs[PM_POST_TEMPORAL], error) &&
           create_outputs(post, maps[8], NULL, NULL, &outputs[PM_POST_BRIGHT], error) &&
           create_outputs(post, maps[9], NULL, NULL, &outputs[PM_POST_BLUR], error) &&
           create_outputs(post, maps[8], NULL, NULL, &frame->back, error) &&
           create_outputs(post, post->picture, NULL, NULL, &outputs[PM_POST_COMPOSITE], error);
}

static bool create_frames(struct pm_post *post, struct pm_error *error)
{
    const uint32_t n = PM_FRAMES_IN_FLIGHT, outputs = n * (PM_POST_PASSES + 1);
    const VkDescriptorPoolSize sizes[] = {
        {UNIFORM, 2 * n}, {SAMPLED, MAPS * n}, {WRITTEN, OUTPUTS * outputs}};
    if (!pm_gpu_pool_create(post->gpu, sizes, COUNT(sizes), n + outputs, &post->pool, error))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!create_frame(post, i, error))
            return false;
    return true;
}

bool pm_post_init(void *renderer, const struct pm_example_setting *setting, struct pm_error *error)
{
    struct pm_post *post = renderer;
    post->gpu = setting->gpu;
    post->picture = setting->picture;
    post->width = setting->width;
    post->height = setting->height;
    post->scalar = setting->scalar;
    pm_stage_init(&post->stage, setting->scene, setting->seed);
    return pm_gpu_sampler_create(post->gpu, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                 &post->sampler, error) &&
           create_images(post, error) && create_pipelines(post, error) &&
           create_frames(post, error);
}

void pm_post_finish(void *renderer)
{
    struct pm_post *post = renderer;
    if (!post->gpu)
        return;
    const VkDevice device = post->gpu->device;
    for (int i = 0; i < PM_POST_PASSES; i++)
        vkDestroyPipeline(device, post->pipelines[i], NULL);
    vkDestroyPipelineLayout(device, post->layout, NULL);
    vkDestroyDescriptorPool(device, post->pool, NULL);
    vkDestroyDescriptorSetLayout(device, post->frame_layout, NULL);
    vkDestroyDescriptorSetLayout(device, post->output_layout, NULL);
    vkDestroySampler(device, post->sampler, NULL);
    for (int i = 0; i < PM_POST_IMAGES; i++)
        pm_gpu_image_finish(&post->images[i], post->gpu);
    for (int i = 0; i < PM_FRAMES_IN_FLIGHT; i++) {
        pm_gpu_buffer_finish(&post->frames[i].constants, post->gpu);
        pm_gpu_buffer_finish(&post->frames[i].shapes, post->gpu);
    }
}
