#include "sampler/sampler.h"

void pm_window_init(struct pm_window *window, double probability, uint32_t length, uint64_t seed)
{
    pm_random_init(&window->random, seed);
    window->probability = probability;
    window->length = length ? length : 1;
    window->open = probability >= 1.0;
    window->countdown = window->open ? PM_NEVER : pm_geometric(&window->random, probability);
}

enum pm_window_event pm_window_heartbeat(struct pm_window *window)
{
    if (window->countdown == PM_NEVER || --window->countdown != 0)
        return PM_WINDOW_NONE;
    window->open = !window->open;
    if (window->open) {
        window->countdown = window->length;
        return PM_WINDOW_OPENED;
    }
    window->countdown = pm_geometric(&window->random, window->probability);
    return PM_WINDOW_CLOSED;
}
