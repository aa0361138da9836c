/*
 * A game of 3,000 pipelines in 5 levels, 120 shaders a level with 5 pipelines each that differ in
 * state, at the defaults but for a window that is always open: every shader of every level is
 * sampled in a session of 5 times SECONDS seconds, at 60 frames a second. The game keeps what it
 * made, as most do.
 */
#include "tests/layer/levels.h"
#include "tests/layer/pipelines.h"
#include "tests/layer/spooled.h"

#include "base/clock.h"
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 5, SHADERS = 120, STATES = 5, SECONDS = 36, FRAMES_A_SECOND = 60 };

static struct pm_harness h;

static void draw_for(const struct level *level, VkCommandBuffer buffer, int64_t nanoseconds)
{
    const int64_t start = pm_now();
    for (int64_t next = start; next < start + nanoseconds; next += PM_SECOND / FRAMES_A_SECOND) {
        const int64_t wait = next - pm_now();
        if (wait > 0)
            nanosleep(&(struct timespec){.tv_nsec = (long)wait}, NULL);
        level_frame(level, &h, buffer);
    }
}

static void every_shader_of_every_level(void **state)
{
    (void)state;
    struct level levels[LEVELS];
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "1", 1);
    unsetenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE");
    watch_start(pm_harness_driver());
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (uint32_t i = 0; i < LEVELS; i++) {
        level_make(&levels[i], &h, i * SHADERS, SHADERS, STATES);
        draw_for(&levels[i], buffer, SECONDS * PM_SECOND);
        print_message("after level %u: %zu shaders sampled, %lu calls, %u variants made\n", i + 1,
                      spooled_shaders(), (unsigned long)all_calls(), watch_counts().variants);
    }
    for (uint32_t i = 0; i < LEVELS; i++)
        level_destroy(&levels[i], &h);
    pm_harness_close(&h);
    assert_int_equal(spooled_shaders(), LEVELS * SHADERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {PM_LAYERED_TEST(every_shader_of_every_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
