/*
 * Remembering objects by what the game creates them with (object.h).
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/object.h"

/* The object for an info of kind's structure; render_pass2: it is a VkRenderPassCreateInfo2. NULL
 * (and a line in the log): nothing is remembered, so that pipelines made of it get no variants.
 * Referenced. Not for shader modules: pm_objects_module. */
struct pm_object *pm_objects_remember(struct pm_objects *objects, enum pm_object_kind kind,
                                      bool render_pass2, const void *info);

/* The info with our own samplers in place of the game's immutable ones, where that may be; else
 * info itself. layout: what is remembered of it; NULL: nothing. *arena is the caller's to destroy
 * once the game's layout is made; NULL: nothing to destroy. */
const VkDescriptorSetLayoutCreateInfo *
pm_object_substitute(const struct pm_object *layout, const VkDescriptorSetLayoutCreateInfo *info,
                     struct pm_arena **arena);
