/* Dynamic rendering with a local read: the case's shader draws to an attachment in the middle, and
 * a shader that reads it where it is draws what it reads to the target. */
#include "tests/cts/ways.h"

static VkPipeline copying;
static VkDescriptorPool pool;
static VkDescriptorSet set;

/* Which attachment is location 0: of the case's shader, and of the one that copies. */
static const uint32_t middle_first[2] = {VK_ATTACHMENT_UNUSED, 0},
                      target_first[2] = {0, VK_ATTACHMENT_UNUSED};
static const VkRenderingAttachmentLocationInfo
    case_locations = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO,
                      .colorAttachmentCount = 2,
                      .pColorAttachmentLocations = middle_first},
    copying_locations = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO,
                         .colorAttachmentCount = 2,
                         .pColorAttachmentLocations = target_first};
/* The middle one is its input 0. */
static const VkRenderingInputAttachmentIndexInfo copying_inputs = {
    .sType = VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO,
    .pNext = &copying_locations,
    .colorAttachmentCount = 2,
    .pColorAttachmentInputIndices = middle_first};

static void describe_both(struct cts_description *d, const void *next)
{
    d->blends.attachmentCount = 2;
    d->blend[1].colorWriteMask = 0xf;
    d->rendering.colorAttachmentCount = 2;
    d->rendering.pNext = next;
}

static void make_set(struct cts *cts)
{
    const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                      VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    VkDescriptorSetLayout layout;
    CHECK(vkCreateDescriptorSetLayout(cts->gpu.device, &info, NULL, &layout));
    cts_create_way_layout(cts, layout);
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT, 1};
    const VkDescriptorPoolCreateInfo one = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = 1,
                                            .poolSizeCount = 1,
                                            .pPoolSizes = &size};
    CHECK(vkCreateDescriptorPool(cts->gpu.device, &one, NULL, &pool));
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout};
    CHECK(vkAllocateDescriptorSets(cts->gpu.device, &allocate, &set));
    const VkDescriptorImageInfo image = {.imageView = cts->target.color[1].view,
                                         .imageLayout = VK_IMAGE_LAYOUT_GENERAL};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = set,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_INPUT_ATTACHMENT,
                                        .pImageInfo = &image};
    vkUpdateDescriptorSets(cts->gpu.device, 1, &write, 0, NULL);
}

static void open_local_read(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    gpu_image_create(&cts->gpu, VK_FORMAT_R8G8B8A8_UNORM, CTS_SIDE, CTS_SIDE, 1, 1,
                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT,
                     VK_IMAGE_ASPECT_COLOR_BIT, &cts->target.color[1]);
    make_set(cts);
    cts->way_modules[0] = cts_load(cts, "cover.vert");
    cts->way_modules[1] = cts_load(cts, "copied.frag");
    struct cts_description d;
    cts_describe(cts, &d);
    describe_both(&d, &copying_inputs);
    d.stages[0].module = cts->way_modules[0];
    d.stages[1].module = cts->way_modules[1];
    d.fixed.input.vertexBindingDescriptionCount = 0;
    d.fixed.input.vertexAttributeDescriptionCount = 0;
    d.info.layout = cts->layouts[1];
    CHECK(vkCreateGraphicsPipelines(cts->gpu.device, VK_NULL_HANDLE, 1, &d.info, NULL, &copying));
}

static void close_local_read(struct cts *cts)
{
    vkDestroyPipeline(cts->gpu.device, copying, NULL);
    vkDestroyDescriptorPool(cts->gpu.device, pool, NULL);
}

static void turn_local_read(struct cts *cts, bool on)
{
    cts->target.has_middle = on;
}

static void describe_case(const struct cts *cts, struct cts_description *d)
{
    (void)cts;
    describe_both(d, &case_locations);
}

static void draw_and_copy(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                          VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    cts->vk.CmdSetRenderingAttachmentLocationsKHR(commands, &case_locations);
    vkCmdDraw(commands, CTS_VERTICES, 1, 0, 0);
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_INPUT_ATTACHMENT_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                         VK_PIPELINE_STAGE_FRAGMENT_SHADER_BIT, VK_DEPENDENCY_BY_REGION_BIT, 1,
                         &barrier, 0, NULL, 0, NULL);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, copying);
    cts->vk.CmdSetRenderingAttachmentLocationsKHR(commands, &copying_locations);
    VkRenderingInputAttachmentIndexInfo inputs = copying_inputs;
    inputs.pNext = NULL;
    cts->vk.CmdSetRenderingInputAttachmentIndicesKHR(commands, &inputs);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, cts->layouts[1], 0, 1, &set,
                            0, NULL);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

const struct cts_way_of cts_local_read = {
    .extensions = {"VK_KHR_dynamic_rendering_local_read"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_LOCAL_READ_FEATURES_KHR},
    .open = open_local_read,
    .close = close_local_read,
    .turn = turn_local_read,
    .describe = describe_case,
    .call = draw_and_copy};
