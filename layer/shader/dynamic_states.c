#include "layer/shader/dynamic_states.h"

void pm_dynamic_states_init(struct pm_dynamic_states *states)
{
    pthread_mutex_init(&states->lock, NULL);
}

void pm_dynamic_states_finish(struct pm_dynamic_states *states)
{
    pthread_mutex_destroy(&states->lock);
}

/* Under the lock. PM_DYNAMIC_MOST: there are too many to tell it from others. */
static uint32_t number_of(struct pm_dynamic_states *states, VkDynamicState state)
{
    for (uint32_t i = 0; i < states->count; i++)
        if (states->known[i] == state)
            return i;
    if (states->count == PM_DYNAMIC_MOST)
        return PM_DYNAMIC_MOST;
    states->known[states->count] = state;
    return states->count++;
}

void pm_dynamic_states_add(struct pm_dynamic_states *states,
                           const VkPipelineDynamicStateCreateInfo *info,
                           uint64_t set[static PM_DYNAMIC_WORDS])
{
    const uint32_t count = info != NULL ? info->dynamicStateCount : 0;
    if (count == 0)
        return;
    pthread_mutex_lock(&states->lock);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = number_of(states, info->pDynamicStates[i]);
        const uint64_t bit = UINT64_C(1) << number % 64;
        atomic_fetch_or(&states->any[number / 64], bit);
        if (number < PM_DYNAMIC_MOST)
            set[number / 64] |= bit;
    }
    pthread_mutex_unlock(&states->lock);
}

void pm_dynamic_states_add_all(struct pm_dynamic_states *states)
{
    for (int word = 0; word < PM_DYNAMIC_WORDS; word++)
        atomic_store(&states->any[word], UINT64_MAX);
}
