/* A device that is destroyed while a large shader is being worked on does not wait until that is
 * done, whichever step it is at. Time is the processor's, so that a busy machine is no matter. */
#include "tests/layer/optimized.h"

#include "base/clock.h"
#include "large.comp.h"
#include "tests/patience.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { POINTS = 12 };

static struct pm_harness h;
static VkPipeline large;

/* Nanoseconds of a core, of all threads. */
static int64_t used(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * PM_SECOND + time.tv_nsec;
}

/* What was found of the shader is forgotten, but what a database was made of. */
static void forget(void)
{
    static uint32_t count;
    char from[200], to[200];
    snprintf(from, sizeof from, "%s/piecemeal", pm_layered_home());
    snprintf(to, sizeof to, "%s/forgotten%u", pm_layered_home(), count++);
    (void)rename(from, to);
}

static void open_it(void)
{
    pm_harness_open(&h, NULL);
    large = pm_harness_compute_of(&h, large_comp, sizeof large_comp, h.layout);
}

/* A dispatch, so that it is known to be used. */
static void use_it(void)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, large);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_run(&h, buffer);
}

static void close_it(void)
{
    h.vk.DestroyPipeline(h.device, large, NULL);
    pm_harness_close(&h);
}

/* All of it at once. */
static int64_t whole(void)
{
    forget();
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "true", 1);
    const int64_t begin = used();
    open_it();
    use_it();
    const int64_t took = used() - begin;
    close_it();
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    return took;
}

/* Until so much was used; false: nothing more is being done. */
static bool work_until(int64_t end)
{
    int64_t last = used(), now;
    for (uint32_t idle = 0; (now = used()) < end; last = now) {
        idle = now - last < PM_SECOND / 2000 ? idle + 1 : 0;
        if (idle > 100)
            return false;
        usleep(2000);
    }
    return true;
}

/* What destroying the device takes at most, with so many parts of the work done: the rest of the
 * step that it is at, of which the longest are passes of SPIRV-Tools' optimizer. It is held against
 * what the whole takes, and a busy machine makes both longer. */
static void never_waits_long(const char *what)
{
    const int64_t took = whole();
    int64_t most = 0;
    uint32_t at_work = 0;
    for (int64_t i = 0; i < POINTS; i++) {
        forget();
        const int64_t begin = used();
        open_it();
        use_it();
        at_work += work_until(begin + took * i / POINTS);
        const int64_t asked = used();
        close_it();
        const int64_t waited = used() - asked;
        most = waited > most ? waited : most;
    }
    print_message("%s: %.0f ms in all, vkDestroyDevice takes %.0f at most, %u times at work\n",
                  what, (double)took / 1e6, (double)most / 1e6, at_work);
    assert_true(at_work >= POINTS / 2);
    /* A twentieth to a tenth is seen. Where only steps end it was a third, without any stop nearly
     * all. */
    assert_true(most < took / 5);
}

static void while_it_is_made_to_count(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    never_waits_long("counting");
}

static void learn(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    open_it();
    use_it();
    close_it();
    optimized_learn_of(large_comp, sizeof large_comp);
    optimized_enable(true);
}

static void while_it_is_specialized(void **state)
{
    (void)state;
    learn();
    never_waits_long("specializing");
}

static void while_it_is_cut_into_passes(void **state)
{
    (void)state;
    learn();
    setenv("PIECEMEAL_OPTIMIZE_ZERO", "false", 1);
    setenv("PIECEMEAL_OPTIMIZE_PARTITION", "true", 1);
    setenv("PIECEMEAL_DEBUG_PARTITION_LIMITS", "radeon9800-64", 1);
    never_waits_long("passes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(while_it_is_made_to_count),
        PM_LAYERED_TEST(while_it_is_specialized),
        PM_LAYERED_TEST(while_it_is_cut_into_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
