/* What a case draws to. */
#include "tests/cts/cts.h"

#define FORMAT VK_FORMAT_R8G8B8A8_UNORM

static const VkImageUsageFlags color_usage =
    VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;

/* ---- render passes ---- */

static uint32_t describe(const struct cts_target *target, bool loads,
                         VkAttachmentDescription attachments[4])
{
    uint32_t count = 0;
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    for (uint32_t i = 0; i < target->colors; i++)
        attachments[count++] = (VkAttachmentDescription){
            .format = FORMAT,
            .samples = VK_SAMPLE_COUNT_1_BIT,
            .loadOp = loads ? VK_ATTACHMENT_LOAD_OP_LOAD : VK_ATTACHMENT_LOAD_OP_CLEAR,
            .initialLayout = general,
            .finalLayout = general};
    return count;
}

static VkRenderPass make_pass(struct cts *cts, bool loads)
{
    const struct cts_target *target = &cts->target;
    VkAttachmentDescription attachments[4];
    VkAttachmentReference references[2] = {{0, VK_IMAGE_LAYOUT_GENERAL},
                                           {1, VK_IMAGE_LAYOUT_GENERAL}};
    const VkSubpassDescription subpasses[2] = {
        {.colorAttachmentCount = target->colors, .pColorAttachments = references},
        {.colorAttachmentCount = target->colors, .pColorAttachments = references}};
    const VkSubpassDependency dependency = {
        .srcSubpass = 0,
        .dstSubpass = 1,
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = describe(target, loads, attachments),
                                         .pAttachments = attachments,
                                         .subpassCount = target->subpass + 1,
                                         .pSubpasses = subpasses,
                                         .dependencyCount = target->subpass,
                                         .pDependencies = &dependency};
    VkRenderPass pass;
    CHECK(vkCreateRenderPass(cts->gpu.device, &info, NULL, &pass));
    return pass;
}

static VkRenderPass make_pass2(struct cts *cts, bool loads)
{
    VkAttachmentDescription one[4];
    (void)describe(&cts->target, loads, one);
    const VkAttachmentDescription2 attachment = {.sType =
                                                     VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
                                                 .format = one[0].format,
                                                 .samples = one[0].samples,
                                                 .loadOp = one[0].loadOp,
                                                 .initialLayout = one[0].initialLayout,
                                                 .finalLayout = one[0].finalLayout};
    const VkAttachmentReference2 reference = {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
                                              .layout = VK_IMAGE_LAYOUT_GENERAL,
                                              .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT};
    const VkSubpassDescription2 subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                           .colorAttachmentCount = 1,
                                           .pColorAttachments = &reference};
    const VkRenderPassCreateInfo2 info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
                                          .attachmentCount = 1,
                                          .pAttachments = &attachment,
                                          .subpassCount = 1,
                                          .pSubpasses = &subpass};
    VkRenderPass pass;
    CHECK(vkCreateRenderPass2(cts->gpu.device, &info, NULL, &pass));
    return pass;
}

static bool has_pass(enum cts_target_kind kind)
{
    return kind == CTS_PASS || kind == CTS_PASS2 || kind == CTS_TWO || kind == CTS_SECOND;
}

/* ---- */

void cts_target_create(struct cts *cts, enum cts_target_kind kind)
{
    struct pm_gpu *gpu = &cts->gpu;
    struct cts_target *target = &cts->target;
    *target = (struct cts_target){.kind = kind,
                                  .samples = kind == CTS_SAMPLES ? 4 : 1,
                                  .colors = kind == CTS_TWO ? 2 : 1,
                                  .subpass = kind == CTS_SECOND ? 1 : 0,
                                  .has_depth = kind == CTS_DEPTH};
    if (kind == CTS_SAMPLES && !(gpu->sample_counts & 4))
        cts_unsupported("four samples");
    for (uint32_t i = 0; i < target->colors; i++)
        gpu_image_create_layers(gpu, FORMAT, CTS_SIDE, CTS_SIDE, 1, target->samples, cts->layers,
                                color_usage, VK_IMAGE_ASPECT_COLOR_BIT, &target->color[i]);
    if (target->samples > 1)
        gpu_image_create(gpu, FORMAT, CTS_SIDE, CTS_SIDE, 1, 1,
                         color_usage | VK_IMAGE_USAGE_TRANSFER_DST_BIT, VK_IMAGE_ASPECT_COLOR_BIT,
                         &target->resolved);
    if (target->has_depth)
        gpu_image_create(gpu, VK_FORMAT_D32_SFLOAT, CTS_SIDE, CTS_SIDE, 1, 1,
                         VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_ASPECT_DEPTH_BIT,
                         &target->depth);
    if (!has_pass(kind))
        return;
    target->pass = kind == CTS_PASS2 ? make_pass2(cts, false) : make_pass(cts, false);
    target->loading = kind == CTS_PASS2 ? make_pass2(cts, true) : make_pass(cts, true);
    const VkImageView views[2] = {target->color[0].view, target->color[1].view};
    const VkFramebufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                          .renderPass = target->pass,
                                          .attachmentCount = target->colors,
                                          .pAttachments = views,
                                          .width = CTS_SIDE,
                                          .height = CTS_SIDE,
                                          .layers = 1};
    CHECK(vkCreateFramebuffer(gpu->device, &info, NULL, &target->framebuffer));
}

void cts_target_destroy(struct cts *cts)
{
    struct pm_gpu *gpu = &cts->gpu;
    struct cts_target *target = &cts->target;
    vkDestroyFramebuffer(gpu->device, target->framebuffer, NULL);
    vkDestroyRenderPass(gpu->device, target->loading, NULL);
    vkDestroyRenderPass(gpu->device, target->pass, NULL);
    gpu_image_destroy(gpu, &target->color[0]);
    gpu_image_destroy(gpu, &target->color[1]);
    gpu_image_destroy(gpu, &target->resolved);
    gpu_image_destroy(gpu, &target->depth);
}

static void ready(VkCommandBuffer commands, const struct gpu_image *image,
                  VkImageAspectFlags aspect, bool first)
{
    if (image->image)
        gpu_image_layout(commands, image->image, aspect,
                         first ? VK_IMAGE_LAYOUT_UNDEFINED : VK_IMAGE_LAYOUT_GENERAL,
                         VK_IMAGE_LAYOUT_GENERAL);
}

static void begin_pass(const struct cts_target *target, VkCommandBuffer commands, bool first,
                       bool secondaries)
{
    const VkClearValue clear[2] = {0};
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = first ? target->pass : target->loading,
                                        .framebuffer = target->framebuffer,
                                        .renderArea = {{0, 0}, {CTS_SIDE, CTS_SIDE}},
                                        .clearValueCount = target->colors,
                                        .pClearValues = clear};
    const VkSubpassContents contents =
        secondaries ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS : VK_SUBPASS_CONTENTS_INLINE;
    const VkSubpassBeginInfo subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO,
                                        .contents = contents};
    if (target->kind == CTS_PASS2) {
        vkCmdBeginRenderPass2(commands, &info, &subpass);
    } else if (target->subpass > 0) {
        vkCmdBeginRenderPass(commands, &info, VK_SUBPASS_CONTENTS_INLINE);
        vkCmdNextSubpass(commands, contents);
    } else {
        vkCmdBeginRenderPass(commands, &info, contents);
    }
}

void cts_target_begin(const struct cts *cts, VkCommandBuffer commands, bool first, bool secondaries)
{
    const struct cts_target *target = &cts->target;
    if (!(target->flags & VK_RENDERING_RESUMING_BIT)) {
        ready(commands, &target->color[0], VK_IMAGE_ASPECT_COLOR_BIT, first);
        ready(commands, &target->color[1], VK_IMAGE_ASPECT_COLOR_BIT, first);
        ready(commands, &target->resolved, VK_IMAGE_ASPECT_COLOR_BIT, first);
        ready(commands, &target->depth, VK_IMAGE_ASPECT_DEPTH_BIT, first);
    }
    if (target->pass) {
        begin_pass(target, commands, first, secondaries);
        return;
    }
    const VkAttachmentLoadOp load =
        first ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD;
    const bool resolves = target->samples > 1 && !target->resolves_later;
    const VkRenderingAttachmentInfo colors[2] = {
        {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
         .imageView = target->color[0].view,
         .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
         .resolveMode = resolves ? VK_RESOLVE_MODE_AVERAGE_BIT : VK_RESOLVE_MODE_NONE,
         .resolveImageView = resolves ? target->resolved.view : VK_NULL_HANDLE,
         .resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL,
         .loadOp = load,
         .storeOp = VK_ATTACHMENT_STORE_OP_STORE},
        {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
         .imageView = target->color[1].view,
         .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
         .loadOp = load,
         .storeOp = VK_ATTACHMENT_STORE_OP_STORE}};
    const VkRenderingAttachmentInfo depth = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                             .imageView = target->depth.view,
                                             .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                             .loadOp = load,
                                             .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                             .clearValue.depthStencil.depth = 1};
    const VkRenderingInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
        .flags = target->flags |
                 (secondaries ? VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT : 0u),
        .renderArea = {{0, 0}, {CTS_SIDE, CTS_SIDE}},
        .layerCount = 1,
        .viewMask = target->view_mask,
        .colorAttachmentCount = target->has_middle ? 2 : 1,
        .pColorAttachments = colors,
        .pDepthAttachment = target->has_depth ? &depth : NULL};
    vkCmdBeginRendering(commands, &info);
}

static void resolve(const struct cts_target *target, VkCommandBuffer commands)
{
    const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkImageResolve whole = {
        .srcSubresource = layers, .dstSubresource = layers, .extent = {CTS_SIDE, CTS_SIDE, 1}};
    gpu_barrier(commands);
    vkCmdResolveImage(commands, target->color[0].image, VK_IMAGE_LAYOUT_GENERAL,
                      target->resolved.image, VK_IMAGE_LAYOUT_GENERAL, 1, &whole);
}

void cts_target_end(const struct cts *cts, VkCommandBuffer commands)
{
    const VkSubpassEndInfo end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    if (!cts->target.pass)
        vkCmdEndRendering(commands);
    else if (cts->target.kind == CTS_PASS2)
        vkCmdEndRenderPass2(commands, &end);
    else
        vkCmdEndRenderPass(commands);
    if (cts->target.resolves_later)
        resolve(&cts->target, commands);
}

void cts_target_read(struct cts *cts)
{
    const struct cts_target *target = &cts->target;
    VkCommandBuffer commands = gpu_begin(&cts->gpu);
    gpu_barrier(commands);
    for (uint32_t i = 0; i < target->colors; i++) {
        const VkBufferImageCopy copy = {
            .bufferOffset = (VkDeviceSize)i * CTS_SIDE * CTS_SIDE * 4,
            .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, cts->layers},
            .imageExtent = {CTS_SIDE, CTS_SIDE, 1}};
        vkCmdCopyImageToBuffer(
            commands, target->samples > 1 ? target->resolved.image : target->color[i].image,
            VK_IMAGE_LAYOUT_GENERAL, cts->texels.buffer, 1, &copy);
    }
    gpu_finish(&cts->gpu, commands);
}
