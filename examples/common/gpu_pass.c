#include "examples/common/gpu.h"

static bool is_depth(const struct pm_gpu_attachment *attachment)
{
    return attachment->image->format == VK_FORMAT_D32_SFLOAT;
}

static VkAttachmentDescription describe(const struct pm_gpu_attachment *attachment)
{
    const VkImageLayout after = is_depth(attachment)
                                    ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL
                                    : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    return (VkAttachmentDescription){
        .format = attachment->image->format,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = attachment->load,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .initialLayout =
            attachment->load == VK_ATTACHMENT_LOAD_OP_LOAD ? after : VK_IMAGE_LAYOUT_UNDEFINED,
        .finalLayout = after,
    };
}

static bool create_pass(const struct pm_gpu *gpu, const struct pm_gpu_attachment *attachments,
                        uint32_t count, VkRenderPass *pass, struct pm_error *error)
{
    VkAttachmentDescription descriptions[PM_GPU_MAX_ATTACHMENTS] = {0};
    VkAttachmentReference colors[PM_GPU_MAX_ATTACHMENTS], depth;
    VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .pColorAttachments = colors,
    };
    for (uint32_t i = 0; i < count; i++) {
        descriptions[i] = describe(&attachments[i]);
        if (is_depth(&attachments[i])) {
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
        {VK_SUBPASS_EXTERNAL, 0, readers | writers, writers, writes,
         writes | VK_ACCESS_COLOR_ATTACHMENT_READ_BIT, 0},
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

bool pm_gpu_pass_create(const struct pm_gpu *gpu, const struct pm_gpu_attachment *attachments,
                        uint32_t count, VkRenderPass *pass, VkFramebuffer *target,
                        struct pm_error *error)
{
    if (!create_pass(gpu, attachments, count, pass, error))
        return false;
    VkImageView views[PM_GPU_MAX_ATTACHMENTS];
    for (uint32_t i = 0; i < count; i++)
        views[i] = attachments[i].image->view;
    const VkFramebufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = *pass,
        .attachmentCount = count,
        .pAttachments = views,
        .width = attachments[0].image->width,
        .height = attachments[0].image->height,
        .layers = 1,
    };
    return pm_gpu_check(vkCreateFramebuffer(gpu->device, &info, NULL, target),
                        "vkCreateFramebuffer", error);
}

static void begin(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer target, uint32_t width,
                  uint32_t height, uint32_t colors, VkSubpassContents contents)
{
    VkClearValue clears[PM_GPU_MAX_ATTACHMENTS] = {0};
    clears[colors].depthStencil.depth = 1.0f;
    const VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = pass,
        .framebuffer = target,
        .renderArea = {{0, 0}, {width, height}},
        .clearValueCount = colors + 1,
        .pClearValues = clears,
    };
    vkCmdBeginRenderPass(commands, &info, contents);
}

void pm_gpu_pass_begin(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer target,
                       uint32_t width, uint32_t height, uint32_t colors)
{
    begin(commands, pass, target, width, height, colors, VK_SUBPASS_CONTENTS_INLINE);
    pm_gpu_viewport(commands, width, height);
}

void pm_gpu_pass_begin_secondary(VkCommandBuffer commands, VkRenderPass pass, VkFramebuffer target,
                                 uint32_t width, uint32_t height, uint32_t colors)
{
    begin(commands, pass, target, width, height, colors,
          VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
}
