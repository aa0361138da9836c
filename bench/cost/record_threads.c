/*
 * record_threads THREADS BUFFERS [KEPT]: so many threads record BUFFERS command buffers each on the
 * null driver, KEPT (1) of its own in turn, of 10 binds and 100 draws, under whatever layers the environment asks for, while the
 * first thread submits one now and then, so that frames go by. Prints what the threads took, as
 * "WALL CPU SWITCHES": wall time of all and processor time (user and system) of one draw,
 * nanoseconds, and how often a thread gave up its processor by itself, a thousand command buffers.
 * Who waits for a lock does that; who writes what others read takes processor time.
 *
 * bench/cost/record_threads.py runs it with the layer and without in turn.
 */
#include "base/clock.h"
#include "tests/null_driver/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_THREADS = 1024, MOST_KEPT = 256, BINDS = 10, DRAWS_A_BIND = 10, FRAME = 1000000 /* nanoseconds */ };

struct recorder {
    pthread_t thread;
    VkCommandPool pool;
    VkCommandBuffer buffers[MOST_KEPT];
    int64_t cpu;
    long switches;
};

static struct pm_harness h;
static struct recorder recorders[MOST_THREADS];
static VkPipeline pipelines[2];
static unsigned long count;
static unsigned kept = 1;
static pthread_barrier_t start;
static _Atomic int busy;

static void record(VkCommandBuffer buffer)
{
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    pm_harness_begin_pass(&h, buffer);
    for (int i = 0; i < BINDS; i++) {
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, pipelines[i % 2]);
        for (int j = 0; j < DRAWS_A_BIND; j++)
            h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    }
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
}

static int64_t cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * PM_SECOND + now.tv_nsec;
}

static long switches_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void *run(void *user)
{
    struct recorder *recorder = user;
    /* Variants and tables are there by then. */
    for (unsigned i = 0; i < 3 * kept; i++)
        record(recorder->buffers[i % kept]);
    pthread_barrier_wait(&start);
    const int64_t cpu = cpu_now();
    const long switches = switches_now();
    for (unsigned long i = 0; i < count; i++)
        record(recorder->buffers[i % kept]);
    recorder->cpu = cpu_now() - cpu;
    recorder->switches = switches_now() - switches;
    atomic_fetch_sub(&busy, 1);
    return NULL;
}

static void make(struct recorder *recorder)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    PM_CHECK(h.vk.CreateCommandPool(h.device, &pool, NULL, &recorder->pool));
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = recorder->pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = kept};
    PM_CHECK(h.vk.AllocateCommandBuffers(h.device, &info, recorder->buffers));
}

/* Frames while the others record. */
static void submit_meanwhile(void)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    while (atomic_load(&busy) > 0) {
        record(buffer);
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
        nanosleep(&(struct timespec){.tv_nsec = FRAME}, NULL);
    }
}

static bool run_all(int threads)
{
    int64_t cpu = 0;
    long switches = 0;
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    atomic_store(&busy, threads);
    for (int i = 0; i < threads; i++) {
        make(&recorders[i]);
        if (pthread_create(&recorders[i].thread, NULL, run, &recorders[i]) != 0)
            return false;
    }
    pthread_barrier_wait(&start);
    const int64_t began = pm_now();
    submit_meanwhile();
    const int64_t wall = pm_now() - began;
    for (int i = 0; i < threads; i++) {
        pthread_join(recorders[i].thread, NULL);
        cpu += recorders[i].cpu;
        switches += recorders[i].switches;
        h.vk.DestroyCommandPool(h.device, recorders[i].pool, NULL);
    }
    const double buffers = (double)count * threads, draws = buffers * BINDS * DRAWS_A_BIND;
    printf("%.4f %.4f %.4f\n", (double)wall / draws, (double)cpu / draws,
           1000 * (double)switches / buffers);
    return true;
}

int main(int argc, char **argv)
{
    const bool given = argc == 3 || argc == 4;
    const int threads = given ? atoi(argv[1]) : 0;
    count = given ? strtoul(argv[2], NULL, 10) : 0;
    if (argc == 4)
        kept = (unsigned)strtoul(argv[3], NULL, 10);
    if (threads < 1 || threads > MOST_THREADS || count == 0 || kept < 1 || kept > MOST_KEPT) {
        fprintf(stderr, "usage: record_threads THREADS BUFFERS [KEPT]\n");
        return 2;
    }
    setenv("VK_DRIVER_FILES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("VK_ICD_FILENAMES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("PM_NULL_RECORD", "0", 1);
    pm_harness_open(&h, NULL);
    pipelines[0] = h.graphics;
    pipelines[1] = pm_harness_make_graphics(&h);
    const bool ran = run_all(threads);
    h.vk.DestroyPipeline(h.device, pipelines[1], NULL);
    pm_harness_close(&h);
    return ran ? 0 : 1;
}
