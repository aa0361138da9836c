/*
 * A program that has shader objects and no pipelines (VK_EXT_shader_object), for invisible.sh and
 * same_specialized.sh: two frames of a dispatch, a draw over the left half of a picture with
 * objects that are bound each by itself, and one over the right half with a linked set. What it
 * drew and computed goes to a file, as bytes.
 *
 * usage: shader_objects FILE
 */
#include "tests/gpu/gpu_objects.h"
#include "tests/gpu/gpu_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, FRAMES = 2, GROUPS = 4, ROWS = SIDE >> 4, HALVES = 2 };

static const char *output;
static struct pm_device_dispatch vk;

struct words {
    uint32_t *data;
    size_t count;
};

struct scene {
    struct pm_gpu gpu;
    struct words vertex, fragment, compute;
    VkShaderEXT shaders[HALVES][2]; /* vertex, fragment: of the left half, of the right */
    VkShaderEXT dispatched;
    struct gpu_image target;
    struct pm_gpu_buffer vertices, weights, sums, texels;
};

static VkShaderCreateInfoEXT describe(const struct scene *s, VkShaderStageFlagBits stage,
                                      VkShaderCreateFlagsEXT flags)
{
    static const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_GPU_PUSH_BYTES};
    static const uint32_t scale = 3;
    static const VkSpecializationMapEntry entry = {7, 0, sizeof scale};
    static const VkSpecializationInfo specialization = {1, &entry, sizeof scale, &scale};
    const struct words *words = stage == VK_SHADER_STAGE_VERTEX_BIT     ? &s->vertex
                                : stage == VK_SHADER_STAGE_FRAGMENT_BIT ? &s->fragment
                                                                        : &s->compute;
    return (VkShaderCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT,
        .flags = flags,
        .stage = stage,
        .nextStage = stage == VK_SHADER_STAGE_VERTEX_BIT
                         ? (VkShaderStageFlags)VK_SHADER_STAGE_FRAGMENT_BIT
                         : 0,
        .codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT,
        .codeSize = words->count * sizeof(uint32_t),
        .pCode = words->data,
        .pName = "main",
        .setLayoutCount = 1,
        .pSetLayouts = &s->gpu.set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
        .pSpecializationInfo = stage == VK_SHADER_STAGE_COMPUTE_BIT ? &specialization : NULL,
    };
}

static void make_shaders(struct scene *s)
{
    const VkShaderCreateInfoEXT apart[3] = {describe(s, VK_SHADER_STAGE_VERTEX_BIT, 0),
                                            describe(s, VK_SHADER_STAGE_FRAGMENT_BIT, 0),
                                            describe(s, VK_SHADER_STAGE_COMPUTE_BIT, 0)};
    const VkShaderCreateInfoEXT linked[2] = {
        describe(s, VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_CREATE_LINK_STAGE_BIT_EXT),
        describe(s, VK_SHADER_STAGE_FRAGMENT_BIT, VK_SHADER_CREATE_LINK_STAGE_BIT_EXT)};
    VkShaderEXT made[3];
    CHECK(vk.CreateShadersEXT(s->gpu.device, 3, apart, NULL, made));
    memcpy(s->shaders[0], made, sizeof s->shaders[0]);
    s->dispatched = made[2];
    CHECK(vk.CreateShadersEXT(s->gpu.device, 2, linked, NULL, s->shaders[1]));
}

static void make_buffers(struct scene *s)
{
    static const struct pm_gpu_vertex corners[6] = {
        {{-1, -1, 0, 1}, {0, 0, 0, 1}}, {{1, -1, 0, 1}, {1, 0, 0, 1}},
        {{-1, 1, 0, 1}, {0, 0, 0, 1}},  {{-1, 1, 0, 1}, {0, 0, 0, 1}},
        {{1, -1, 0, 1}, {1, 0, 0, 1}},  {{1, 1, 0, 1}, {1, 0, 0, 1}}};
    pm_gpu_buffer_create(&s->gpu, sizeof corners, &s->vertices);
    memcpy(s->vertices.data, corners, sizeof corners);
    /* One of four rows, and of four groups, has a weight. */
    pm_gpu_buffer_create(&s->gpu, (ROWS + 1) * sizeof(float), &s->weights);
    ((float *)s->weights.data)[1] = 0.75f;
    pm_gpu_buffer_create(&s->gpu, GROUPS * 64 * sizeof(float), &s->sums);
    pm_gpu_buffer_create(&s->gpu, SIDE * SIDE * 4 * sizeof(float), &s->texels);
}

static void set_up(struct scene *s)
{
    static const char *const extensions[] = {"VK_EXT_shader_object", NULL};
    VkPhysicalDeviceShaderObjectFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT};
    pm_gpu_create_with(
        &s->gpu, &(struct pm_gpu_options){.extensions = extensions, .features = (void *)&features});
    if (!features.shaderObject)
        fail_msg("the driver has no shader objects");
    pm_device_dispatch_load(&vk, s->gpu.device, vkGetDeviceProcAddr);
    pm_gpu_load(PM_GPU_SHADERS, "pass.vert", &s->vertex.data, &s->vertex.count);
    pm_gpu_load(SYSTEM_SHADERS, "weights.frag", &s->fragment.data, &s->fragment.count);
    pm_gpu_load(SYSTEM_SHADERS, "weights.comp", &s->compute.data, &s->compute.count);
    make_shaders(s);
    make_buffers(s);
    gpu_image_create(&s->gpu, VK_FORMAT_R32G32B32A32_SFLOAT, SIDE, SIDE, 1, 1,
                     VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                     VK_IMAGE_ASPECT_COLOR_BIT, &s->target);
}

static void draw(struct scene *s, VkCommandBuffer commands, uint32_t half)
{
    static const VkShaderStageFlagBits stages[2] = {VK_SHADER_STAGE_VERTEX_BIT,
                                                    VK_SHADER_STAGE_FRAGMENT_BIT};
    const VkRect2D scissor = {{half == 0 ? 0 : SIDE / 2, 0}, {SIDE / 2, SIDE}};
    vk.CmdSetScissorWithCount(commands, 1, &scissor);
    if (half == 0) {
        vk.CmdBindShadersEXT(commands, 1, &stages[1], &s->shaders[half][1]);
        vk.CmdBindShadersEXT(commands, 1, &stages[0], &s->shaders[half][0]);
    } else {
        vk.CmdBindShadersEXT(commands, 2, stages, s->shaders[half]);
    }
    vk.CmdDraw(commands, 6, 1, 0, 0);
}

static void frame(struct scene *s)
{
    const struct pm_gpu_shader given = {.buffers = {&s->weights, &s->sums}};
    const VkDescriptorSet set = gpu_descriptors(&s->gpu, &given, &s->weights);
    const VkShaderStageFlagBits compute = VK_SHADER_STAGE_COMPUTE_BIT;
    const uint32_t first = 0;
    const VkDeviceSize zero = 0;
    VkCommandBuffer commands = gpu_begin(&s->gpu);
    gpu_bind(&s->gpu, commands, VK_PIPELINE_BIND_POINT_COMPUTE, &given, set);
    gpu_bind(&s->gpu, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, &given, set);
    vk.CmdPushConstants(commands, s->gpu.layout, VK_SHADER_STAGE_ALL, 0, sizeof first, &first);
    vk.CmdBindShadersEXT(commands, 1, &compute, &s->dispatched);
    vk.CmdDispatch(commands, GROUPS, 1, 1);
    gpu_image_layout(commands, s->target.image, VK_IMAGE_ASPECT_COLOR_BIT,
                     VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    const VkRenderingAttachmentInfo color = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                             .imageView = s->target.view,
                                             .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                             .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                             .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    vk.CmdBeginRendering(commands, &(VkRenderingInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                                      .renderArea = {{0, 0}, {SIDE, SIDE}},
                                                      .layerCount = 1,
                                                      .colorAttachmentCount = 1,
                                                      .pColorAttachments = &color});
    gpu_objects_set_state(&vk, commands,
                          &(struct gpu_object_state){.width = SIDE, .height = SIDE, .samples = 1});
    vk.CmdBindVertexBuffers2(commands, 0, 1, &s->vertices.buffer, &zero, NULL, NULL);
    for (uint32_t half = 0; half < HALVES; half++)
        draw(s, commands, half);
    vk.CmdEndRendering(commands);
    gpu_barrier(commands);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {SIDE, SIDE, 1}};
    vk.CmdCopyImageToBuffer(commands, s->target.image, VK_IMAGE_LAYOUT_GENERAL, s->texels.buffer, 1,
                            &copy);
    gpu_finish(&s->gpu, commands);
}

static void tear_down(struct scene *s)
{
    for (uint32_t half = 0; half < HALVES; half++)
        for (uint32_t i = 0; i < 2; i++)
            vk.DestroyShaderEXT(s->gpu.device, s->shaders[half][i], NULL);
    vk.DestroyShaderEXT(s->gpu.device, s->dispatched, NULL);
    gpu_image_destroy(&s->gpu, &s->target);
    pm_gpu_buffer_destroy(&s->gpu, &s->vertices);
    pm_gpu_buffer_destroy(&s->gpu, &s->weights);
    pm_gpu_buffer_destroy(&s->gpu, &s->sums);
    pm_gpu_buffer_destroy(&s->gpu, &s->texels);
    free(s->vertex.data);
    free(s->fragment.data);
    free(s->compute.data);
    pm_gpu_destroy(&s->gpu);
}

static void run(void **state)
{
    static struct scene s;
    (void)state;
    set_up(&s);
    FILE *file = fopen(output, "wb");
    assert_non_null(file);
    for (int i = 0; i < FRAMES; i++) {
        frame(&s);
        assert_int_equal(fwrite(s.texels.data, s.texels.size, 1, file), 1);
        assert_int_equal(fwrite(s.sums.data, s.sums.size, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
    tear_down(&s);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    output = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
