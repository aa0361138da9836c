/* What the layer's memory of 3,000 pipelines of 600 shaders comes to where all are bound, sampled
 * in a window that stays open, and specialized: as many of each as limits.variants allows. */
#include "tests/layer/levels.h"
#include "tests/patience.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_UP = 8, SHADERS = 600, STATES = 5, VARIANTS = 256 };

static struct pm_harness h;

/* Bytes that are allocated, of whichever thread. The code that is brought in does not grow with
 * pipelines. The null driver's buffers are the device's memory (limits.counter_memory_mib): each is
 * mapped on its own (main), which mallinfo2 does not count here, and nothing else is that large. */
static long allocated(void)
{
    return (long)mallinfo2().uordblks;
}

/* The least, until two seconds bring none that is less: what a thread of ours needs while it
 * compiles comes and goes. */
static long stays(void)
{
    long least = allocated();
    for (int since = 0; since < 100; since++) {
        const long now = allocated();
        if (now < least) {
            least = now;
            since = 0;
        }
        usleep(20000);
    }
    return least;
}

static bool all_are_made(void)
{
    return pm_layered_logged("made a variant of shader") >= VARIANTS &&
           pm_layered_logged("is used from now on") >= VARIANTS;
}

/* Draws with all of them until as much is made as may be; without the layer, a few times. Nothing
 * is freed before the process ends. */
static void draw_all(const struct level *level, VkCommandBuffer buffer, enum pm_layered how)
{
    enum { FRAMES = 20 };
    uint64_t until = 0;
    for (int i = 0; i < FRAMES; i++)
        level_frame(level, &h, buffer);
    while (how != PM_LAYER_OFF && !all_are_made() && patience(&until))
        level_frame(level, &h, buffer);
    assert_true(how == PM_LAYER_OFF || all_are_made());
}

static void (*make)(struct level *level, struct pm_harness *harness, uint32_t first,
                    uint32_t shaders, uint32_t states); /* the levels */

static long cost_of_pipelines(enum pm_layered how)
{
    VkPhysicalDeviceVulkan13Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .dynamicRendering = VK_TRUE};
    const struct pm_harness_options options = {.device_next = &features};
    struct level few, level;
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "1", 1);
    setenv("PIECEMEAL_SAMPLER_API_PROBABILITY", "0.05", 1);
    setenv("PIECEMEAL_DEBUG_RECIPE", "any", 1);
    pm_harness_open(&h, &options);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t until = 0;
    /* These bring in the code, our threads' too. */
    make(&few, &h, SHADERS, WARM_UP, STATES);
    do
        level_frame(&few, &h, buffer);
    while (how != PM_LAYER_OFF && pm_layered_logged("is used from now on") == 0 &&
           patience(&until));
    const long before = stays();
    make(&level, &h, 0, SHADERS, STATES);
    draw_all(&level, buffer, how);
    return stays() - before;
}

static void assert_cheap(const char *what)
{
    const long without = pm_layered_measure(cost_of_pipelines, PM_LAYER_OFF);
    const long with = pm_layered_measure(cost_of_pipelines, PM_LAYER_IMPLICIT);
    print_message("%d pipelines%s: %ld KiB without us, %ld KiB with us\n", SHADERS * STATES, what,
                  without / 1024, with / 1024);
    assert_true(with - without < (long)8 << 20);
}

static void what_is_sampled_and_specialized_is_cheap(void **state)
{
    (void)state;
    make = level_make;
    assert_cheap("");
}

static void for_dynamic_rendering_too(void **state)
{
    (void)state;
    make = level_make_dynamic;
    assert_cheap(" for dynamic rendering");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(what_is_sampled_and_specialized_is_cheap),
        PM_LAYERED_TEST(for_dynamic_rendering_too),
    };
    /* Else it goes by the largest that was freed, and a buffer of 2 MiB may be counted. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
