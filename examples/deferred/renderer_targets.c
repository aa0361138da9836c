#include "examples/deferred/renderer.h"

struct attachment {
    const struct pm_gpu_image *image;
    bool depth, clear;
};

enum { MAX_ATTACHMENTS = 4 };

/* Every pass leaves its attachments ready to be read: by fragment shaders, and the last one by
 * compute shaders. What the frame before reads must be read before they are written again. */
static bool create_pass(const struct pm_gpu *gpu, const struct attachment *attachments,
                        uint32_t count, VkRenderPass *pass, struct pm_error *error)
{
    VkAttachmentDescription descriptions[MAX_ATTACHMENTS] = {0};
    VkAttachmentReference colors[MAX_ATTACHMENTS], depth;
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .pColorAttachments = colors,
    };
    for (uint32_t i = 0; i < count; i++) {
        descriptions[i] = (VkAttachmentDescription){
            .format = attachments[i].image->format,
            .samples = VK_SAMPLE_COUNT_1_BIT,
            .loadOp = attachments[i].clear ? VK_ATTACHMENT_LOAD_OP_CLEAR
                                           : VK_ATTACHMENT_LOAD_OP_DONT_CARE,
            .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
            .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
            .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
            .initialLayout = VK_IMAGE_LAYOUT_UNDEFINED,
            .finalLayout = attachments[i].depth ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL
                                                : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
        };
        if (attachments[i].depth) {
            depth = (VkAttachmentReference){i, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
            subpass.pDepthStencilAttachment = &depth;
        } else {
            colors[subpass.colorAttachmentCount++] =
                (VkAttachmentReference){i, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
        }
    }
    const VkPipelineStageFlags readers =
        VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    const VkPipelineStageFlags writers = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT |
                                         VK_PIPELINE_STAGE_EARLY_FRAGMENT_TESTS_BIT |
                                         VK_PIPELINE_STAGE_LATE_FRAGMENT_TESTS_BIT;
    const VkAccessFlags writes = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT |
                                 VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                 VK_ACCESS_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    const VkSubpassDependency dependencies[] = {
        {VK_SUBPASS_EXTERNAL, 0, readers | writers, writers, writes, writes, 0},
        {0, VK_SUBPASS_EXTERNAL, writers, readers, writes, VK_ACCESS_SHADER_READ_BIT, 0},
    };
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = count,
        .pAttachments = descriptions,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 2,
        .pDependencies = dependencies,
    };
    return pm_gpu_check(vkCreateRenderPass(gpu->device, &info, NULL, pass), "vkCreateRenderPass",
                        error);
}

static bool create_target(const struct pm_gpu *gpu, VkRenderPass pass,
                          const struct attachment *attachments, uint32_t count,
                          VkFramebuffer *target, struct pm_error *error)
{
    VkImageView views[MAX_ATTACHMENTS];
    for (uint32_t i = 0; i < count; i++)
        views[i] = attachments[i].image->view;
    const VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = pass,
        .attachmentCount = count,
        .pAttachments = views,
        .width = attachments[0].image->width,
        .height = attachments[0].image->height,
        .layers = 1,
    };
    return pm_gpu_check(vkCreateFramebuffer(gpu->device, &info, NULL, target),
                        "vkCreateFramebuffer", error);
}

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
           create_image(r, &r->hdr, half, w, h, color, error) &&
           create_image(r, &r->bloom_a, half, half_w, half_h, VK_IMAGE_USAGE_STORAGE_BIT, error) &&
           create_image(r, &r->bloom_b, half, half_w, half_h, VK_IMAGE_USAGE_STORAGE_BIT, error) &&
           create_image(r, &r->picture, byte, w, h,
                        VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT, error);
}

/* What only compute shaders touch stays in the general layout. */
static bool prepare_storage(struct pm_renderer *r, struct pm_error *error)
{
    VkCommandBuffer commands;
    if (!pm_gpu_once_begin(r->gpu, &commands, error))
        return false;
    const struct pm_gpu_image *images[] = {&r->bloom_a, &r->bloom_b};
    for (int i = 0; i < 2; i++)
        pm_gpu_image_barrier(commands, images[i], VK_IMAGE_LAYOUT_UNDEFINED,
                             VK_IMAGE_LAYOUT_GENERAL, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, 0,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    return pm_gpu_once_submit(r->gpu, commands, error);
}

bool pm_renderer_create_targets(struct pm_renderer *r, struct pm_error *error)
{
    const struct attachment shadow[] = {{&r->shadow, true, true}};
    const struct attachment geometry[] = {
        {&r->albedo, false, true},
        {&r->normal, false, true},
        {&r->material, false, true},
        {&r->depth, true, true},
    };
    const struct attachment light[] = {{&r->hdr, false, false}};
    const struct pm_gpu *gpu = r->gpu;
    return create_images(r, error) && prepare_storage(r, error) &&
           create_pass(gpu, shadow, 1, &r->shadow_pass, error) &&
           create_target(gpu, r->shadow_pass, shadow, 1, &r->shadow_target, error) &&
           create_pass(gpu, geometry, 4, &r->geometry_pass, error) &&
           create_target(gpu, r->geometry_pass, geometry, 4, &r->geometry_target, error) &&
           create_pass(gpu, light, 1, &r->light_pass, error) &&
           create_target(gpu, r->light_pass, light, 1, &r->light_target, error);
}
