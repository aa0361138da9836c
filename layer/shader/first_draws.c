#include "layer/shader/first_draws.h"

static bool is_too_many(const struct pm_first_draws *draws, const struct pm_variant *variant,
                        uint64_t words)
{
    return draws->most > 0 && words > 0 && words + variant->words > draws->most;
}

bool pm_first_draws_would_allow(const struct pm_first_draws *draws,
                                const struct pm_variant *variant)
{
    return atomic_load_explicit(&variant->drawn, memory_order_relaxed) ||
           !is_too_many(draws, variant, atomic_load_explicit(&draws->words, memory_order_relaxed));
}

bool pm_first_draws_take(struct pm_first_draws *draws, struct pm_variant *variant)
{
    uint64_t words = atomic_load(&draws->words);
    do {
        if (is_too_many(draws, variant, words))
            return false;
    } while (!atomic_compare_exchange_weak(&draws->words, &words, words + variant->words));
    /* Who took it at the same time has taken the words, too: a frame has less. */
    atomic_store(&variant->drawn, true);
    return true;
}
