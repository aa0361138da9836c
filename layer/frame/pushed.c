#include "layer/frame/pushed.h"

void pm_pushed_change(struct pm_pushed *pushed, const struct pm_push_layouts *layouts,
                      const struct pm_push *push)
{
    struct pm_push_ranges *ranges = pm_push_layouts_find(layouts, push->layout);
    /* A game that pushes parts of words does what Vulkan does not allow: nothing is believed of the
     * recording any more. */
    const bool whole = ((push->offset | push->size) & 3) == 0;
    pm_pushed_disarm(pushed);
    if (ranges != pushed->ranges || ranges == NULL || !whole)
        pm_pushed_forget(pushed);
    if (!whole)
        pushed->wanted = 0;
    pushed->layout = push->layout;
    pushed->ranges = whole ? ranges : NULL;
}

void pm_pushed_put(struct pm_pushed *pushed, const struct pm_push *push, uint64_t mask)
{
    const char *values = (const char *)push->values - push->offset;
    const uint64_t fragment = (push->stages & VK_SHADER_STAGE_FRAGMENT_BIT) != 0 ? mask : 0;
    const uint64_t compute = (push->stages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 ? mask : 0;
    pm_pushed_disarm(pushed);
    if (pushed->ranges != NULL && !pm_push_ranges_allow(pushed->ranges, push)) {
        /* Drivers differ in who reads what then. */
        pm_pushed_forget(pushed);
        pushed->wanted = 0;
        return;
    }
    pushed->known[0] = (pushed->known[0] & ~mask) | fragment;
    pushed->known[1] = (pushed->known[1] & ~mask) | compute;
    for (; mask != 0; mask &= mask - 1) {
        const int word = __builtin_ctzll(mask);
        memcpy(&pushed->words[word], values + 4 * word, 4);
    }
}

/* By which of the window's words are watched: the sets of words that have all of them, as bits. */
static const uint16_t sets_with[1 << PM_PUSHED_WINDOW] = {
    0xffff, 0xaaaa, 0xcccc, 0x8888, 0xf0f0, 0xa0a0, 0xc0c0, 0x8080,
    0xff00, 0xaa00, 0xcc00, 0x8800, 0xf000, 0xa000, 0xc000, 0x8000,
};

/* What is watched in the window has these values from now on. Whether it fits. */
static inline __attribute__((always_inline)) bool
expect(struct pm_pushed *pushed, const struct pm_watch *watch, const void *words)
{
    const uint32_t begin = pushed->window / 4;
    for (uint32_t i = 0; i < watch->count; i++)
        pushed->expected[watch->words[i].word - begin] = watch->words[i].value;
    const uint32_t sets = sets_with[watch->mask >> begin];
    const bool fits = (sets >> pm_pushed_take(pushed, words) & 1) != 0;
    pushed->stays = fits ? sets : 0xffffu & ~sets;
    return fits;
}

bool pm_pushed_go_on(struct pm_pushed *pushed, int stage, const struct pm_watch *watch, bool *fits)
{
    const uint64_t window = ((UINT64_C(1) << PM_PUSHED_WINDOW) - 1) << (pushed->window / 4);
    *fits = false;
    if (pushed->stays == 0)
        return false;
    if (watch == NULL) {
        pushed->stays = 0xffff;
        return true;
    }
    if (watch->ranges != pushed->ranges || (watch->mask & ~(pushed->known[stage] & window)) != 0)
        return false;
    *fits = expect(pushed, watch, pushed->current);
    return true;
}

bool pm_pushed_arm(struct pm_pushed *pushed, const struct pm_watch *watch)
{
    struct pm_push_ranges *ranges = pushed->ranges;
    pm_pushed_disarm(pushed);
    if (ranges == NULL || pushed->wanted == 0)
        return false;
    const uint64_t words = (ranges->words[0] | ranges->words[1]) & pushed->wanted &
                           atomic_load_explicit(&ranges->watched, memory_order_acquire);
    const uint32_t last = 63u - (uint32_t)__builtin_clzll(words | 1);
    const uint32_t begin = last < PM_PUSHED_WINDOW ? 0 : (uint32_t)last - (PM_PUSHED_WINDOW - 1);
    if ((words & ((UINT64_C(1) << begin) - 1)) != 0)
        return false;
    for (int i = 0; i < PM_PUSHED_STAGES; i++) {
        if ((pushed->known[i] & words) != (ranges->words[i] & words))
            return false;
        /* Others are not followed on the short way. */
        pushed->known[i] &= words;
    }
    pushed->window = begin * 4;
    pushed->end = pushed->window + PM_PUSHED_WINDOW * 4;
    if (watch != NULL && watch->ranges == ranges && (watch->mask & ~words) == 0)
        return expect(pushed, watch, &pushed->words[begin]);
    memcpy(pushed->current, &pushed->words[begin], sizeof pushed->current);
    pushed->stays = 0xffff;
    return false;
}
