#include "examples/deferred/renderer.h"

static bool create_image(struct pm_renderer *r, struct pm_gpu_image *image, VkFormat format,
                         uint32_t width, uint32_t height, VkImageUsageFlags usage,
                         struct pm_error *error)
{
    const struct pm_gpu_image_info info = {
        .format = format, .width = width, .height = height, .usage = usage};
    return pm_gpu_image_init(image, r->gpu, &info, error);
}

static bool create_images(struct pm_renderer *r, struct pm_error *error)
{
    const VkImageUsageFlags color =
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    const VkImageUsageFlags depth =
        VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT;
    const VkFormat byte = VK_FORMAT_R8G8B8A8_UNORM, half = VK_FORMAT_R16G16B16A16_SFLOAT;
    const uint32_t w = r->width, h = r->height, half_w = (w + 1) / 2, half_h = (h + 1) / 2;
    return create_image(r, &r->albedo, byte, w, h, color, error) &&
           create_image(r, &r->normal, half, w, h, color, error) &&
           create_image(r, &r->material, byte, w, h, color, error) &&
           create_image(r, &r->depth, VK_FORMAT_D32_SFLOAT, w, h, depth, error) &&
           create_image(r, &r->shadow, VK_FORMAT_D32_SFLOAT, PM_SHADOW_SIDE, PM_SHADOW_SIDE, depth,
                        error) &&
           create_image(r, &r->spot_shadows, VK_FORMAT_D32_SFLOAT,
                        PM_SPOT_TILES_X * PM_SPOT_SHADOW_SIDE,
                        PM_SPOT_TILES_Y * PM_SPOT_SHADOW_SIDE, depth, error) &&
           create_image(r, &r->hdr, half, w, h, color, error) &&
           create_image(r, &r->bloom_a, half, half_w, half_h, VK_IMAGE_USAGE_STORAGE_BIT, error) &&
           create_image(r, &r->bloom_b, half, half_w, half_h, VK_IMAGE_USAGE_STORAGE_BIT, error);
}

bool pm_renderer_create_targets(struct pm_renderer *r, struct pm_error *error)
{
    const VkAttachmentLoadOp clear = VK_ATTACHMENT_LOAD_OP_CLEAR;
    const struct pm_gpu_attachment shadow[] = {{&r->shadow, clear}};
    const struct pm_gpu_attachment spots[] = {{&r->spot_shadows, clear}};
    const struct pm_gpu_attachment geometry[] = {
        {&r->albedo, clear}, {&r->normal, clear}, {&r->material, clear}, {&r->depth, clear}};
    const struct pm_gpu_attachment sun[] = {{&r->hdr, VK_ATTACHMENT_LOAD_OP_DONT_CARE}};
    const struct pm_gpu_attachment light[] = {{&r->hdr, VK_ATTACHMENT_LOAD_OP_LOAD}};
    const struct pm_gpu *gpu = r->gpu;
    const struct pm_gpu_image *const storage[] = {&r->bloom_a, &r->bloom_b};
    return create_images(r, error) && pm_gpu_image_prepare_storage(gpu, storage, 2, error) &&
           pm_gpu_pass_create(gpu, shadow, 1, &r->shadow_pass, &r->shadow_target, error) &&
           pm_gpu_pass_create(gpu, spots, 1, &r->spot_pass, &r->spot_target, error) &&
           pm_gpu_pass_create(gpu, geometry, 4, &r->geometry_pass, &r->geometry_target, error) &&
           pm_gpu_pass_create(gpu, sun, 1, &r->sun_pass, &r->sun_target, error) &&
           pm_gpu_pass_create(gpu, light, 1, &r->light_pass, &r->light_target, error);
}
