#include "tools/doctor/doctor_devices.h"
#include "tools/doctor/doctor_timing.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEVICES_MOST = 16, EXTENSIONS_MOST = 1024 };

/* What sampling needs or profits from, of one device. */
struct abilities {
    VkPhysicalDeviceProperties2 properties;
    VkPhysicalDeviceVulkan11Properties properties11;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDeviceFeatures2 features;
    VkPhysicalDeviceBufferDeviceAddressFeatures address;
    VkPhysicalDeviceShaderAtomicInt64Features atomics;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
    VkPhysicalDeviceVulkanMemoryModelFeatures memory_model;
};

static void query(VkPhysicalDevice device, struct abilities *out)
{
    *out = (struct abilities){
        .properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2},
        .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2},
    };
    vkGetPhysicalDeviceProperties(device, &out->properties.properties);
    if (out->properties.properties.apiVersion < VK_API_VERSION_1_2)
        return;
    out->driver =
        (VkPhysicalDeviceDriverProperties){VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    out->properties11 = (VkPhysicalDeviceVulkan11Properties){
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, &out->driver};
    out->properties.pNext = &out->properties11;
    out->address = (VkPhysicalDeviceBufferDeviceAddressFeatures){
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES};
    out->atomics = (VkPhysicalDeviceShaderAtomicInt64Features){
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES, &out->address};
    out->timeline = (VkPhysicalDeviceTimelineSemaphoreFeatures){
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES, &out->atomics};
    out->memory_model = (VkPhysicalDeviceVulkanMemoryModelFeatures){
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES, &out->timeline};
    out->features.pNext = &out->memory_model;
    vkGetPhysicalDeviceProperties2(device, &out->properties);
    vkGetPhysicalDeviceFeatures2(device, &out->features);
}

/* false: the device hangs. */
static bool say_device(struct pm_doctor *doctor, VkPhysicalDevice device)
{
    struct abilities can;
    query(device, &can);
    const VkPhysicalDeviceProperties *properties = &can.properties.properties;
    const char *name = properties->deviceName;
    pm_doctor_say(
        doctor, PM_FINDING_OK, name, "Vulkan %u.%u.%u, driver %s %s",
        VK_API_VERSION_MAJOR(properties->apiVersion), VK_API_VERSION_MINOR(properties->apiVersion),
        VK_API_VERSION_PATCH(properties->apiVersion), can.driver.driverName, can.driver.driverInfo);
    if (properties->apiVersion < VK_API_VERSION_1_2) {
        pm_doctor_say(doctor, PM_FINDING_BAD, name,
                      "Vulkan 1.2 is needed for sampling: everything passes through");
        return true;
    }
    const VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT;
    bool ballots = (can.properties11.subgroupSupportedOperations & needed) == needed;
    VkShaderStageFlags stages = can.properties11.subgroupSupportedStages;
    bool sample = ballots && can.address.bufferDeviceAddress;
    pm_doctor_say(doctor, ballots ? PM_FINDING_OK : PM_FINDING_BAD, name,
                  "subgroups of %u lanes, ballots %s", can.properties11.subgroupSize,
                  ballots ? "there" : "missing: nothing can be counted");
    const VkSubgroupFeatureFlags operations = can.properties11.subgroupSupportedOperations;
    const bool votes = operations & VK_SUBGROUP_FEATURE_VOTE_BIT;
    const bool quads = operations & VK_SUBGROUP_FEATURE_QUAD_BIT;
    pm_doctor_say(doctor, votes ? PM_FINDING_OK : PM_FINDING_NOTE, name, "subgroup votes %s",
                  votes ? "there" : "missing: how often values are zero is not counted");
    pm_doctor_say(doctor, quads ? PM_FINDING_OK : PM_FINDING_NOTE, name, "quad operations %s",
                  quads ? "there"
                        : "missing: values that derivatives may depend on are not specialized");
    pm_doctor_say(doctor, can.address.bufferDeviceAddress ? PM_FINDING_OK : PM_FINDING_BAD, name,
                  "buffer device addresses %s",
                  can.address.bufferDeviceAddress ? "there"
                                                  : "missing: shaders cannot reach counters");
    pm_doctor_say(doctor, PM_FINDING_OK, name, "fragment shaders %s sampled, compute shaders %s",
                  sample && (stages & VK_SHADER_STAGE_FRAGMENT_BIT) ? "are" : "are not",
                  sample && (stages & VK_SHADER_STAGE_COMPUTE_BIT) ? "are" : "are not");
    bool wide = can.features.features.shaderInt64 && can.atomics.shaderBufferInt64Atomics;
    pm_doctor_say(doctor, wide ? PM_FINDING_OK : PM_FINDING_NOTE, name, "%s",
                  wide ? "64-bit counters"
                       : "no 64-bit atomics: counters are two 32-bit words with carry");
    pm_doctor_say(doctor, can.timeline.timelineSemaphore ? PM_FINDING_OK : PM_FINDING_NOTE, name,
                  "timeline semaphores %s",
                  can.timeline.timelineSemaphore ? "there"
                                                 : "missing: fences tell when counters are ready");
    if (!can.memory_model.vulkanMemoryModelDeviceScope)
        pm_doctor_say(
            doctor, PM_FINDING_NOTE, name,
            "no device scope in the Vulkan memory model: atomics there use the queue family's");
    return pm_doctor_timing(doctor, device, name);
}

static bool layer_is_active(void)
{
    uint32_t count = 0;
    VkLayerProperties layers[256];
    if (vkEnumerateInstanceLayerProperties(&count, NULL) != VK_SUCCESS)
        return false;
    count = count > 256 ? 256 : count;
    if (vkEnumerateInstanceLayerProperties(&count, layers) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!strncmp(layers[i].layerName, "VK_LAYER_PIECEMEAL", 18))
            return true;
    return false;
}

static void say_no_instance(struct pm_doctor *doctor, VkResult result)
{
    const char *files = getenv("VK_DRIVER_FILES"), *older = getenv("VK_ICD_FILENAMES");
    const char *named = files && *files ? files : older && *older ? older : NULL;
    if (result != VK_ERROR_INCOMPATIBLE_DRIVER)
        pm_doctor_say(doctor, PM_FINDING_BAD, "loader", "vkCreateInstance failed with %d", result);
    else if (named)
        pm_doctor_say(doctor, PM_FINDING_BAD, "devices",
                      "none of the drivers that VK_DRIVER_FILES or VK_ICD_FILENAMES names can be "
                      "used: %s",
                      named);
    else
        pm_doctor_say(doctor, PM_FINDING_BAD, "devices",
                      "the loader finds no Vulkan driver (vulkan/icd.d in /etc, /usr/share and "
                      "their kin); Debian's for a machine without a GPU is mesa-vulkan-drivers");
}

static int check(struct pm_doctor *doctor)
{
    uint32_t version = VK_API_VERSION_1_0, count = DEVICES_MOST;
    VkPhysicalDevice devices[DEVICES_MOST];
    vkEnumerateInstanceVersion(&version);
    pm_doctor_say(doctor, version < VK_API_VERSION_1_2 ? PM_FINDING_BAD : PM_FINDING_OK, "loader",
                  "Vulkan %u.%u.%u", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                  VK_API_VERSION_PATCH(version));
    pm_doctor_say(doctor, layer_is_active() ? PM_FINDING_OK : PM_FINDING_NOTE, "loader",
                  layer_is_active() ? "it knows the layer"
                                    : "it does not list the layer from here");
    const VkApplicationInfo application = {
        VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "piecemeal doctor",
        .apiVersion = version < VK_API_VERSION_1_2 ? version : VK_API_VERSION_1_2};
    const VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    VkInstance instance;
    VkResult result = vkCreateInstance(&info, NULL, &instance);
    if (result != VK_SUCCESS) {
        say_no_instance(doctor, result);
        return (int)doctor->bad;
    }
    result = vkEnumeratePhysicalDevices(instance, &count, devices);
    if (result < 0 || count == 0)
        pm_doctor_say(doctor, PM_FINDING_BAD, "devices", "no Vulkan device");
    bool hangs = false;
    for (uint32_t i = 0; result >= 0 && i < count; i++)
        hangs = !say_device(doctor, devices[i]) || hangs;
    if (!hangs)
        vkDestroyInstance(instance, NULL);
    return (int)doctor->bad;
}

/* A driver that crashes is a finding too: it is asked in a process of its own first. */
void pm_doctor_devices(struct pm_doctor *doctor)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        struct pm_doctor silent = {.json = true, .list = cJSON_CreateArray()};
        check(&silent);
        _exit(0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && WIFSIGNALED(status))
        pm_doctor_say(doctor, PM_FINDING_BAD, "devices", "asking the drivers ended in %s",
                      strsignal(WTERMSIG(status)));
    else
        check(doctor);
}
