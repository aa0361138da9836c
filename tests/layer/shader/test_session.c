/*
 * A game of 3,000 pipelines in 5 levels, 120 shaders a level with 5 pipelines each that differ in
 * state, at the defaults but for a window that is always open: every shader of every level is
 * sampled in a session of 5 times SECONDS seconds, at 60 frames a second. The game keeps what it
 * made, as most do.
 *
 * A machine that does something else lets the layer's threads wait, which are of the lowest
 * priority. A level lasts that much longer: its seconds are those in which no thread had to.
 */
#include "tests/layer/levels.h"
#include "tests/layer/pipelines.h"
#include "tests/layer/spooled.h"

#include "base/clock.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 5, SHADERS = 120, STATES = 5, FRAMES_A_SECOND = 60 };
/* That a level is drawn. */
enum { SECONDS = 36, KEPT_SECONDS = 3 };

static struct pm_harness h;

/* How long the process's threads were ready and did not run, nanoseconds. */
static int64_t waited(void)
{
    int64_t sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *entry; (entry = readdir(tasks));) {
        char path[300];
        unsigned long long ran, delayed;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file && fscanf(file, "%llu %llu", &ran, &delayed) == 2)
            sum += (int64_t)delayed;
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return sum;
}

/* A frame of what was recorded once. */
static void submit(VkCommandBuffer buffer)
{
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
}

/* Frames of it; those of a level that is recorded once are given as NULL. Returns how many. */
static uint32_t draw_for(const struct level *level, VkCommandBuffer buffer, int64_t nanoseconds)
{
    const int64_t start = pm_now(), before = waited();
    int64_t next = start, longer = 0;
    uint32_t frame = 0;
    for (; next - start < nanoseconds + longer; frame++) {
        const int64_t wait = next - pm_now();
        if (wait > 0)
            nanosleep(&(struct timespec){.tv_nsec = (long)wait}, NULL);
        if (level != NULL)
            level_frame(level, &h, buffer);
        else
            submit(buffer);
        next += PM_SECOND / FRAMES_A_SECOND;
        if (frame % FRAMES_A_SECOND == 0)
            longer = waited() - before;
    }
    if (longer > PM_SECOND)
        print_message("%.0f s longer than on an idle machine\n", (double)longer * 1e-9);
    return frame;
}

static void open_window(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "1", 1);
    unsetenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE");
    watch_start(pm_harness_driver());
    pm_harness_open(&h, NULL);
}

static void every_shader_of_every_level(void **state)
{
    (void)state;
    struct level levels[LEVELS];
    open_window();
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

/* A session of the same game, but a level is recorded once, when it is loaded. Returns how many
 * draws it had. */
static double record_levels_once(void)
{
    struct level levels[LEVELS];
    double draws = 0;
    open_window();
    for (uint32_t i = 0; i < LEVELS; i++) {
        level_make(&levels[i], &h, i * SHADERS, SHADERS, STATES);
        const uint32_t made = watch_counts().variants;
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        pm_harness_begin(&h, buffer, 0);
        level_record(&levels[i], &h, buffer);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        draws += (double)draw_for(NULL, buffer, KEPT_SECONDS * PM_SECOND) * SHADERS * STATES;
        print_message(
            "after level %u: %zu shaders sampled, %lu calls of %.0f, %u variants made, of "
            "them %u before it was recorded\n",
            i + 1, spooled_shaders(), (unsigned long)all_calls(), draws, watch_counts().variants,
            made);
    }
    for (uint32_t i = 0; i < LEVELS; i++)
        level_destroy(&levels[i], &h);
    pm_harness_close(&h);
    return draws;
}

/* Far fewer are sampled, and not at p: a level of 600 pipelines is recorded before most have a
 * variant, and of 600 draws some 28 are recorded twice, whichever have one
 * (docs/architecture.md). So what is known is only that some are, and no more than there should be.
 * Where the machine is so busy that there are none, another session may have some. */
static void some_of_levels_that_are_recorded_once(void **state)
{
    (void)state;
    enum { SESSIONS = 5 };
    double draws = 0;
    for (int i = 0; i < SESSIONS && spooled_shaders() == 0; i++)
        draws += record_levels_once();
    print_message("%zu of %d shaders sampled, %lu of %.0f calls\n", spooled_shaders(),
                  LEVELS * SHADERS, (unsigned long)all_calls(), draws);
    assert_in_range(spooled_shaders(), 1, LEVELS * SHADERS);
    assert_true((double)all_calls() < 0.0105 * draws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(every_shader_of_every_level),
        PM_LAYERED_TEST(some_of_levels_that_are_recorded_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
