/*
 * For games: what Piecemeal's layer offers to the program it runs in. Nothing is linked; the
 * function is there when the layer is, and NULL when it is not or measures nothing on the device:
 *
 *     PFN_vkSetScenePIECEMEAL set_scene = (PFN_vkSetScenePIECEMEAL)vkGetDeviceProcAddr(
 *         device, PIECEMEAL_SET_SCENE_NAME);
 *     if (set_scene)
 *         set_scene(device, "level 3, cave");
 *
 * A game that would rather not call anything can have its debug labels read: game.scene_labels in
 * docs/config.md.
 */
#pragma once

#include <vulkan/vulkan.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PIECEMEAL_SET_SCENE_NAME "vkSetScenePIECEMEAL"

/* Bytes of a scene's name, without its terminator; and how many names a device may have. */
#define PIECEMEAL_SCENE_NAME_BYTES 255
#define PIECEMEAL_SCENES 64

/* What is submitted to the device's queues from now on belongs to this scene, until the next call.
 * scene: UTF-8 without control characters; it is uploaded with the profile, so it must say nothing
 * of the player. NULL and "": the scene that the configuration names, or none. Of a name that
 * cannot be the profile goes untagged. The string is copied. Any thread, at any time. */
typedef void(VKAPI_PTR *PFN_vkSetScenePIECEMEAL)(VkDevice device, const char *scene);

#ifdef __cplusplus
}
#endif
