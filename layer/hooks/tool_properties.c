#include "layer/hooks/tool_properties.h"

#include "layer/hooks/registry.h"
#include <stdio.h>

static void describe(VkPhysicalDeviceToolProperties *tool)
{
    snprintf(tool->name, sizeof tool->name, "Piecemeal");
    snprintf(tool->version, sizeof tool->version, "%s", PM_VERSION);
    snprintf(tool->description, sizeof tool->description,
             "Cooperative PGO: samples how shaders behave, and runs specialized ones");
    snprintf(tool->layer, sizeof tool->layer, "%s", PM_LAYER_NAME);
    tool->purposes = VK_TOOL_PURPOSE_PROFILING_BIT;
}

/* The layer is first, then what is nearer to the driver. */
static VkResult list(PFN_vkGetPhysicalDeviceToolProperties next, VkPhysicalDevice physical,
                     uint32_t *count, VkPhysicalDeviceToolProperties *tools)
{
    if (tools == NULL) {
        const VkResult result = next(physical, count, NULL);
        *count += 1;
        return result;
    }
    if (*count == 0)
        return VK_INCOMPLETE;
    describe(&tools[0]);
    /* With no room left the others are only counted: there may be none. */
    const uint32_t room = *count - 1;
    uint32_t others = room;
    const VkResult result = next(physical, &others, room > 0 ? &tools[1] : NULL);
    if (room > 0) {
        *count = others + 1;
        return result;
    }
    *count = 1;
    return result == VK_SUCCESS && others > 0 ? VK_INCOMPLETE : result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_GetPhysicalDeviceToolProperties(
    VkPhysicalDevice physical, uint32_t *count, VkPhysicalDeviceToolProperties *tools)
{
    return list(pm_instance_of(physical)->dispatch.GetPhysicalDeviceToolProperties, physical, count,
                tools);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_GetPhysicalDeviceToolPropertiesEXT(
    VkPhysicalDevice physical, uint32_t *count, VkPhysicalDeviceToolProperties *tools)
{
    return list(pm_instance_of(physical)->dispatch.GetPhysicalDeviceToolPropertiesEXT, physical,
                count, tools);
}
