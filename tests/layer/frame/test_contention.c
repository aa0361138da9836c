/*
 * 64 threads record without waiting for each other (HAZARDS 16): what the layer does on a draw, a
 * bind, and at a recording's begin and end takes no lock, outside windows and inside. Each lock
 * that the layer takes is taken by this program's functions of that name.
 */
#include "tests/layer/layered.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64, BUFFERS = 20, DRAWS = 100, LEARNED = 2000 };

static struct pm_harness h;
static VkPipeline others[2];
static uintptr_t layer_begins, layer_ends;
static uint64_t sampled;             /* calls of a recording that ran with variants */
static _Thread_local uint64_t locks; /* that the layer took */

static int find_layer(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (strstr(object->dlpi_name, "VkLayer_piecemeal") == NULL)
        return 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const uintptr_t begins = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD && (object->dlpi_phdr[i].p_flags & PF_X) != 0) {
            layer_begins = begins;
            layer_ends = begins + object->dlpi_phdr[i].p_memsz;
        }
    }
    return 1;
}

static void note(const void *caller)
{
    locks += (uintptr_t)caller >= layer_begins && (uintptr_t)caller < layer_ends;
}

#define COUNTED(function, type)                                                                    \
    __attribute__((visibility("default"))) int function(type *lock)                                \
    {                                                                                              \
        static int (*real)(type *);                                                                \
        note(__builtin_return_address(0));                                                         \
        if (!real)                                                                                 \
            *(void **)&real = dlsym(RTLD_NEXT, #function);                                         \
        return real(lock);                                                                         \
    }
COUNTED(pthread_mutex_lock, pthread_mutex_t)
COUNTED(pthread_mutex_trylock, pthread_mutex_t)
COUNTED(pthread_rwlock_rdlock, pthread_rwlock_t)
COUNTED(pthread_rwlock_wrlock, pthread_rwlock_t)

static uint64_t count_sampled(void *user, VkPipeline pipeline)
{
    (void)user;
    sampled += pipeline != h.graphics && pipeline != h.dispatch && pipeline != others[0] &&
               pipeline != others[1];
    return 0;
}

static void record(VkCommandBuffer buffer)
{
    const VkPipeline graphics[2] = {h.graphics, others[0]}, compute[2] = {h.dispatch, others[1]};
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    for (int i = 0; i < 2; i++) {
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, compute[i]);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    }
    pm_harness_begin_pass(&h, buffer);
    for (int i = 0; i < DRAWS; i++) {
        if (i % 10 == 0)
            h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics[i / 10 % 2]);
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    }
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

struct recorder {
    pthread_t thread;
    uint64_t locks;
};

static void *run(void *user)
{
    struct recorder *recorder = user;
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    VkCommandPool pool;
    VkCommandBuffer buffer;
    PM_CHECK(h.vk.CreateCommandPool(h.device, &info, NULL, &pool));
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1};
    PM_CHECK(h.vk.AllocateCommandBuffers(h.device, &allocate, &buffer));
    record(buffer); /* what is learned once */
    const uint64_t before = locks;
    for (int i = 0; i < BUFFERS; i++)
        record(buffer);
    recorder->locks = locks - before;
    h.vk.DestroyCommandPool(h.device, pool, NULL);
    return NULL;
}

/* The locks that all threads took while they recorded. */
static uint64_t locks_of_all(const char *window, const char *probability)
{
    struct recorder recorders[THREADS];
    uint64_t sum = 0;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all(probability);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", window, 1);
    setenv("PM_NULL_RECORD", "0", 1);
    pm_harness_open(&h, NULL);
    assert_int_equal(dl_iterate_phdr(find_layer, NULL), 1);
    /* The layer's do come by here. */
    const uint64_t before = locks;
    others[0] = pm_harness_make_graphics(&h);
    others[1] = pm_harness_make_compute(&h);
    assert_true(locks > before);
    /* That the game records everything anew is learned once. */
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < LEARNED; i++)
        record(buffer);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&recorders[i].thread, NULL, run, &recorders[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(recorders[i].thread, NULL);
        sum += recorders[i].locks;
    }
    sampled = 0;
    h.driver->set_cost(count_sampled, NULL);
    record(buffer);
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.driver->set_cost(NULL, NULL);
    h.vk.DestroyPipeline(h.device, others[0], NULL);
    h.vk.DestroyPipeline(h.device, others[1], NULL);
    pm_harness_close(&h);
    return sum;
}

static void none_outside_windows(void **state)
{
    (void)state;
    assert_int_equal(locks_of_all("1e-15", "1"), 0);
    assert_int_equal(sampled, 0);
}

/* The variants are there: so takes no sampled call one either. */
static void none_inside(void **state)
{
    (void)state;
    assert_int_equal(locks_of_all("1", "0.01"), 0);
    assert_int_equal(locks_of_all("1", "1"), 0);
    assert_int_equal(sampled, DRAWS + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(none_outside_windows),
        PM_LAYERED_TEST(none_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
