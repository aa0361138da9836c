/* Cases that are no product: threads, destruction in any order, allocations that fail, several
 * devices, forks, and many instances. */
#include "tests/cts/cts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct cts_case graphics = {.target = CTS_PASS, .shader = "zeros"};
static const struct cts_case compute = {.compute = true, .shader = "zeros"};

static struct cts cts;

/* What the case writes when nothing is special. */
static uint64_t plainly(struct cts *of_cts, const struct cts_case *of)
{
    const VkPipeline pipeline = cts_make_pipeline(of_cts, of);
    const uint64_t hash = cts_run(of_cts, of, pipeline, pipeline);
    vkDestroyPipeline(of_cts->gpu.device, pipeline, NULL);
    return hash;
}

static void expect(uint64_t hash, uint64_t wanted, const char *who)
{
    if (hash != wanted)
        cts_fail("%s writes something else", who);
}

static VkCommandPool make_pool(const struct cts *of_cts)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = of_cts->gpu.queue_family};
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(of_cts->gpu.device, &info, NULL, &pool));
    return pool;
}

static VkCommandBuffer allocate(const struct cts *of_cts, VkCommandPool pool)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(of_cts->gpu.device, &info, &commands));
    return commands;
}

/* ---- threads ---- */

enum { MOST_THREADS = 16, ROUNDS = 6 };

struct worker {
    pthread_t thread;
    const struct cts_case *of;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkPipeline pipeline;
};

/* Pipelines are made, recorded and thrown away; the last recording stays. */
static void *work(void *user)
{
    struct worker *worker = user;
    for (int round = 0; round < ROUNDS; round++) {
        if (worker->pipeline)
            vkDestroyPipeline(cts.gpu.device, worker->pipeline, NULL);
        worker->pipeline = cts_make_pipeline(&cts, worker->of);
        cts_record(&cts, worker->of, worker->pipeline, worker->commands);
    }
    return NULL;
}

static void run_threads(uint32_t count, const struct cts_case *of)
{
    static struct worker workers[MOST_THREADS];
    cts_open(&cts, of);
    const uint64_t wanted = plainly(&cts, of);
    for (uint32_t i = 0; i < count; i++) {
        workers[i] = (struct worker){.of = of, .pool = make_pool(&cts)};
        workers[i].commands = allocate(&cts, workers[i].pool);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < count; i++)
        expect(cts_submit(&cts, of, workers[i].commands), wanted, "what another thread recorded");
    for (uint32_t i = 0; i < count; i++) {
        vkDestroyCommandPool(cts.gpu.device, workers[i].pool, NULL);
        vkDestroyPipeline(cts.gpu.device, workers[i].pipeline, NULL);
    }
    cts_close(&cts, of);
    cts_pass(wanted);
}

/* ---- destruction ---- */

enum { PARTS = 4, ORDERS = 24 };

static void destroy_part(uint32_t part, VkPipeline pipeline, VkCommandPool pool)
{
    VkDevice device = cts.gpu.device;
    switch (part) {
    case 0:
        vkDestroyPipeline(device, pipeline, NULL);
        break;
    case 1:
        vkDestroyShaderModule(device, cts.module, NULL);
        cts.module = VK_NULL_HANDLE;
        break;
    case 2:
        cts_target_destroy(&cts);
        memset(&cts.target, 0, sizeof cts.target);
        break;
    default:
        vkDestroyCommandPool(device, pool, NULL);
        break;
    }
}

/* What was used is destroyed in the n-th order. */
static void run_destruction(uint32_t n)
{
    uint32_t left[PARTS] = {0, 1, 2, 3};
    cts_open(&cts, &graphics);
    const uint64_t wanted = plainly(&cts, &graphics);
    const VkPipeline pipeline = cts_make_pipeline(&cts, &graphics);
    const VkCommandPool pool = make_pool(&cts);
    VkCommandBuffer commands = allocate(&cts, pool);
    cts_record(&cts, &graphics, pipeline, commands);
    expect(cts_submit(&cts, &graphics, commands), wanted, "it");
    for (uint32_t count = PARTS; count > 0; count--) {
        const uint32_t at = n % count;
        n /= count;
        destroy_part(left[at], pipeline, pool);
        left[at] = left[count - 1];
    }
    cts_close(&cts, &graphics);
    cts_pass(wanted);
}

/* ---- allocations ---- */

enum { FAILING = 24 };

/* The game's n-th allocation fails: the call says so or does without, and the next one is as if
 * nothing had been. */
static void run_allocation(uint32_t n, const struct cts_case *of)
{
    cts_open(&cts, of);
    const uint64_t wanted = plainly(&cts, of);
    VkDevice device = cts.gpu.device;
    const VkShaderModuleCreateInfo words = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                            .codeSize = cts.word_count * sizeof(uint32_t),
                                            .pCode = cts.words};
    atomic_store(&cts_allocations, 0);
    atomic_store(&cts_fail_at, n);
    for (int i = 0; i < 8; i++) {
        VkShaderModule module = VK_NULL_HANDLE;
        VkPipelineCache cache = VK_NULL_HANDLE;
        VkCommandPool pool = VK_NULL_HANDLE;
        const VkPipelineCacheCreateInfo empty = {.sType =
                                                     VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
        const VkCommandPoolCreateInfo commands = {.sType =
                                                      VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                                  .queueFamilyIndex = cts.gpu.queue_family};
        if (vkCreateShaderModule(device, &words, &cts_allocator, &module) == VK_SUCCESS)
            vkDestroyShaderModule(device, module, &cts_allocator);
        if (vkCreatePipelineCache(device, &empty, &cts_allocator, &cache) == VK_SUCCESS)
            vkDestroyPipelineCache(device, cache, &cts_allocator);
        if (vkCreateCommandPool(device, &commands, &cts_allocator, &pool) == VK_SUCCESS)
            vkDestroyCommandPool(device, pool, &cts_allocator);
    }
    atomic_store(&cts_fail_at, 0);
    struct cts_case with = *of;
    with.make = CTS_ALLOCATOR;
    expect(plainly(&cts, &with), wanted, "what came after");
    cts_close(&cts, of);
    cts_pass(wanted);
}

/* ---- devices ---- */

static void run_devices(uint32_t count, bool backwards)
{
    static struct cts many[8];
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < count; i++)
        cts_open(&many[i], i % 2 ? &compute : &graphics);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t hash = plainly(&many[i], i % 2 ? &compute : &graphics);
            if (i == 0 && round == 0)
                wanted = hash;
            if (i % 2 == 0)
                expect(hash, wanted, "another device");
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = backwards ? count - 1 - i : i;
        cts_close(&many[at], at % 2 ? &compute : &graphics);
    }
    cts_pass(wanted);
}

/* ---- forks ---- */

static void wait_for(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        cts_fail("the child ended with 0x%x", (unsigned)status);
}

static uint64_t draw_all(void)
{
    cts_open(&cts, &graphics);
    const uint64_t hash = plainly(&cts, &graphics);
    cts_close(&cts, &graphics);
    return hash;
}

/* before: nothing is there yet, and both draw. alive: a device is, and the child leaves at once.
 * gone: one was, and both draw. */
static void run_fork(const char *when)
{
    const bool before = strcmp(when, "before") == 0, gone = strcmp(when, "gone") == 0;
    uint64_t first = 0;
    if (gone)
        first = draw_all();
    if (before || gone) {
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            const uint64_t hash = draw_all();
            _exit(hash == 0 || (gone && hash != first));
        }
        const uint64_t hash = draw_all();
        wait_for(child);
        cts_pass(hash);
    }
    cts_open(&cts, &graphics);
    const uint64_t wanted = plainly(&cts, &graphics);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    expect(plainly(&cts, &graphics), wanted, "the parent");
    wait_for(child);
    cts_close(&cts, &graphics);
    cts_pass(wanted);
}

/* ---- instances ---- */

static VkInstance make_instance(void)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "pm_test_gpu",
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    VkInstance instance;
    CHECK(vkCreateInstance(&info, NULL, &instance));
    return instance;
}

/* One after the other, or `alive` at once; then it draws as ever. */
static void run_instances(uint32_t count, uint32_t alive)
{
    VkInstance *instances = calloc(alive, sizeof *instances);
    assert_non_null(instances);
    for (uint32_t i = 0; i < count; i++) {
        VkInstance *place = &instances[i % alive];
        if (*place)
            vkDestroyInstance(*place, NULL);
        *place = make_instance();
        uint32_t devices = 0;
        CHECK(vkEnumeratePhysicalDevices(*place, &devices, NULL));
        assert_true(devices > 0);
    }
    for (uint32_t i = 0; i < alive; i++)
        vkDestroyInstance(instances[i], NULL);
    free(instances);
    cts_pass(draw_all());
}

/* ---- the tree ---- */

static const uint32_t thread_counts[] = {2, 4, 8, 16}, device_counts[] = {2, 3, 5};
static const char *const forks[] = {"before", "alive", "gone"};

enum {
    THREADS = 2 * sizeof thread_counts / sizeof thread_counts[0],
    DEVICES = 2 * sizeof device_counts / sizeof device_counts[0],
    FORKS = sizeof forks / sizeof forks[0],
    INSTANCES = 3,
};

/* Names the n-th case, or runs it; false: there is none. */
static bool special(uint32_t n, char *name, bool run)
{
    if (n < THREADS) {
        snprintf(name, 128, "pm.threads.%s.%u", n % 2 ? "compute" : "graphics",
                 thread_counts[n / 2]);
        if (run)
            run_threads(thread_counts[n / 2], n % 2 ? &compute : &graphics);
        return true;
    }
    n -= THREADS;
    if (n < ORDERS) {
        snprintf(name, 128, "pm.destroy.order_%u", n);
        if (run)
            run_destruction(n);
        return true;
    }
    n -= ORDERS;
    if (n < 2 * FAILING) {
        snprintf(name, 128, "pm.allocation.%s.%u", n % 2 ? "compute" : "graphics", n / 2 + 1);
        if (run)
            run_allocation(n / 2 + 1, n % 2 ? &compute : &graphics);
        return true;
    }
    n -= 2 * FAILING;
    if (n < DEVICES) {
        snprintf(name, 128, "pm.devices.%s.%u", n % 2 ? "backwards" : "forwards",
                 device_counts[n / 2]);
        if (run)
            run_devices(device_counts[n / 2], n % 2);
        return true;
    }
    n -= DEVICES;
    if (n < FORKS) {
        snprintf(name, 128, "pm.fork.%s", forks[n]);
        if (run)
            run_fork(forks[n]);
        return true;
    }
    n -= FORKS;
    if (n < INSTANCES) {
        static const uint32_t counts[INSTANCES] = {10, 1000, 100}, alive[INSTANCES] = {1, 1, 100};
        snprintf(name, 128, "pm.instances.%s.%u", alive[n] > 1 ? "alive" : "in_turn", counts[n]);
        if (run)
            run_instances(counts[n], alive[n]);
        return true;
    }
    return false;
}

bool cts_special_at(uint32_t n, char name[static 128])
{
    return special(n, name, false);
}

bool cts_special_run(const char *name)
{
    char other[128];
    for (uint32_t n = 0; special(n, other, false); n++) {
        if (strcmp(name, other) == 0)
            return special(n, other, true);
    }
    return false;
}
