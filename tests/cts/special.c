/* Cases that are no product: the tree of them, threads, forks, and many instances. */
#include "tests/cts/special.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const struct cts_case cts_special_graphics = {.target = CTS_PASS, .shader = "zeros"};
const struct cts_case cts_special_compute = {.compute = true, .shader = "zeros"};

static struct cts cts;

uint64_t cts_plainly(struct cts *of_cts, const struct cts_case *of)
{
    const VkPipeline pipeline = cts_make_pipeline(of_cts, of);
    const uint64_t hash = cts_run(of_cts, of, pipeline, pipeline);
    vkDestroyPipeline(of_cts->gpu.device, pipeline, NULL);
    return hash;
}

void cts_expect(uint64_t hash, uint64_t wanted, const char *who)
{
    if (hash != wanted)
        cts_fail("%s writes something else", who);
}

VkCommandPool cts_make_pool(const struct cts *of_cts)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = of_cts->gpu.queue_family};
    VkCommandPool pool;
    CHECK(vkCreateCommandPool(of_cts->gpu.device, &info, NULL, &pool));
    return pool;
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
    const uint64_t wanted = cts_plainly(&cts, of);
    for (uint32_t i = 0; i < count; i++) {
        workers[i] = (struct worker){.of = of, .pool = cts_make_pool(&cts)};
        workers[i].commands = cts_allocate(&cts, workers[i].pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    for (uint32_t i = 0; i < count; i++)
        cts_expect(cts_submit(&cts, of, workers[i].commands), wanted,
                   "what another thread recorded");
    for (uint32_t i = 0; i < count; i++) {
        vkDestroyCommandPool(cts.gpu.device, workers[i].pool, NULL);
        vkDestroyPipeline(cts.gpu.device, workers[i].pipeline, NULL);
    }
    cts_close(&cts, of);
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
    cts_open(&cts, &cts_special_graphics);
    const uint64_t hash = cts_plainly(&cts, &cts_special_graphics);
    cts_close(&cts, &cts_special_graphics);
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
    cts_open(&cts, &cts_special_graphics);
    const uint64_t wanted = cts_plainly(&cts, &cts_special_graphics);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    cts_expect(cts_plainly(&cts, &cts_special_graphics), wanted, "the parent");
    wait_for(child);
    cts_close(&cts, &cts_special_graphics);
    cts_pass(wanted);
}

/* ---- instances ---- */

void cts_describe_instance(struct cts_instance_info *out, uint32_t api_version)
{
    out->application = (VkApplicationInfo){.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "pm_test_gpu",
                                           .apiVersion = api_version};
    out->info = (VkInstanceCreateInfo){.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &out->application};
}

VkInstance cts_make_instance(void)
{
    struct cts_instance_info of;
    cts_describe_instance(&of, VK_API_VERSION_1_3);
    VkInstance instance;
    CHECK(vkCreateInstance(&of.info, NULL, &instance));
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
        *place = cts_make_instance();
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

static const uint32_t thread_counts[] = {2, 4, 8, 16}, device_counts[] = {2, 3, 5},
                      device_threads[] = {2, 4, 8};
static const char *const forks[] = {"before", "alive", "gone"};

enum {
    THREADS = 2 * sizeof thread_counts / sizeof thread_counts[0],
    DEVICES = 4 * sizeof device_counts / sizeof device_counts[0],
    DEVICE_THREADS = sizeof device_threads / sizeof device_threads[0],
    FORKS = sizeof forks / sizeof forks[0],
    INSTANCES = 3,
};

static bool allocation(uint32_t n, char *name, bool run)
{
    static const char *const how[2] = {"once", "on"};
    snprintf(name, 128, "pm.allocation.%s.%s", cts_failing_call(n / 2), how[n % 2]);
    if (run)
        cts_run_allocation(n / 2, n % 2);
    return true;
}

static bool devices(uint32_t n, char *name, bool run)
{
    const bool of_one = n % 2, backwards = n / 2 % 2;
    snprintf(name, 128, "pm.devices.%s.%s.%u", of_one ? "of_one" : "of_each",
             backwards ? "backwards" : "forwards", device_counts[n / 4]);
    if (run)
        cts_run_devices(device_counts[n / 4], of_one, backwards);
    return true;
}

/* Names the n-th case, or runs it; false: there is none. */
static bool special(uint32_t n, char *name, bool run)
{
    if (n < THREADS) {
        snprintf(name, 128, "pm.threads.%s.%u", n % 2 ? "compute" : "graphics",
                 thread_counts[n / 2]);
        if (run)
            run_threads(thread_counts[n / 2], n % 2 ? &cts_special_compute : &cts_special_graphics);
        return true;
    }
    n -= THREADS;
    if (n < CTS_DESTROYED * CTS_ORDERS) {
        const enum cts_destroyed what = (enum cts_destroyed)(n / CTS_ORDERS);
        snprintf(name, 128, "pm.destroy.%s.order_%u", cts_destroyed_names[what], n % CTS_ORDERS);
        if (run)
            cts_run_destruction(what, n % CTS_ORDERS);
        return true;
    }
    n -= CTS_DESTROYED * CTS_ORDERS;
    uint32_t failing = 0;
    while (cts_failing_call(failing))
        failing++;
    if (n < 2 * failing)
        return allocation(n, name, run);
    n -= 2 * failing;
    if (n < DEVICES)
        return devices(n, name, run);
    n -= DEVICES;
    if (n < DEVICE_THREADS) {
        snprintf(name, 128, "pm.devices.threads.%u", device_threads[n]);
        if (run)
            cts_run_device_threads(device_threads[n]);
        return true;
    }
    n -= DEVICE_THREADS;
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
