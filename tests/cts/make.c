/* Every way to make a pipeline. */
#include "tests/cts/ways.h"

static void inline_words(struct cts *cts, VkShaderModuleCreateInfo *words,
                         VkPipelineShaderStageCreateInfo *stage)
{
    *words = (VkShaderModuleCreateInfo){.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                        .codeSize = cts->word_count * sizeof(uint32_t),
                                        .pCode = cts->words};
    stage->module = VK_NULL_HANDLE;
    stage->pNext = words;
}

static void name_pipeline(const struct cts *cts, VkPipeline pipeline, const char *name)
{
    pm_gpu_name(&cts->gpu, VK_OBJECT_TYPE_PIPELINE, (uint64_t)pipeline, name);
}

/* ---- libraries ---- */

#define INPUT VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT
#define BEFORE VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT
#define FRAGMENT VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT
#define OUTPUT VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT

/* Of libraries with one of the two stages alone. Games make the layouts of these independent of one
 * another, so that drivers must copy and merge them. */
static VkPipelineLayout part_layout(struct cts *cts, bool fragment)
{
    static const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_GPU_PUSH_BYTES};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .flags =
                                                 VK_PIPELINE_LAYOUT_CREATE_INDEPENDENT_SETS_BIT_EXT,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &cts->gpu.set_layout,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &push};
    VkPipelineLayout *layout = &cts->part_layouts[fragment];
    if (*layout == VK_NULL_HANDLE)
        CHECK(vkCreatePipelineLayout(cts->gpu.device, &info, NULL, layout));
    return *layout;
}

static VkPipeline make_part(struct cts *cts, VkGraphicsPipelineLibraryFlagsEXT part, bool optimize)
{
    struct cts_description d;
    cts_describe(cts, &d);
    const VkGraphicsPipelineLibraryCreateInfoEXT library = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT,
        .pNext = (void *)(uintptr_t)d.info.pNext,
        .flags = part};
    VkGraphicsPipelineCreateInfo *info = &d.info;
    info->pNext = &library;
    info->flags = VK_PIPELINE_CREATE_LIBRARY_BIT_KHR;
    if (optimize)
        info->flags |= VK_PIPELINE_CREATE_RETAIN_LINK_TIME_OPTIMIZATION_INFO_BIT_EXT;
    const bool before = part & BEFORE, fragment = part & FRAGMENT;
    info->stageCount = (uint32_t)before + (uint32_t)fragment;
    info->pStages = before ? d.stages : fragment ? d.stages + 1 : NULL;
    if (!(part & INPUT))
        info->pVertexInputState = NULL, info->pInputAssemblyState = NULL;
    if (!before)
        info->pViewportState = NULL, info->pRasterizationState = NULL;
    if (!(part & (FRAGMENT | OUTPUT)))
        info->pMultisampleState = NULL;
    if (!fragment)
        info->pDepthStencilState = NULL;
    if (!(part & OUTPUT))
        info->pColorBlendState = NULL;
    if (before != fragment && cts->gpu.layout == cts->layouts[0])
        info->layout = part_layout(cts, fragment);
    VkPipeline pipeline;
    CHECK(vkCreateGraphicsPipelines(cts->gpu.device, VK_NULL_HANDLE, 1, info, NULL, &pipeline));
    name_pipeline(cts, pipeline, "library");
    return pipeline;
}

/* Of libraries, which stay until the end. */
static VkPipeline link_made(struct cts *cts, const VkPipeline *libraries, uint32_t count,
                            VkPipelineCreateFlags flags)
{
    const VkPipelineLibraryCreateInfoKHR list = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR,
        .libraryCount = count,
        .pLibraries = libraries};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &list,
                                               .flags = flags,
                                               .layout = cts->gpu.layout,
                                               .basePipelineIndex = -1};
    VkPipeline pipeline;
    CHECK(vkCreateGraphicsPipelines(cts->gpu.device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    for (uint32_t i = 0; i < count; i++)
        cts->libraries[cts->library_count++] = libraries[i];
    return pipeline;
}

static void need_libraries(const struct cts *cts)
{
    if (!(cts->gpu.extensions & CTS_GRAPHICS_LIBRARIES))
        cts_unsupported("VK_EXT_graphics_pipeline_library");
}

static VkPipeline link(struct cts *cts, const VkGraphicsPipelineLibraryFlagsEXT *parts,
                       uint32_t count, bool optimize)
{
    VkPipeline libraries[4];
    need_libraries(cts);
    for (uint32_t i = 0; i < count; i++)
        libraries[optimize ? i : count - 1 - i] = make_part(cts, parts[i], optimize);
    return link_made(cts, libraries, count,
                     optimize ? VK_PIPELINE_CREATE_LINK_TIME_OPTIMIZATION_BIT_EXT : 0);
}

/* Of two libraries that are linked of two each. */
static VkPipeline link_nested(struct cts *cts)
{
    static const VkGraphicsPipelineLibraryFlagsEXT parts[2][2] = {{INPUT, BEFORE},
                                                                  {FRAGMENT, OUTPUT}};
    VkPipeline outer[2];
    need_libraries(cts);
    for (int i = 0; i < 2; i++) {
        const VkPipeline inner[2] = {make_part(cts, parts[i][0], false),
                                     make_part(cts, parts[i][1], false)};
        outer[i] = link_made(cts, inner, 2, VK_PIPELINE_CREATE_LIBRARY_BIT_KHR);
    }
    return link_made(cts, outer, 2, 0);
}

/* ---- what both kinds have in common ---- */

/* One of the two create infos, and what each way changes in it. */
struct infos {
    struct cts *cts;
    VkGraphicsPipelineCreateInfo *graphics; /* NULL: compute */
    VkComputePipelineCreateInfo *compute;
};

static VkResult create(const struct infos *infos, VkPipelineCache cache, uint32_t count,
                       const VkAllocationCallbacks *allocator, VkPipeline *out)
{
    VkDevice device = infos->cts->gpu.device;
    return infos->graphics
               ? vkCreateGraphicsPipelines(device, cache, count, infos->graphics, allocator, out)
               : vkCreateComputePipelines(device, cache, count, infos->compute, allocator, out);
}

static VkPipelineCreateFlags *flags_of(const struct infos *infos)
{
    return infos->graphics ? &infos->graphics->flags : &infos->compute->flags;
}

static const void **next_of(const struct infos *infos)
{
    return infos->graphics ? &infos->graphics->pNext : &infos->compute->pNext;
}

static void add_flags(const struct infos *infos, VkPipelineCreateFlags2 flags,
                      VkPipelineCreateFlags2CreateInfo *wide)
{
    if (flags <= INT32_MAX) {
        *flags_of(infos) |= (VkPipelineCreateFlags)flags;
        return;
    }
    *wide = (VkPipelineCreateFlags2CreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO,
        .pNext = *next_of(infos),
        .flags = *flags_of(infos) | flags};
    *next_of(infos) = wide;
}

static VkPipeline made(const struct infos *infos)
{
    VkPipeline pipeline;
    CHECK(create(infos, VK_NULL_HANDLE, 1, NULL, &pipeline));
    return pipeline;
}

static VkPipeline through_a_cache(const struct infos *infos)
{
    VkDevice device = infos->cts->gpu.device;
    const VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    VkPipelineCache cache;
    CHECK(vkCreatePipelineCache(device, &info, NULL, &cache));
    VkPipeline first, second;
    CHECK(create(infos, cache, 1, NULL, &first));
    CHECK(create(infos, cache, 1, NULL, &second));
    vkDestroyPipeline(device, first, NULL);
    vkDestroyPipelineCache(device, cache, NULL);
    return second;
}

static VkPipeline from_another(const struct infos *infos)
{
    *flags_of(infos) = VK_PIPELINE_CREATE_ALLOW_DERIVATIVES_BIT;
    const VkPipeline base = made(infos);
    *flags_of(infos) = VK_PIPELINE_CREATE_DERIVATIVE_BIT;
    if (infos->graphics)
        infos->graphics->basePipelineHandle = base;
    else
        infos->compute->basePipelineHandle = base;
    const VkPipeline pipeline = made(infos);
    vkDestroyPipeline(infos->cts->gpu.device, base, NULL);
    return pipeline;
}

static VkPipeline of_a_batch(const struct infos *infos)
{
    VkGraphicsPipelineCreateInfo graphics[3];
    VkComputePipelineCreateInfo compute[3];
    struct infos three = *infos;
    for (int i = 0; i < 3; i++) {
        if (infos->graphics)
            graphics[i] = *infos->graphics;
        else
            compute[i] = *infos->compute;
    }
    if (infos->graphics)
        three.graphics = graphics;
    else
        three.compute = compute;
    VkPipeline pipelines[3];
    CHECK(create(&three, VK_NULL_HANDLE, 3, NULL, pipelines));
    vkDestroyPipeline(infos->cts->gpu.device, pipelines[0], NULL);
    vkDestroyPipeline(infos->cts->gpu.device, pipelines[2], NULL);
    return pipelines[1];
}

static VkPipeline retried(const struct infos *infos)
{
    VkPipeline pipeline = VK_NULL_HANDLE;
    *flags_of(infos) = VK_PIPELINE_CREATE_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT |
                       VK_PIPELINE_CREATE_EARLY_RETURN_ON_FAILURE_BIT;
    const VkResult result = create(infos, VK_NULL_HANDLE, 1, NULL, &pipeline);
    if (result == VK_SUCCESS)
        return pipeline;
    if (result != VK_PIPELINE_COMPILE_REQUIRED || pipeline != VK_NULL_HANDLE)
        cts_fail("a refused compile returns %d", result);
    *flags_of(infos) = 0;
    return made(infos);
}

static VkPipeline with_feedback(const struct infos *infos)
{
    VkPipelineCreationFeedback whole = {0}, stages[2] = {0};
    const VkPipelineCreationFeedbackCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pNext = *next_of(infos),
        .pPipelineCreationFeedback = &whole,
        .pipelineStageCreationFeedbackCount = infos->graphics ? 2 : 1,
        .pPipelineStageCreationFeedbacks = stages};
    *next_of(infos) = &info;
    return made(infos);
}

static VkPipeline with_allocator(const struct infos *infos)
{
    VkPipeline pipeline;
    CHECK(create(infos, VK_NULL_HANDLE, 1, &cts_allocator, &pipeline));
    vkDestroyPipeline(infos->cts->gpu.device, pipeline, &cts_allocator);
    return made(infos);
}

static VkPipeline again(const struct infos *infos)
{
    for (int i = 0; i < 3; i++)
        vkDestroyPipeline(infos->cts->gpu.device, made(infos), NULL);
    return made(infos);
}

/* All that the pipeline is made of is the game's own for this one, and gone when it is there. */
static VkPipeline early(const struct infos *infos, VkPipelineShaderStageCreateInfo *stage)
{
    struct cts *cts = infos->cts;
    VkDevice device = cts->gpu.device;
    const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_GPU_PUSH_BYTES};
    const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                             .setLayoutCount = 1,
                                             .pSetLayouts = &cts->gpu.set_layout,
                                             .pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &push};
    VkPipelineLayout layout;
    CHECK(vkCreatePipelineLayout(device, &info, NULL, &layout));
    if (infos->graphics)
        infos->graphics->layout = layout;
    else
        infos->compute->layout = layout;
    stage->module = gpu_module(&cts->gpu, cts->words, cts->word_count);
    const VkPipeline pipeline = made(infos);
    vkDestroyShaderModule(device, stage->module, NULL);
    vkDestroyPipelineLayout(device, layout, NULL);
    return pipeline;
}

static VkPipeline make_as(const struct infos *infos, enum cts_make make,
                          VkPipelineShaderStageCreateInfo *stage)
{
    switch (make) {
    case CTS_CACHED:
        return through_a_cache(infos);
    case CTS_DERIVED:
        return from_another(infos);
    case CTS_BATCH:
        return of_a_batch(infos);
    case CTS_EARLY:
        return early(infos, stage);
    case CTS_RETRIED:
        return retried(infos);
    case CTS_FEEDBACK:
        return with_feedback(infos);
    case CTS_ALLOCATOR:
        return with_allocator(infos);
    case CTS_AGAIN:
        return again(infos);
    default:
        return made(infos);
    }
}

/* ---- the two kinds ---- */

static VkPipeline make_graphics(struct cts *cts, const struct cts_case *of)
{
    static const VkGraphicsPipelineLibraryFlagsEXT parts[4] = {INPUT, BEFORE, FRAGMENT, OUTPUT},
                                                   halves[2] = {INPUT | BEFORE, FRAGMENT | OUTPUT};
    if (of->make == CTS_LINKED || of->make == CTS_OPTIMIZED)
        return link(cts, parts, 4, of->make == CTS_OPTIMIZED);
    if (of->make == CTS_HALVES)
        return link(cts, halves, 2, false);
    if (of->way == CTS_NESTED_LIBRARIES)
        return link_nested(cts);
    struct cts_description d;
    cts_describe(cts, &d);
    if (cts_way(of)->describe)
        cts_way(of)->describe(cts, &d);
    if (of->make == CTS_DYNAMIC)
        cts_make_dynamic(cts, &d);
    if (of->make == CTS_CONSTANTS)
        d.stages[1].pSpecializationInfo = &d.specialization;
    if (of->make == CTS_INLINED)
        inline_words(cts, &d.words[1], &d.stages[1]);
    const struct infos infos = {.cts = cts, .graphics = &d.info};
    VkPipelineCreateFlags2CreateInfo wide;
    add_flags(&infos, cts_way(of)->flags, &wide);
    return make_as(&infos, of->make, &d.stages[1]);
}

static VkPipeline make_compute(struct cts *cts, const struct cts_case *of)
{
    struct cts_description d = {0};
    cts_describe_stages(cts, &d);
    if (cts_way(of)->describe)
        cts_way(of)->describe(cts, &d);
    VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                        .pNext = d.info.pNext,
                                        .stage = d.stages[1],
                                        .layout = cts->gpu.layout,
                                        .basePipelineIndex = -1};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    if (of->use == CTS_INDEXED)
        info.flags = VK_PIPELINE_CREATE_DISPATCH_BASE;
    if (of->make == CTS_CONSTANTS)
        info.stage.pSpecializationInfo = &d.specialization;
    if (of->make == CTS_INLINED)
        inline_words(cts, &d.words[1], &info.stage);
    const struct infos infos = {.cts = cts, .compute = &info};
    VkPipelineCreateFlags2CreateInfo wide;
    add_flags(&infos, cts_way(of)->flags, &wide);
    return make_as(&infos, of->make, &info.stage);
}

VkPipeline cts_make_pipeline(struct cts *cts, const struct cts_case *of)
{
    if (of->make == CTS_INLINED && !(cts->gpu.extensions & CTS_GRAPHICS_LIBRARIES))
        cts_unsupported("SPIR-V in a stage");
    if (cts_has_objects(of)) {
        cts_objects_create(cts, of);
        return VK_NULL_HANDLE;
    }
    const VkPipeline pipeline = of->compute ? make_compute(cts, of) : make_graphics(cts, of);
    name_pipeline(cts, pipeline, of->shader);
    return pipeline;
}

VkPipeline cts_make_other(struct cts *cts, const struct cts_case *of)
{
    struct cts_case direct = *of;
    direct.make = CTS_DIRECT;
    return cts_make_pipeline(cts, &direct);
}
