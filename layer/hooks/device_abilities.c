#include "layer/hooks/device_abilities.h"

#include "layer/core/session.h"
#include "layer/generate/create_info.h"
#include "layer/hooks/device_chain.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A feature that is a member of a core version's structure of features, and of a structure of its
 * own that was an extension's before. Using both structures in one chain is not allowed. Or one
 * that is an extension's still: then core is later than any version and `all` no structure's type.
 */
struct feature {
    const char *extension;
    uint32_t core; /* the version */
    VkStructureType all, type;
    size_t size, offset, offset_in_all;
};

#define FEATURE_OF(minor, extension, type, structure, member)                                      \
    {                                                                                              \
        extension, VK_API_VERSION_1_##minor,                                                       \
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_##minor##_FEATURES,                         \
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type##_FEATURES, sizeof(structure),                \
            offsetof(structure, member),                                                           \
            offsetof(VkPhysicalDeviceVulkan1##minor##Features, member)                             \
    }
#define FEATURE(extension, type, structure, member)                                                \
    FEATURE_OF(2, extension, type, structure, member)

static const struct feature buffer_address =
    FEATURE(VK_KHR_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME, BUFFER_DEVICE_ADDRESS,
            VkPhysicalDeviceBufferDeviceAddressFeatures, bufferDeviceAddress);
static const struct feature timeline =
    FEATURE(VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, TIMELINE_SEMAPHORE,
            VkPhysicalDeviceTimelineSemaphoreFeatures, timelineSemaphore);
static const struct feature int64_atomics =
    FEATURE(VK_KHR_SHADER_ATOMIC_INT64_EXTENSION_NAME, SHADER_ATOMIC_INT64,
            VkPhysicalDeviceShaderAtomicInt64Features, shaderBufferInt64Atomics);
static const struct feature memory_model =
    FEATURE(VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME, VULKAN_MEMORY_MODEL,
            VkPhysicalDeviceVulkanMemoryModelFeatures, vulkanMemoryModel);
static const struct feature memory_model_scope =
    FEATURE(VK_KHR_VULKAN_MEMORY_MODEL_EXTENSION_NAME, VULKAN_MEMORY_MODEL,
            VkPhysicalDeviceVulkanMemoryModelFeatures, vulkanMemoryModelDeviceScope);
static const struct feature scalar_layout =
    FEATURE(VK_EXT_SCALAR_BLOCK_LAYOUT_EXTENSION_NAME, SCALAR_BLOCK_LAYOUT,
            VkPhysicalDeviceScalarBlockLayoutFeatures, scalarBlockLayout);
static const struct feature uniform_layout =
    FEATURE(VK_KHR_UNIFORM_BUFFER_STANDARD_LAYOUT_EXTENSION_NAME, UNIFORM_BUFFER_STANDARD_LAYOUT,
            VkPhysicalDeviceUniformBufferStandardLayoutFeatures, uniformBufferStandardLayout);
static const struct feature host_query_reset =
    FEATURE(VK_EXT_HOST_QUERY_RESET_EXTENSION_NAME, HOST_QUERY_RESET,
            VkPhysicalDeviceHostQueryResetFeatures, hostQueryReset);
static const struct feature cache_control = FEATURE_OF(
    3, VK_EXT_PIPELINE_CREATION_CACHE_CONTROL_EXTENSION_NAME, PIPELINE_CREATION_CACHE_CONTROL,
    VkPhysicalDevicePipelineCreationCacheControlFeatures, pipelineCreationCacheControl);

static const struct feature subgroup_sizes =
    FEATURE_OF(3, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME, SUBGROUP_SIZE_CONTROL,
               VkPhysicalDeviceSubgroupSizeControlFeatures, subgroupSizeControl);

static const struct feature conditional_rendering = {
    .extension = VK_EXT_CONDITIONAL_RENDERING_EXTENSION_NAME,
    .core = UINT32_MAX,
    .all = VK_STRUCTURE_TYPE_MAX_ENUM,
    .type = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT,
    .size = sizeof(VkPhysicalDeviceConditionalRenderingFeaturesEXT),
    .offset = offsetof(VkPhysicalDeviceConditionalRenderingFeaturesEXT, conditionalRendering)};

static void *find_in_chain(const VkDeviceCreateInfo *info, VkStructureType type)
{
    return (void *)(uintptr_t)pm_find_in_chain(info->pNext, type);
}

static VkBool32 *member(void *structure, size_t offset)
{
    return (VkBool32 *)(void *)((char *)structure + offset);
}

/* Where the chain says whether the feature is on; NULL: nowhere, so it is off. */
static VkBool32 *find_feature(const VkDeviceCreateInfo *info, const struct feature *feature)
{
    void *all = find_in_chain(info, feature->all);
    if (all != NULL)
        return member(all, feature->offset_in_all);
    void *own = find_in_chain(info, feature->type);
    return own != NULL ? member(own, feature->offset) : NULL;
}

static bool is_on(const VkDeviceCreateInfo *info, const struct feature *feature)
{
    const VkBool32 *value = find_feature(info, feature);
    return value != NULL && *value;
}

/* Whether it is off where nothing of ours could turn it on: what says so is the game's own, behind
 * a structure that could not be copied (device_chain.h). */
static bool is_left_out(const VkDeviceCreateInfo *info, const VkDeviceCreateInfo *asked,
                        const struct feature *feature)
{
    const VkBool32 *value = find_feature(info, feature);
    return info != asked && value != NULL && !*value && value == find_feature(asked, feature);
}

static VkPhysicalDeviceFeatures *core_features(const VkDeviceCreateInfo *info)
{
    VkPhysicalDeviceFeatures2 *two =
        find_in_chain(info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    return two != NULL ? &two->features
                       : (VkPhysicalDeviceFeatures *)(uintptr_t)info->pEnabledFeatures;
}

static bool has_extension(const VkDeviceCreateInfo *info, const char *name)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (strcmp(info->ppEnabledExtensionNames[i], name) == 0)
            return true;
    }
    return false;
}

uint32_t pm_device_api_version(const struct pm_instance *instance,
                               const VkPhysicalDeviceProperties *properties)
{
    /* A patch version says nothing about what is there. */
    uint32_t a = instance->api_version & ~0xfffu, b = properties->apiVersion & ~0xfffu;
    return a < b ? a : b;
}

/* ---- asking for more ---- */

struct request {
    struct pm_arena *arena;
    const struct pm_instance *instance;
    VkPhysicalDevice physical;
    uint32_t api_version;
    VkExtensionProperties *extensions; /* that the device has */
    uint32_t extension_count;
    VkDeviceCreateInfo *info; /* the copy */
    const void *shared;       /* where its chain becomes the game's own; NULL: nowhere */
    const char **names;       /* its extensions, with room for ours */
};

static bool device_has(const struct request *request, const char *extension)
{
    for (uint32_t i = 0; i < request->extension_count; i++) {
        if (strcmp(request->extensions[i].extensionName, extension) == 0)
            return true;
    }
    return false;
}

static bool is_supported(const struct request *request, const struct feature *feature)
{
    if (request->api_version < feature->core && !device_has(request, feature->extension))
        return false;
    VkBaseOutStructure *own = pm_arena_zalloc(request->arena, 1, feature->size);
    if (own == NULL)
        return false;
    own->sType = feature->type;
    VkPhysicalDeviceFeatures2 two = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = own,
    };
    request->instance->dispatch.GetPhysicalDeviceFeatures2(request->physical, &two);
    return *member(own, feature->offset);
}

/* The structure that says whether the feature is on is the game's, behind one of a type that is
 * newer than our headers. */
static bool is_out_of_reach(const struct request *request, const struct feature *feature)
{
    return pm_find_in_chain(request->shared, feature->all) != NULL ||
           pm_find_in_chain(request->shared, feature->type) != NULL;
}

/* Turns a feature on where the device has it. */
static void ask(struct request *request, const struct feature *feature)
{
    if (is_on(request->info, feature) || !is_supported(request, feature))
        return;
    if (is_out_of_reach(request, feature)) {
        const VkBaseInStructure *unknown = request->shared;
        pm_log_info(request->instance->log,
                    "what %s brings is not asked for: a structure of unknown sType %u comes before "
                    "where the game leaves it out",
                    feature->extension, (unsigned)unknown->sType);
        return;
    }
    VkBool32 *value = find_feature(request->info, feature);
    if (value == NULL) {
        VkBaseOutStructure *own = pm_arena_zalloc(request->arena, 1, feature->size);
        if (own == NULL)
            return;
        own->sType = feature->type;
        own->pNext = (VkBaseOutStructure *)(uintptr_t)request->info->pNext;
        request->info->pNext = own;
        value = member(own, feature->offset);
    }
    *value = VK_TRUE;
    if (request->api_version < feature->core && !has_extension(request->info, feature->extension))
        request->names[request->info->enabledExtensionCount++] = feature->extension;
}

static void ask_core(struct request *request)
{
    VkPhysicalDeviceFeatures has;
    request->instance->dispatch.GetPhysicalDeviceFeatures(request->physical, &has);
    if (pm_find_in_chain(request->shared, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) != NULL)
        return; /* out of reach */
    VkPhysicalDeviceFeatures *features = core_features(request->info);
    if (features == NULL || features == request->info->pEnabledFeatures) {
        /* A copy; or neither form is there, so that either may be used. */
        const VkPhysicalDeviceFeatures none = {0};
        features = pm_arena_dup(request->arena, features != NULL ? features : &none, sizeof none);
        if (features == NULL)
            return;
        request->info->pEnabledFeatures = features;
    }
    features->fragmentStoresAndAtomics |= has.fragmentStoresAndAtomics;
    features->shaderInt64 |= has.shaderInt64;
}

static bool list_extensions(struct request *request)
{
    PFN_vkEnumerateDeviceExtensionProperties list =
        request->instance->dispatch.EnumerateDeviceExtensionProperties;
    VkResult result = list(request->physical, NULL, &request->extension_count, NULL);
    if (result == VK_SUCCESS && request->extension_count > 0) {
        request->extensions =
            pm_arena_zalloc(request->arena, request->extension_count, sizeof *request->extensions);
        if (request->extensions == NULL)
            return false;
        result = list(request->physical, NULL, &request->extension_count, request->extensions);
    }
    return result == VK_SUCCESS || result == VK_INCOMPLETE;
}

#define MOST_EXTENSIONS_ADDED 8

/* The info with as much of its chain as can be changed; what its other pointers point to is the
 * game's. */
static bool copy_info(struct request *request, const VkDeviceCreateInfo *info)
{
    static const VkStructureType changed[] = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_CREATION_CACHE_CONTROL_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES,
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT,
    };
    struct pm_device_chain chain;
    request->info = pm_arena_dup(request->arena, info, sizeof *info);
    if (request->info == NULL ||
        !pm_device_chain_copy(&chain, request->arena, request->instance, request->physical,
                              info->pNext, changed, sizeof changed / sizeof changed[0]))
        return false;
    request->info->pNext = chain.first;
    request->shared = chain.shared;
    return true;
}

VkDeviceCreateInfo *pm_device_extend(struct pm_arena *arena, const struct pm_instance *instance,
                                     VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                     struct pm_error *error)
{
    VkPhysicalDeviceProperties properties;
    instance->dispatch.GetPhysicalDeviceProperties(physical, &properties);
    struct request request = {.arena = arena, .instance = instance, .physical = physical};
    request.api_version = pm_device_api_version(instance, &properties);
    if (request.api_version < VK_API_VERSION_1_1 ||
        instance->dispatch.GetPhysicalDeviceFeatures2 == NULL) {
        pm_fail(error, PM_ERROR_UNSUPPORTED, "the device or the loader has only Vulkan 1.0");
        return NULL;
    }
    if (has_extension(info, VK_EXT_BUFFER_DEVICE_ADDRESS_EXTENSION_NAME)) {
        pm_fail(error, PM_ERROR_UNSUPPORTED,
                "the game uses VK_EXT_buffer_device_address, "
                "which excludes the other buffer addresses");
        return NULL;
    }
    if (!copy_info(&request, info)) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory");
        return NULL;
    }
    request.names = pm_arena_zalloc(arena, info->enabledExtensionCount + MOST_EXTENSIONS_ADDED,
                                    sizeof *request.names);
    if (request.names == NULL || !list_extensions(&request)) {
        pm_fail(error, PM_ERROR_DEVICE, "the device does not tell its extensions");
        return NULL;
    }
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        request.names[i] = request.info->ppEnabledExtensionNames[i];
    request.info->ppEnabledExtensionNames = request.names;
    ask_core(&request);
    ask(&request, &buffer_address);
    ask(&request, &timeline);
    if (pm_session_tries(instance))
        ask(&request, &host_query_reset);
    if (pm_session_optimizes(instance) && instance->config.limits.proven_ms_per_second > 0)
        ask(&request, &cache_control);
    if (pm_session_tests_variants(instance))
        ask(&request, &subgroup_sizes);
    const VkPhysicalDeviceFeatures *core = core_features(request.info);
    if (core != NULL && core->shaderInt64)
        ask(&request, &int64_atomics);
    if (is_on(request.info, &memory_model))
        ask(&request, &memory_model_scope);
    if (pm_session_samples(instance) && instance->config.limits.predicates > 0 &&
        !has_extension(info, conditional_rendering.extension))
        ask(&request, &conditional_rendering);
    return request.info;
}

/* ---- what came of it ---- */

static void find_target(struct pm_device *device, const VkDeviceCreateInfo *info, uint32_t version)
{
    struct pm_target *target = &device->abilities.target;
    const VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR *workgroup = find_in_chain(
        info, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR);
    *target = (struct pm_target){
        .vulkan_minor = VK_API_VERSION_MINOR(version),
        .spirv_1_4 = has_extension(info, VK_KHR_SPIRV_1_4_EXTENSION_NAME),
        .scalar_block_layout = is_on(info, &scalar_layout),
        .relaxed_block_layout = true, /* core in 1.1 */
        .uniform_buffer_standard_layout = is_on(info, &uniform_layout),
        .workgroup_explicit_layout = workgroup != NULL && workgroup->workgroupMemoryExplicitLayout,
    };
}

/* A driver that does not know the structure leaves it alone. */
static void find_driver(struct pm_device *device)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &driver,
    };
    device->instance->dispatch.GetPhysicalDeviceProperties2(device->physical, &properties);
    device->abilities.driver_id = (uint32_t)driver.driverID;
    memcpy(device->abilities.driver_info, driver.driverInfo, sizeof(driver.driverInfo));
}

/* A driver that does not know the sizes' structure leaves it alone. */
static void find_subgroups(struct pm_device *device)
{
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
    };
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
        .pNext = &sizes,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &subgroup,
    };
    device->instance->dispatch.GetPhysicalDeviceProperties2(device->physical, &properties);
    const VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT;
    bool enough = (subgroup.supportedOperations & needed) == needed;
    struct pm_device_abilities *abilities = &device->abilities;
    abilities->subgroup_size = subgroup.subgroupSize;
    abilities->most_lanes = subgroup.subgroupSize > sizes.maxSubgroupSize ? subgroup.subgroupSize
                                                                          : sizes.maxSubgroupSize;
    abilities->subgroup_arithmetic =
        (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
    abilities->subgroup_vote = (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_VOTE_BIT) != 0;
    abilities->subgroup_quad = (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_QUAD_BIT) != 0;
    abilities->full_subgroup_compute =
        enough && (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    abilities->full_subgroup_fragment =
        enough && (subgroup.supportedStages & VK_SHADER_STAGE_FRAGMENT_BIT) != 0;
}

/* Which sizes of subgroups can be asked for. A driver that does not know the structure leaves it
 * alone. */
static void find_subgroup_sizes(struct pm_device *device)
{
    struct pm_device_abilities *abilities = &device->abilities;
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &sizes,
    };
    device->instance->dispatch.GetPhysicalDeviceProperties2(device->physical, &properties);
    if ((sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0 ||
        sizes.minSubgroupSize == sizes.maxSubgroupSize)
        return;
    abilities->least_subgroup_size = sizes.minSubgroupSize;
    abilities->most_subgroup_size = sizes.maxSubgroupSize;
    abilities->most_subgroups = sizes.maxComputeWorkgroupSubgroups;
}

void pm_device_find_abilities(struct pm_device *device, const VkDeviceCreateInfo *info,
                              const VkDeviceCreateInfo *asked)
{
    struct pm_device_abilities *abilities = &device->abilities;
    uint32_t version = pm_device_api_version(device->instance, &device->properties);
    const VkDeviceGroupDeviceCreateInfo *group =
        find_in_chain(info, VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO);
    const VkPhysicalDeviceFeatures *core = core_features(info);
    if (version < VK_API_VERSION_1_1 ||
        device->instance->dispatch.GetPhysicalDeviceProperties2 == NULL) {
        abilities->why_not = "it has only Vulkan 1.0";
        return;
    }
    find_target(device, info, version);
    find_subgroups(device);
    find_driver(device);
    if (is_on(info, &subgroup_sizes))
        find_subgroup_sizes(device);
    abilities->timeline_semaphore = is_on(info, &timeline);
    abilities->host_query_reset = is_on(info, &host_query_reset);
    abilities->cache_control = is_on(info, &cache_control);
    abilities->conditional_rendering = is_on(info, &conditional_rendering) &&
                                       has_extension(info, conditional_rendering.extension) &&
                                       !has_extension(asked, conditional_rendering.extension);
    abilities->robust_buffers = core != NULL && core->robustBufferAccess;
    abilities->memory_model_device_scope = is_on(info, &memory_model_scope);
    abilities->int64_atomics = core != NULL && core->shaderInt64 && is_on(info, &int64_atomics);
    abilities->queries_see_shaders = (core != NULL && core->pipelineStatisticsQuery) ||
                                     has_extension(info, VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME) ||
                                     has_extension(info, VK_INTEL_PERFORMANCE_QUERY_EXTENSION_NAME);
    if (core == NULL || !core->fragmentStoresAndAtomics)
        abilities->full_subgroup_fragment = false;
    if (is_left_out(info, asked, &buffer_address))
        abilities->why_not = "the game leaves out buffer device addresses behind a structure that "
                             "is newer than the layer";
    else if (!is_on(info, &buffer_address))
        abilities->why_not = "it has no buffer device addresses";
    else if (group != NULL && group->physicalDeviceCount > 1)
        abilities->why_not = "it is a group of several physical devices";
    else if (!abilities->full_subgroup_compute && !abilities->full_subgroup_fragment)
        abilities->why_not = "it has no subgroup ballots";
    else
        abilities->sample = true;
}
