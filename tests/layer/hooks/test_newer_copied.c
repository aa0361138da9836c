/* A structure from the far future in each chain that the layer copies, alone and beside each
 * structure that the headers know there: it costs what it is a part of, and just that
 * (HAZARDS 10). */
#define VK_ENABLE_BETA_EXTENSIONS /* which the layer does not know */
#include "extending.h"
#include "tests/layer/hooks/extending_table.h"
#include "tests/layer/hooks/passed_on.h"
#include "tests/layer/layered.h"
#include "tests/layer/pipelines.h"
#include "tests/null_driver/newer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

/* ---- what is made with something in a chain ---- */

/* A chain of a structure of that name. */
struct place {
    const char *base;
    const void **chain;
};

/* Which of the places has the name; false: none. */
static bool hang(const struct place *places, size_t count, const char *base, const void *chain)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(base, places[i].base) != 0)
            continue;
        *places[i].chain = chain;
        return true;
    }
    return false;
}

#define HANG(places) hang(places, sizeof(places) / sizeof *(places), base, chain)

/* Makes and destroys what has something chained to a structure of that name; false: this way there
 * is no such structure. */
typedef bool (*way)(const char *base, const void *chain);

static void make_graphics_of(const VkGraphicsPipelineCreateInfo *info)
{
    VkPipeline pipeline;
    PM_CHECK(h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, info, NULL, &pipeline));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
}

static bool graphics(const char *base, const void *chain)
{
    struct pm_harness_pipeline of;
    pm_harness_describe(&h, &of);
    VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO};
    of.info.pDynamicState = &dynamic;
    const struct place places[] = {
        {"VkGraphicsPipelineCreateInfo", &of.info.pNext},
        {"VkPipelineShaderStageCreateInfo", &of.stages[1].pNext},
        {"VkPipelineVertexInputStateCreateInfo", &of.input.pNext},
        {"VkPipelineInputAssemblyStateCreateInfo", &of.assembly.pNext},
        {"VkPipelineViewportStateCreateInfo", &of.viewport.pNext},
        {"VkPipelineRasterizationStateCreateInfo", &of.rasterization.pNext},
        {"VkPipelineMultisampleStateCreateInfo", &of.multisample.pNext},
        {"VkPipelineColorBlendStateCreateInfo", &of.blend.pNext},
        {"VkPipelineDynamicStateCreateInfo", &dynamic.pNext},
    };
    if (!HANG(places))
        return false;
    make_graphics_of(&of.info);
    return true;
}

/* With what a pipeline has only where it needs it: tessellation, a depth attachment, sample
 * locations. */
static bool richer_graphics(const char *base, const void *chain)
{
    struct pm_harness_pipeline of;
    pm_harness_describe(&h, &of);
    VkPipelineShaderStageCreateInfo stages[4] = {of.stages[0], of.stages[0], of.stages[0],
                                                 of.stages[1]};
    stages[1].stage = VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT;
    stages[2].stage = VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT;
    VkPipelineTessellationStateCreateInfo tessellation = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
        .patchControlPoints = 3};
    VkPipelineDepthStencilStateCreateInfo depth_stencil = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO};
    VkPipelineSampleLocationsStateCreateInfoEXT locations = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SAMPLE_LOCATIONS_STATE_CREATE_INFO_EXT,
        .sampleLocationsEnable = VK_TRUE,
        .sampleLocationsInfo = {.sType = VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT}};
    static const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .depthAttachmentFormat = VK_FORMAT_D32_SFLOAT};
    const struct place places[] = {
        {"VkPipelineTessellationStateCreateInfo", &tessellation.pNext},
        {"VkPipelineDepthStencilStateCreateInfo", &depth_stencil.pNext},
        {"VkSampleLocationsInfoEXT", &locations.sampleLocationsInfo.pNext},
    };
    if (!HANG(places))
        return false;
    of.multisample.pNext = &locations;
    of.assembly.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
    of.info.pNext = &rendering;
    of.info.renderPass = VK_NULL_HANDLE;
    of.info.stageCount = 4;
    of.info.pStages = stages;
    of.info.pTessellationState = &tessellation;
    of.info.pDepthStencilState = &depth_stencil;
    make_graphics_of(&of.info);
    return true;
}

static bool render_pass(const char *base, const void *chain)
{
    if (strcmp(base, "VkRenderPassCreateInfo") != 0)
        return false;
    const VkSubpassDescription subpass = {0};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .pNext = chain,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass};
    struct pm_harness_pipeline of;
    pm_harness_describe(&h, &of);
    PM_CHECK(h.vk.CreateRenderPass(h.device, &info, NULL, &of.info.renderPass));
    make_graphics_of(&of.info);
    h.vk.DestroyRenderPass(h.device, of.info.renderPass, NULL);
    return true;
}

static bool render_pass2(const char *base, const void *chain)
{
    VkAttachmentDescription2 attachment = {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
                                           .format = VK_FORMAT_R8G8B8A8_UNORM,
                                           .samples = VK_SAMPLE_COUNT_1_BIT};
    VkAttachmentReference2 reference = {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2};
    VkSubpassDescription2 subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                     .colorAttachmentCount = 1,
                                     .pColorAttachments = &reference};
    VkSubpassDependency2 dependency = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DEPENDENCY_2,
                                       .srcSubpass = VK_SUBPASS_EXTERNAL};
    VkRenderPassCreateInfo2 info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
                                    .attachmentCount = 1,
                                    .pAttachments = &attachment,
                                    .subpassCount = 1,
                                    .pSubpasses = &subpass,
                                    .dependencyCount = 1,
                                    .pDependencies = &dependency};
    const struct place places[] = {
        {"VkRenderPassCreateInfo2", &info.pNext},
        {"VkAttachmentDescription2", &attachment.pNext},
        {"VkAttachmentReference2", &reference.pNext},
        {"VkSubpassDescription2", &subpass.pNext},
        {"VkSubpassDependency2", &dependency.pNext},
    };
    if (!HANG(places))
        return false;
    struct pm_harness_pipeline of;
    pm_harness_describe(&h, &of);
    PM_CHECK(h.vk.CreateRenderPass2(h.device, &info, NULL, &of.info.renderPass));
    make_graphics_of(&of.info);
    h.vk.DestroyRenderPass(h.device, of.info.renderPass, NULL);
    return true;
}

static bool compute(const char *base, const void *chain)
{
    VkShaderModuleCreateInfo words = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .pName = "main"},
        .layout = h.layout};
    const struct place places[] = {
        {"VkComputePipelineCreateInfo", &info.pNext},
        {"VkShaderModuleCreateInfo", &words.pNext},
    };
    if (!HANG(places))
        return false;
    words.pCode = pm_harness_compute_words(&words.codeSize);
    PM_CHECK(h.vk.CreateShaderModule(h.device, &words, NULL, &info.stage.module));
    VkPipeline pipeline;
    PM_CHECK(h.vk.CreateComputePipelines(h.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    h.vk.DestroyShaderModule(h.device, info.stage.module, NULL);
    return true;
}

/* A dispatch whose layout has an immutable sampler. */
static bool layout(const char *base, const void *chain)
{
    VkSamplerYcbcrConversionCreateInfo conversion = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_CREATE_INFO};
    VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .setLayoutCount = 1};
    const struct place places[] = {
        {"VkSamplerYcbcrConversionCreateInfo", &conversion.pNext},
        {"VkSamplerCreateInfo", &sampler.pNext},
        {"VkDescriptorSetLayoutCreateInfo", &set.pNext},
        {"VkPipelineLayoutCreateInfo", &info.pNext},
    };
    if (!HANG(places))
        return false;
    VkSamplerYcbcrConversionInfo converts = {.sType =
                                                 VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO};
    PM_CHECK(h.vk.CreateSamplerYcbcrConversion(h.device, &conversion, NULL, &converts.conversion));
    if (sampler.pNext == NULL)
        sampler.pNext = &converts;
    VkSampler immutable;
    PM_CHECK(h.vk.CreateSampler(h.device, &sampler, NULL, &immutable));
    const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                      VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_ALL,
                                                  .pImmutableSamplers = &immutable};
    set.pBindings = &binding;
    VkDescriptorSetLayout set_layout;
    PM_CHECK(h.vk.CreateDescriptorSetLayout(h.device, &set, NULL, &set_layout));
    info.pSetLayouts = &set_layout;
    VkPipelineLayout made;
    PM_CHECK(h.vk.CreatePipelineLayout(h.device, &info, NULL, &made));
    size_t size;
    const uint32_t *words = pm_harness_compute_words(&size);
    h.vk.DestroyPipeline(h.device, pm_harness_compute_of(&h, words, size, made), NULL);
    h.vk.DestroyPipelineLayout(h.device, made, NULL);
    h.vk.DestroyDescriptorSetLayout(h.device, set_layout, NULL);
    h.vk.DestroySampler(h.device, immutable, NULL);
    h.vk.DestroySamplerYcbcrConversion(h.device, converts.conversion, NULL);
    return true;
}

static bool shader_object(const char *base, const void *chain)
{
    if (strcmp(base, "VkShaderCreateInfoEXT") != 0)
        return false;
    VkShaderCreateInfoEXT info = {.sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT,
                                  .pNext = chain,
                                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                  .codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT,
                                  .pName = "main",
                                  .setLayoutCount = 1,
                                  .pSetLayouts = &h.set_layout};
    info.pCode = pm_harness_compute_words(&info.codeSize);
    VkShaderEXT shader;
    PM_CHECK(h.vk.CreateShadersEXT(h.device, 1, &info, NULL, &shader));
    h.vk.DestroyShaderEXT(h.device, shader, NULL);
    return true;
}

/* The variants that the layer makes of what has something chained to a structure of that name; -1:
 * there is no way to have one. */
static int variants_with(const char *base, const void *chain)
{
    static const way ways[] = {graphics, richer_graphics, render_pass,  render_pass2,
                               compute,  layout,          shader_object};
    const uint32_t pipelines = watch_counts().variants;
    const uint64_t position = h.driver->position();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!ways[i](base, chain))
            continue;
        const uint32_t objects = pm_calls_of(h.driver, position, "vkCreateShadersEXT");
        return (int)(watch_counts().variants - pipelines + objects - (ways[i] == shader_object));
    }
    return -1;
}

/* ---- the structures ---- */

/* Structures of the headers with which a pipeline is something that is not sampled, as this test
 * makes it: all zeroes. */
static bool is_not_sampled(const char *structure)
{
    static const char *const names[] = {
        "VkGraphicsPipelineLibraryCreateInfoEXT",     /* a library of nothing */
        "VkGraphicsPipelineShaderGroupsCreateInfoNV", /* several pipelines in one */
        "VkComputePipelineIndirectBufferInfoNV",      /* bound by its address */
        "VkSubpassShadingPipelineCreateInfoHUAWEI",   /* bound elsewhere */
        "VkOpaqueCaptureDescriptorDataCreateInfoEXT", /* its size is not in it */
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(structure, names[i]) == 0)
            return true;
    }
    return false;
}

static const struct taking {
    const char *base, *command; /* what is given to it */
} taking[] = {
#define X(base, command) {#base, #command},
    PM_TAKING(X)
#undef X
};

static const char *const copied[] = {
#define X(base) #base,
    PM_COPIED(X)
#undef X
};
enum { COPIED = sizeof copied / sizeof *copied };

static bool is_copied(const char *base)
{
    for (size_t i = 0; i < COPIED; i++)
        if (strcmp(base, copied[i]) == 0)
            return true;
    return false;
}

/* Whether there is a way to chain it there. */
static bool check(const char *base, const char *structure, VkBaseInStructure *known)
{
    VkBaseInStructure future = {.sType = PM_NEWER_TYPE};
    const int variants = variants_with(base, known);
    if (variants < 0)
        return false;
    if ((variants > 0) == is_not_sampled(structure))
        fail_msg("%s with %s: %d variants", base, structure, variants);
    /* Behind it something that nobody knows, and in front of it. */
    known->pNext = &future;
    if (variants_with(base, known) != 0)
        fail_msg("%s with %s and something unknown has variants", base, structure);
    known->pNext = NULL;
    future.pNext = known;
    if (variants_with(base, &future) != 0)
        fail_msg("%s with something unknown and %s has variants", base, structure);
    return true;
}

static void open_all(void)
{
    static const char *const extensions[] = {"VK_EXT_shader_object", "VK_KHR_swapchain", NULL};
    const VkPhysicalDeviceShaderObjectFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT,
        .shaderObject = VK_TRUE};
    const struct pm_harness_options options = {.device_extensions = extensions,
                                               .device_next = &features};
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", "4096", 1);
    watch_start(pm_harness_driver());
    pm_harness_open(&h, &options);
}

static void beside_nothing(void **state)
{
    (void)state;
    const VkBaseInStructure future = {.sType = PM_NEWER_TYPE};
    open_all();
    for (size_t i = 0; i < COPIED; i++) {
        const int variants = variants_with(copied[i], NULL);
        if (variants != 1)
            fail_msg("%s: %d variants", copied[i], variants);
        if (variants_with(copied[i], &future) != 0)
            fail_msg("%s with something unknown has variants", copied[i]);
    }
    pm_harness_close(&h);
    assert_true(COPIED >= 25);
}

static bool is_passed_on(const char *base)
{
    static const char *const names[] = {
#define X(structure, command, argument) #structure,
        PASSED_ON(X)
#undef X
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(base, names[i]) == 0)
            return true;
    return false;
}

/* Whether the layer answers to the name itself. */
static bool is_hooked(const char *command)
{
    Dl_info info;
    const PFN_vkVoidFunction function = vkGetDeviceProcAddr(h.device, command);
    return function && dladdr((void *)(uintptr_t)function, &info) && info.dli_fname &&
           strstr(info.dli_fname, "piecemeal");
}

static bool is_extended(const char *base)
{
    for (size_t i = 0; i < extending_count; i++)
        if (strcmp(base, extending[i].base) == 0)
            return true;
    return false;
}

/* What may be extended and is given to a hook is copied, or known to be passed on. */
static void what_hooks_are_given(void **state)
{
    (void)state;
    const char *last = "";
    uint32_t of_copied = 0, passed_on = 0;
    open_all();
    for (size_t i = 0; i < sizeof taking / sizeof *taking; i++) {
        const char *base = taking[i].base;
        if (strcmp(last, base) == 0 || !is_extended(base) || !is_hooked(taking[i].command))
            continue;
        last = base;
        if (is_copied(base))
            of_copied++;
        else if (is_passed_on(base))
            print_message("%s%s", passed_on++ > 0 ? ", " : "passed on: ", base);
        else
            fail_msg("nobody knows what %s makes of what extends %s", taking[i].command, base);
    }
    pm_harness_close(&h);
    print_message("\nHooks are given these %u, and %u that are copied.\n", passed_on, of_copied);
    assert_true(of_copied >= 20 && passed_on >= 10);
}

static void beside_every_structure(void **state)
{
    (void)state;
    uint32_t checked = 0;
    open_all();
    for (size_t i = 0; i < extending_count; i++) {
        VkBaseInStructure *known = calloc(1, extending[i].size);
        assert_non_null(known);
        known->sType = extending[i].type;
        if (check(extending[i].base, extending[i].structure, known))
            checked++;
        else if (is_copied(extending[i].base))
            fail_msg("%s, which the layer copies, is not checked with %s", extending[i].base,
                     extending[i].structure);
        free(known);
    }
    /* What is like the headers is sampled as ever. */
    assert_int_equal(variants_with("VkGraphicsPipelineCreateInfo", NULL), 1);
    pm_harness_close(&h);
    print_message("%u structures are checked; all others extend what is not copied\n", checked);
    assert_true(checked >= 78);
}

/* What the headers declare for provisional extensions alone the layer knows no more than what is
 * newer. */
static void beside_provisional_structures(void **state)
{
    (void)state;
    uint32_t checked = 0;
    open_all();
#define X(base, structure, type)                                                                   \
    {                                                                                              \
        structure known = {.sType = type};                                                         \
        const int variants = variants_with(#base, &known);                                         \
        if (variants > 0)                                                                          \
            fail_msg(#base " with " #structure ": %d variants", variants);                         \
        checked += variants == 0;                                                                  \
    }
    PM_EXTENDING_PROVISIONAL(X)
#undef X
    assert_int_equal(variants_with("VkPipelineShaderStageCreateInfo", NULL), 1);
    pm_harness_close(&h);
    assert_true(checked >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(beside_nothing),
        PM_LAYERED_TEST(what_hooks_are_given),
        PM_LAYERED_TEST(beside_every_structure),
        PM_LAYERED_TEST(beside_provisional_structures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
