/*
 * vkSetScenePIECEMEAL (piecemeal.h), which games find by vkGetDeviceProcAddr.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <vulkan/vulkan.h>

VKAPI_ATTR void VKAPI_CALL pm_SetScenePIECEMEAL(VkDevice handle, const char *scene);
