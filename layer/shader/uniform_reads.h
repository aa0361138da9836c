/*
 * Which words of uniform buffers a guard at a shader's entry may read though the shader does not,
 * on the path that is taken (Vulkan, Descriptor Validity, and VUID-vkCmdDraw-None-08114 and
 * -08117): descriptors that a pipeline statically uses must be valid when it runs, whether they are
 * read or not. Not so in bindings that are PARTIALLY_BOUND or of a variable count, and in
 * descriptor buffers: of these only what is read. A buffer may be smaller than its block, too, as
 * long as nothing is read beyond its end, or robustBufferAccess makes that harmless.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/pipeline.h"

/* owner: a pipeline's shader_owner; chain: pNext of its stage, or of its shader object. */
enum pm_uniform_reads pm_pipeline_reads(const struct pm_pipeline *owner, const void *chain);
