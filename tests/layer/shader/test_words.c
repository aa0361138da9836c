/* Where shader modules' words go (layer/shader/module_words.h): to the disk, but not on the game's
 * threads. Every file appears by a rename, and the layer's rename is this program's. */
#include "tests/layer/layered.h"
#include "tests/patience.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORDS = 8192, MODULES = 300, WAIT = 32 /* 1 MiB */, HARNESS_MODULES = 3 };

static struct pm_harness h;
static pthread_t game;
static _Atomic uint32_t by_game, by_others, again;       /* again: onto a file that is there */
static _Atomic bool is_full;                             /* the disk */
static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER; /* held: no other thread comes through */

__attribute__((visibility("default"))) int rename(const char *from, const char *to)
{
    if (strstr(to, "/shaders/words/") != NULL) {
        if (pthread_equal(pthread_self(), game)) {
            atomic_fetch_add(&by_game, 1);
        } else {
            pthread_mutex_lock(&slow);
            pthread_mutex_unlock(&slow);
            atomic_fetch_add(&by_others, 1);
        }
        if (access(to, F_OK) == 0)
            atomic_fetch_add(&again, 1);
        if (atomic_load(&is_full)) {
            errno = ENOSPC;
            return -1;
        }
    }
    return (int)syscall(SYS_renameat2, -100 /* AT_FDCWD */, from, -100, to, 0);
}

static void open_layered(void)
{
    game = pthread_self();
    atomic_store(&by_game, 0);
    atomic_store(&by_others, 0);
    atomic_store(&again, 0);
    atomic_store(&is_full, false);
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    unsetenv("PIECEMEAL_DEBUG_SYNCHRONOUS");
    pm_harness_open(&h, NULL);
}

/* Modules that the game destroys at once. */
static void make_modules(uint32_t count)
{
    static uint32_t words[WORDS];
    words[0] = 0x07230203; /* nobody reads further */
    for (uint32_t i = 0; i < count; i++) {
        words[WORDS - 1] = i;
        VkShaderModule module = pm_harness_make_module(&h, words, sizeof words);
        h.vk.DestroyShaderModule(h.device, module, NULL);
    }
}

static void wait_for_others(uint32_t count)
{
    uint64_t until = 0;
    while (atomic_load(&by_others) < count && patience(&until))
        usleep(1000);
    assert_true(atomic_load(&by_others) >= count);
}

static void no_thread_of_the_game_writes(void **state)
{
    (void)state;
    open_layered();
    make_modules(WAIT / 4);
    assert_int_equal(atomic_load(&by_game), 0);
    wait_for_others(HARNESS_MODULES + WAIT / 4);
    pm_harness_close(&h);
    /* The next session finds them. */
    open_layered();
    make_modules(WAIT / 4);
    pm_harness_close(&h);
    assert_int_equal(atomic_load(&by_others), 0);
    assert_int_equal(atomic_load(&by_game), 0);
    assert_int_equal(atomic_load(&again), 0);
}

/* No more waits in memory than there is room for; and a device goes without waiting for all. */
static void what_waits_is_bounded(void **state)
{
    (void)state;
    pthread_mutex_lock(&slow);
    open_layered();
    make_modules(MODULES);
    assert_in_range(atomic_load(&by_game), MODULES - WAIT, MODULES - WAIT + 8);
    assert_int_equal(atomic_load(&by_others), 0);
    pthread_mutex_unlock(&slow);
    pm_harness_close(&h);
}

static bool is_sampled(VkPipeline pipeline)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_run(&h, buffer);
    const bool sampled = pm_calls_of(h.driver, position, "vkCmdBindPipeline") == 3;
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return sampled;
}

static void sample(void)
{
    uint64_t until = 0;
    bool sampled = false;
    while (!(sampled = is_sampled(h.dispatch)) && patience(&until))
        usleep(1000);
    assert_true(sampled);
}

/* Variants are made of words that are not on the disk yet. */
static void a_slow_disk_costs_no_variant(void **state)
{
    (void)state;
    pthread_mutex_lock(&slow);
    open_layered();
    sample();
    assert_int_equal(atomic_load(&by_others), 0);
    pthread_mutex_unlock(&slow);
    pm_harness_close(&h);
}

/* Nor does one that takes nothing. */
static void a_full_disk_costs_no_variant(void **state)
{
    (void)state;
    pthread_mutex_lock(&slow);
    open_layered();
    atomic_store(&is_full, true);
    VkPipeline late = pm_harness_make_compute(&h);
    pthread_mutex_unlock(&slow);
    wait_for_others(1);
    sample();
    make_modules(MODULES); /* none of whose words has a place for long */
    h.vk.DestroyPipeline(h.device, late, NULL);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(no_thread_of_the_game_writes),
        PM_LAYERED_TEST(what_waits_is_bounded),
        PM_LAYERED_TEST(a_slow_disk_costs_no_variant),
        PM_LAYERED_TEST(a_full_disk_costs_no_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
