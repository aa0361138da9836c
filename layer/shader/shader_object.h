/*
 * The game's shader objects (VK_EXT_shader_object) as pipelines of one stage (pipeline.h):
 * remembered when they are created, built again with another shader.
 *
 * Objects that were linked when they were created must be bound together (the specification's
 * VUID-vkCmdDraw-None-08698), so a linked fragment shader has the others of its set as its
 * libraries, and is built again with twins of them. What is bound beside it by somebody else is
 * known only while a call is sampled, so such a set is never specialized.
 *
 * Thread safety: any thread; building takes as long as the driver's compiler does.
 */
#pragma once

#include "layer/shader/pipeline_build.h"

/* What to build the index-th of the infos from again, with one reference. objects: what the game
 * got for them. NULL and *error filled: it gets no variants. PM_ERROR_STATE: it has no shader that
 * would get any. */
struct pm_pipeline *pm_shader_object_remember(struct pm_device *device, uint32_t count,
                                              const VkShaderCreateInfoEXT *infos,
                                              const VkShaderEXT *objects, uint32_t index,
                                              struct pm_error *error);

/* As pm_pipeline_build. */
bool pm_shader_object_build(struct pm_pipeline *pipeline, const struct pm_replacement *replacement,
                            struct pm_built *built, struct pm_error *error);
