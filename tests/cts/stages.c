/* Stages that most pipelines are without. All make the triangles that the vertex shader would. */
#include "tests/cts/ways.h"

static VkPhysicalDeviceFeatures features_of(const struct cts *cts)
{
    VkPhysicalDeviceFeatures features;
    vkGetPhysicalDeviceFeatures(cts->gpu.physical, &features);
    return features;
}

/* ---- tessellation ---- */

static void open_tessellation(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    if (!features_of(cts).tessellationShader)
        cts_unsupported("tessellation shaders");
    cts->way_modules[0] = cts_load(cts, "whole.tesc");
    cts->way_modules[1] = cts_load(cts, "whole.tese");
}

static void describe_tessellation(const struct cts *cts, struct cts_description *d)
{
    d->stages[2] = cts_stage(VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, cts->way_modules[0]);
    d->stages[3] = cts_stage(VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, cts->way_modules[1]);
    d->tessellation = (VkPipelineTessellationStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_STATE_CREATE_INFO,
        .patchControlPoints = 3};
    d->fixed.assembly.topology = VK_PRIMITIVE_TOPOLOGY_PATCH_LIST;
    d->info.stageCount = 4;
    d->info.pTessellationState = &d->tessellation;
}

const struct cts_way_of cts_tessellation = {.open = open_tessellation,
                                            .describe = describe_tessellation};

/* ---- geometry ---- */

static void open_geometry(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    if (!features_of(cts).geometryShader)
        cts_unsupported("geometry shaders");
    cts->way_modules[0] = cts_load(cts, "whole.geom");
}

static void describe_geometry(const struct cts *cts, struct cts_description *d)
{
    d->stages[2] = cts_stage(VK_SHADER_STAGE_GEOMETRY_BIT, cts->way_modules[0]);
    d->info.stageCount = 3;
}

const struct cts_way_of cts_geometry = {.open = open_geometry, .describe = describe_geometry};

/* ---- meshes, without and with tasks ---- */

static void open_mesh(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    cts->way_modules[0] = cts_load(cts, "triangles.mesh");
}

static void describe_mesh(const struct cts *cts, struct cts_description *d)
{
    d->stages[0] = cts_stage(VK_SHADER_STAGE_MESH_BIT_EXT, cts->way_modules[0]);
    d->info.pVertexInputState = NULL;
    d->info.pInputAssemblyState = NULL;
}

static void draw_meshes(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                        VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    cts->vk.CmdDrawMeshTasksEXT(commands, CTS_VERTICES / 3, 1, 1);
}

const struct cts_way_of cts_mesh = {
    .extensions = {"VK_EXT_mesh_shader"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT},
    .open = open_mesh,
    .describe = describe_mesh,
    .call = draw_meshes};

static void open_task(struct cts *cts, const struct cts_case *of)
{
    VkPhysicalDeviceMeshShaderFeaturesEXT meshes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &meshes};
    (void)of;
    vkGetPhysicalDeviceFeatures2(cts->gpu.physical, &features);
    if (!meshes.taskShader)
        cts_unsupported("task shaders");
    cts->way_modules[0] = cts_load(cts, "asked.mesh");
    cts->way_modules[1] = cts_load(cts, "pairs.task");
}

static void describe_task(const struct cts *cts, struct cts_description *d)
{
    describe_mesh(cts, d);
    d->stages[2] = cts_stage(VK_SHADER_STAGE_TASK_BIT_EXT, cts->way_modules[1]);
    d->info.stageCount = 3;
}

/* Each task asks for the meshes of two triangles. */
static void draw_tasks(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                       VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    cts->vk.CmdDrawMeshTasksEXT(commands, CTS_VERTICES / 6, 1, 1);
}

const struct cts_way_of cts_task = {
    .extensions = {"VK_EXT_mesh_shader"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT},
    .open = open_task,
    .describe = describe_task,
    .call = draw_tasks};
