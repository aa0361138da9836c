/*
 * Which states the graphics pipelines of a device leave to commands. Binding a pipeline sets every
 * state that it does not leave (the specification, Dynamic State). The game may set states for its
 * next pipeline before it binds that, so what is bound in the place of a pipeline may be bound or
 * put back away from the pipeline's own draws only where it leaves all that any other leaves. A
 * pipeline that is made while others are recorded may come too late for what was put back before.
 *
 * What a part of a pipeline lists of another part's states is ignored by Vulkan (vkspec,
 * VkPipelineDynamicStateCreateInfo and Graphics Pipeline Libraries).
 *
 * Thread safety: any thread.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

enum { PM_DYNAMIC_WORDS = 2, PM_DYNAMIC_MOST = 64 * PM_DYNAMIC_WORDS - 1 };

struct pm_dynamic_states {
    pthread_mutex_t lock; /* of known and count */
    VkDynamicState
        known[PM_DYNAMIC_MOST]; /* numbered as they come; the last number is all others' */
    uint32_t count;
    _Atomic uint64_t any[PM_DYNAMIC_WORDS]; /* that some pipeline leaves */
};

void pm_dynamic_states_init(struct pm_dynamic_states *states);
void pm_dynamic_states_finish(struct pm_dynamic_states *states);

/* A pipeline with these parts of its own leaves these (NULL: none), which are added to its set, as
 * bits. A state of which it is not known to which part it belongs is not added for a part alone.
 * true: none left one of them before, so that of others less may be said
 * (pm_dynamic_states_are_all). */
bool pm_dynamic_states_add(struct pm_dynamic_states *states,
                           const VkPipelineDynamicStateCreateInfo *info,
                           VkGraphicsPipelineLibraryFlagsEXT own,
                           uint64_t set[static PM_DYNAMIC_WORDS]);
/* Shader objects leave all, and no pipeline has so many. Returns the same. */
bool pm_dynamic_states_add_all(struct pm_dynamic_states *states);

/* Whether a pipeline of this set leaves all that any leaves. */
static inline bool pm_dynamic_states_are_all(const struct pm_dynamic_states *states,
                                             const uint64_t set[static PM_DYNAMIC_WORDS])
{
    uint64_t more = 0;
    for (int word = 0; word < PM_DYNAMIC_WORDS; word++)
        more |= atomic_load_explicit(&states->any[word], memory_order_relaxed) & ~set[word];
    return more == 0;
}
