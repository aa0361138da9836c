/*
 * A seed (sampler.seed) whose first profiling window opens early, for a machine that draws too few
 * frames in a minute for one to come by itself. All that the seed decides besides is as random as
 * ever, since nothing else of it was looked at.
 *
 *   window_seed FIRST LAST
 *
 * Prints a seed, drawn by lot, of those by which a session with the default window_probability and
 * window_frames opens its first window with one of the heartbeats FIRST to LAST. It draws as
 * pm_sampling_create does; a session that was given one and opened no window in time says that this
 * is not so any more.
 */
#include "base/config.h"
#include "sampler/sampler.h"
#include "tools/common/tool.h"
#include <inttypes.h>
#include <stdio.h>

static uint64_t first_window(const struct pm_config *config, uint64_t seed)
{
    struct pm_random random;
    struct pm_window window;
    pm_random_init(&random, seed);
    pm_window_init(&window, config->sampler.window_probability, config->sampler.window_frames,
                   pm_random_next(&random));
    return window.countdown;
}

int main(int argc, char **argv)
{
    uint64_t first, last, seed;
    if (argc != 3 || !pm_tool_number(argv[1], UINT32_MAX, &first) ||
        !pm_tool_number(argv[2], UINT32_MAX, &last) || first == 0 || first > last) {
        fprintf(stderr, "usage: window_seed FIRST LAST\n");
        return 2;
    }
    uint64_t heartbeat = 0;
    struct pm_config config;
    pm_config_init(&config);
    while (heartbeat < first || heartbeat > last) {
        if (!pm_random_system(&seed, sizeof seed)) {
            fprintf(stderr, "window_seed: the system gives no random numbers\n");
            return 1;
        }
        heartbeat = first_window(&config, seed);
    }
    pm_config_finish(&config);
    printf("%" PRIu64 "\n", seed);
    return 0;
}
