/*
 * What a recording has pushed: the words of its push constants, as far as anybody wants to know
 * them. Followed from the recording's begin on or not at all; a word is known once it was pushed
 * with a layout whose ranges the pipeline's are identical with, to the stage that reads it. What is
 * pushed with other ranges makes all words unknown, and so does whatever else may have changed them
 * (executed secondaries, generated commands): when in doubt a word is not known.
 *
 * A push goes the short way (pm_pushed_quick) where what is bound is known to stay whatever it
 * says, or to stay by which of four words in a row have the values that somebody expects; then
 * nothing is done but to take its words. pm_binding_arm says when that is so. Else it goes the long
 * way, pm_pushed_change and pm_pushed_put.
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization.
 */
#pragma once

#include "layer/shader/watch.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { PM_PUSHED_WINDOW = 4 }; /* words */

struct pm_pushed {
    VkPipelineLayout layout; /* that was pushed with last */
    uint32_t window, end;    /* bytes: where the four words begin and end */
    uint32_t stays; /* a bit for each set of them: what is bound stays where these are as expected;
                       0: that is not known, and the short way is closed */
    _Alignas(16) uint32_t expected[PM_PUSHED_WINDOW];
    uint32_t current[PM_PUSHED_WINDOW]; /* these words while the short way is open */
    uint32_t words[PM_PUSHED_WORDS];
    uint64_t wanted; /* words that are followed; 0: none are, or not from the begin on */
    uint64_t known[PM_PUSHED_STAGES];
    struct pm_push_ranges *ranges;
};

/* A recording begins, of which these words are to be followed. */
static inline void pm_pushed_begin(struct pm_pushed *pushed, uint64_t wanted)
{
    pushed->wanted = wanted;
    pushed->known[0] = pushed->known[1] = 0;
    pushed->layout = VK_NULL_HANDLE;
    pushed->ranges = NULL;
    pushed->window = 0;
    pushed->end = PM_PUSHED_WINDOW * 4;
    pushed->stays = 0;
}

/* Closes the short way: before words are read, and where anything else becomes otherwise. */
static inline void pm_pushed_disarm(struct pm_pushed *pushed)
{
    if (pushed->stays != 0)
        memcpy(&pushed->words[pushed->window / 4], pushed->current, sizeof pushed->current);
    pushed->stays = 0;
}

/* Nothing is known any more. */
static inline void pm_pushed_forget(struct pm_pushed *pushed)
{
    pushed->known[0] = pushed->known[1] = 0;
    pushed->stays = 0;
}

/* ---- the long way ---- */

/* Whether the push says more than words: other ranges than the pushes before, or parts of words. */
static inline bool pm_push_is_other(const struct pm_pushed *pushed, const struct pm_push *push)
{
    return pushed->layout != push->layout || ((push->offset | push->size) & 3) != 0;
}

/* Takes that into account; before the words. */
void pm_pushed_change(struct pm_pushed *pushed, const struct pm_push_layouts *layouts,
                      const struct pm_push *push);

/* Takes the words of a push that the mask has, all of which it covers. */
void pm_pushed_put(struct pm_pushed *pushed, const struct pm_push *push, uint64_t mask);

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

/* ---- the short way ---- */

/* Opens the short way for pushes with the layout that was pushed with last, as long as nothing else
 * happens. watch: of what is bound; NULL: nothing is watched. It must go on to fit, or not to fit,
 * as it does now: true, it fits. Opens nothing where the words do not lie in a row, or are not all
 * known that the stages read: a push would then change what is known. */
bool pm_pushed_arm(struct pm_pushed *pushed, const struct pm_watch *watch);

/* While the short way is open: goes on with it for another watch, by which it stays open; NULL:
 * nothing is watched. stage: index of the bind point. false: it does not, and is as it was. */
bool pm_pushed_go_on(struct pm_pushed *pushed, int stage, const struct pm_watch *watch, bool *fits);

/* Takes a window's words; which of them are as expected, as bits. */
static inline __attribute__((always_inline)) uint32_t pm_pushed_take(struct pm_pushed *pushed,
                                                                     const char *values)
{
#ifdef __SSE2__
    const __m128i words = _mm_loadu_si128((const __m128i *)(const void *)values);
    _mm_store_si128((__m128i *)(void *)pushed->current, words);
    const __m128i expected = _mm_load_si128((const __m128i *)(const void *)pushed->expected);
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(words, expected)));
#else
    uint32_t equal = 0;
    memmove(pushed->current, values, sizeof pushed->current);
    for (uint32_t i = 0; i < PM_PUSHED_WINDOW; i++)
        equal |= (uint32_t)(pushed->current[i] == pushed->expected[i]) << i;
    return equal;
#endif
}

/* Takes the words of a push that changes nothing else: one of the window's, or all and whatever is
 * around. false: it must go the long way, also where its words were taken. The stages are not
 * looked at: they follow from layout and offset (pm_push_ranges_allow). */
static inline __attribute__((always_inline)) bool pm_pushed_quick(struct pm_pushed *pushed,
                                                                  const struct pm_push *push)
{
    enum { WORD = 4, WINDOW = PM_PUSHED_WINDOW * WORD };
    const char *values = push->values;
    uint32_t equal;
    if (__builtin_expect(push->layout != pushed->layout, 0))
        return false;
    if (push->size == WORD) {
        const uint32_t at = push->offset - pushed->window;
        if (__builtin_expect(at > WINDOW - WORD, 0))
            return false;
        memcpy((char *)pushed->current + at, values, WORD);
        equal = pm_pushed_take(pushed, (const char *)pushed->current);
    } else {
        const uint32_t end = pushed->end - push->offset;
        if (__builtin_expect(end < WINDOW || end > push->size, 0))
            return false;
        equal = pm_pushed_take(pushed, values + end - WINDOW);
    }
    return (pushed->stays >> equal & 1) != 0;
}

/* Whether a push that pm_pushed_quick does not take has none of the words. */
static inline bool pm_pushed_beside(const struct pm_pushed *pushed, const struct pm_push *push)
{
    return pushed->stays != 0 && pushed->layout == push->layout &&
           (push->offset >= pushed->end || push->offset + push->size <= pushed->window);
}

/* Whether it has taken them, but what is bound does not stay: it fits from now on, or does not any
 * more. */
static inline bool pm_pushed_turns(const struct pm_pushed *pushed, const struct pm_push *push)
{
    return pushed->stays != 0 && pushed->layout == push->layout &&
           (push->size == 4
                ? push->offset - pushed->window <= 4 * (PM_PUSHED_WINDOW - 1)
                : push->offset <= pushed->window && push->offset + push->size >= pushed->end);
}
