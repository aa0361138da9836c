#include "layer/shader/first_draws.h"

bool pm_first_draws_take(struct pm_first_draws *draws, struct pm_variant *variant)
{
    uint64_t words = atomic_load(&draws->words), then;
    do {
        then = words + variant->words;
        if (draws->most > 0 && words > 0 && then > draws->most)
            return false;
    } while (!atomic_compare_exchange_weak(&draws->words, &words, then));
    /* Who took it at the same time has taken the words, too: a frame has less. */
    atomic_store(&variant->drawn, true);
    return true;
}
