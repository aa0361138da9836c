/* Several samples resolved in other ways than at the end of dynamic rendering, which the target
 * "samples" does. */
#include "tests/cts/ways.h"

static void turn_later(struct cts *cts, bool on)
{
    cts->target.resolves_later = on;
}

/* By vkCmdResolveImage. */
const struct cts_way_of cts_resolved_later = {.turn = turn_later};

/* ---- at the end of a subpass ---- */

static VkRenderPass pass;
static VkFramebuffer framebuffer;

static void open_pass(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    const struct cts_target *target = &cts->target;
    const VkAttachmentDescription attachments[2] = {
        {.format = VK_FORMAT_R8G8B8A8_UNORM,
         .samples = (VkSampleCountFlagBits)target->samples,
         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
         .storeOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
         .initialLayout = VK_IMAGE_LAYOUT_GENERAL,
         .finalLayout = VK_IMAGE_LAYOUT_GENERAL},
        {.format = VK_FORMAT_R8G8B8A8_UNORM,
         .samples = VK_SAMPLE_COUNT_1_BIT,
         .loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
         .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
         .initialLayout = VK_IMAGE_LAYOUT_GENERAL,
         .finalLayout = VK_IMAGE_LAYOUT_GENERAL}};
    const VkAttachmentReference color = {0, VK_IMAGE_LAYOUT_GENERAL},
                                resolve = {1, VK_IMAGE_LAYOUT_GENERAL};
    const VkSubpassDescription subpass = {
        .colorAttachmentCount = 1, .pColorAttachments = &color, .pResolveAttachments = &resolve};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 2,
                                         .pAttachments = attachments,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass};
    CHECK(vkCreateRenderPass(cts->gpu.device, &info, NULL, &pass));
    const VkImageView views[2] = {target->color[0].view, target->resolved.view};
    const VkFramebufferCreateInfo frame = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                           .renderPass = pass,
                                           .attachmentCount = 2,
                                           .pAttachments = views,
                                           .width = CTS_SIDE,
                                           .height = CTS_SIDE,
                                           .layers = 1};
    CHECK(vkCreateFramebuffer(cts->gpu.device, &frame, NULL, &framebuffer));
}

static void close_pass(struct cts *cts)
{
    vkDestroyFramebuffer(cts->gpu.device, framebuffer, NULL);
    vkDestroyRenderPass(cts->gpu.device, pass, NULL);
}

static void turn_pass(struct cts *cts, bool on)
{
    cts->target.pass = on ? pass : VK_NULL_HANDLE;
    cts->target.framebuffer = on ? framebuffer : VK_NULL_HANDLE;
}

const struct cts_way_of cts_resolved_by_pass = {
    .open = open_pass, .close = close_pass, .turn = turn_pass};
