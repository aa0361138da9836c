/*
 * What a recording has pushed: the words of its push constants, as far as anybody wants to know
 * them. Followed from the recording's begin on or not at all; a word is known once it was pushed
 * with a layout whose ranges the pipeline's are identical with, to the stage that reads it. What is
 * pushed with other ranges makes all words unknown, and so does whatever else may have changed them
 * (executed secondaries, generated commands): when in doubt a word is not known.
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization.
 */
#pragma once

#include "layer/shader/watch.h"

enum { PM_PUSHED_STAGES = 2 }; /* as the bind points: fragment, compute */

struct pm_pushed {
    uint64_t wanted; /* words that are followed; 0: none are, or not from the begin on */
    uint64_t known[PM_PUSHED_STAGES];
    VkPipelineLayout layout; /* that was pushed with last */
    const struct pm_push_ranges *ranges;
    uint32_t words[PM_PUSHED_WORDS];
};

/* vkCmdPushConstants and its kin. */
struct pm_push {
    VkPipelineLayout layout;
    VkShaderStageFlags stages;
    uint32_t offset, size; /* bytes */
    const void *values;
};

/* A recording begins, of which these words are to be followed. */
static inline void pm_pushed_begin(struct pm_pushed *pushed, uint64_t wanted)
{
    pushed->wanted = wanted;
    pushed->known[0] = pushed->known[1] = 0;
    pushed->layout = VK_NULL_HANDLE;
    pushed->ranges = NULL;
}

/* Nothing is known any more. */
static inline void pm_pushed_forget(struct pm_pushed *pushed)
{
    pushed->known[0] = pushed->known[1] = 0;
}

/* The words that a push covers, as bits; of those beyond what is followed nothing. */
static inline uint64_t pm_push_mask(uint32_t offset, uint32_t size)
{
    const uint32_t first = offset / 4, count = size / 4;
    if (first >= PM_PUSHED_WORDS)
        return 0;
    return (count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
}

/* Whether the push says more than words: other ranges than the pushes before, or parts of words. */
static inline bool pm_push_is_other(const struct pm_pushed *pushed, const struct pm_push *push)
{
    return pushed->layout != push->layout || ((push->offset | push->size) & 3) != 0;
}

/* Takes that into account; before the words. */
void pm_pushed_change(struct pm_pushed *pushed, const struct pm_push_layouts *layouts,
                      const struct pm_push *push);

/* Takes the words of a push that the mask has, all of which it covers. */
static inline void pm_pushed_put(struct pm_pushed *pushed, const struct pm_push *push,
                                 uint64_t mask)
{
    const char *values = (const char *)push->values - push->offset;
    const uint64_t fragment = (push->stages & VK_SHADER_STAGE_FRAGMENT_BIT) != 0 ? mask : 0;
    const uint64_t compute = (push->stages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 ? mask : 0;
    pushed->known[0] = (pushed->known[0] & ~mask) | fragment;
    pushed->known[1] = (pushed->known[1] & ~mask) | compute;
    for (; mask != 0; mask &= mask - 1) {
        const int word = __builtin_ctzll(mask);
        __builtin_memcpy(&pushed->words[word], values + 4 * word, 4);
    }
}

/* Whether a pipeline with these ranges reads known words; stage: index of the bind point. */
static inline uint64_t pm_pushed_known(const struct pm_pushed *pushed, int stage,
                                       const struct pm_push_ranges *ranges)
{
    return ranges != NULL && pushed->ranges == ranges ? pushed->known[stage] : 0;
}

/* Whether all words that are watched have their values. */
static inline bool pm_pushed_fits(const struct pm_pushed *pushed, int stage,
                                  const struct pm_watch *watch)
{
    if ((watch->mask & ~pm_pushed_known(pushed, stage, watch->ranges)) != 0)
        return false;
    for (uint32_t i = 0; i < watch->count; i++)
        if (pushed->words[watch->words[i].word] != watch->words[i].value)
            return false;
    return true;
}
