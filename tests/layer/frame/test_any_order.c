/* Whatever a program may do with pools, command buffers, pipelines and queues, in any order, from
 * several threads, while windows open and close and variants compile. The driver notices a
 * destroyed pipeline in a submitted buffer, a buffer that is reset while pending, and what is left
 * at the end. */
#include "tests/layer/layered.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 3, POOLS = 2, BUFFERS = 12, PIPELINES = 6, STEPS = 4000, ROUNDS = 4 };

enum state { ABSENT, INITIAL, RECORDING, EXECUTABLE, INVALID };

struct buffer {
    VkCommandBuffer handle;
    enum state state;
    uint32_t pool;
    bool secondary, pending, once, simultaneous, in_pass;
    uint32_t pipelines, bound; /* by bits: those that it names, those that are bound */
    uint32_t secondaries;      /* that it names */
};

struct world {
    struct pm_harness h; /* a copy: the pool in it is this thread's */
    uint64_t random;
    VkQueue queue;
    VkCommandPool pools[POOLS];
    struct buffer buffers[BUFFERS];
    VkPipeline pipelines[PIPELINES]; /* the first half draw, the others dispatch */
    uint64_t submits;
};

static uint32_t pick(struct world *w, uint32_t below)
{
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(w->random >> 33) % below;
}

static void wait(struct world *w)
{
    PM_CHECK(w->h.vk.QueueWaitIdle(w->queue));
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *b = &w->buffers[i];
        if (b->pending && b->once)
            b->state = INVALID;
        b->pending = false;
    }
}

/* A buffer's recording goes: so do those that name it. */
static void drop(struct world *w, uint32_t index, enum state state)
{
    for (int i = 0; i < BUFFERS; i++) {
        struct buffer *b = &w->buffers[i];
        if ((b->secondaries & 1u << index) && b->state > INITIAL)
            b->state = INVALID;
    }
    w->buffers[index].state = state;
    w->buffers[index].pipelines = w->buffers[index].bound = w->buffers[index].secondaries = 0;
    w->buffers[index].in_pass = false;
}

static bool pool_pends(const struct world *w, uint32_t pool)
{
    bool pends = false;
    for (int i = 0; i < BUFFERS; i++)
        pends |=
            w->buffers[i].state != ABSENT && w->buffers[i].pool == pool && w->buffers[i].pending;
    return pends;
}

static void make_pool(struct world *w, uint32_t pool)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    PM_CHECK(w->h.vk.CreateCommandPool(w->h.device, &info, NULL, &w->pools[pool]));
}

static void use_pool(struct world *w, uint32_t pool, bool destroy)
{
    if (pool_pends(w, pool))
        wait(w);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        if (w->buffers[i].state != ABSENT && w->buffers[i].pool == pool)
            drop(w, i, destroy ? ABSENT : INITIAL);
    }
    if (!destroy) {
        PM_CHECK(w->h.vk.ResetCommandPool(w->h.device, w->pools[pool], 0));
        return;
    }
    w->h.vk.DestroyCommandPool(w->h.device, w->pools[pool], NULL);
    make_pool(w, pool);
}

static void allocate(struct world *w, uint32_t index)
{
    struct buffer *b = &w->buffers[index];
    *b = (struct buffer){.state = INITIAL, .pool = pick(w, POOLS), .secondary = pick(w, 3) == 0};
    w->h.pool = w->pools[b->pool];
    b->handle = pm_harness_allocate(&w->h, b->secondary ? VK_COMMAND_BUFFER_LEVEL_SECONDARY
                                                        : VK_COMMAND_BUFFER_LEVEL_PRIMARY);
}

static void begin(struct world *w, uint32_t index)
{
    struct buffer *b = &w->buffers[index];
    if (b->pending)
        wait(w);
    drop(w, index, RECORDING);
    b->once = !b->secondary && pick(w, 2);
    b->simultaneous = b->secondary || (!b->once && pick(w, 2));
    pm_harness_begin(&w->h, b->handle,
                     (b->once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0u) |
                         (b->simultaneous ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0u));
    pm_harness_bind_set(&w->h, b->handle);
}

static void execute(struct world *w, struct buffer *b)
{
    VkCommandBuffer handles[BUFFERS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        if (!w->buffers[i].secondary || w->buffers[i].state != EXECUTABLE)
            continue;
        handles[count++] = w->buffers[i].handle;
        b->secondaries |= 1u << i;
        b->pipelines |= w->buffers[i].pipelines;
    }
    if (count > 0)
        w->h.vk.CmdExecuteCommands(b->handle, count, handles);
    b->bound = 0;
}

static void record(struct world *w, struct buffer *b)
{
    const uint32_t half = PIPELINES / 2;
    if (!b->in_pass && !b->secondary && pick(w, 8) == 0) {
        execute(w, b);
        return;
    }
    if (!b->secondary && pick(w, 6) == 0) {
        if (b->in_pass)
            w->h.vk.CmdEndRenderPass(b->handle);
        else
            pm_harness_begin_pass(&w->h, b->handle);
        b->in_pass = !b->in_pass;
    }
    const bool graphics = b->in_pass;
    const uint32_t mask = graphics ? (1u << half) - 1 : ~((1u << half) - 1);
    if ((b->bound & mask) == 0 || pick(w, 3) == 0) {
        const uint32_t pipeline = pick(w, half) + (graphics ? 0 : half);
        w->h.vk.CmdBindPipeline(
            b->handle, graphics ? VK_PIPELINE_BIND_POINT_GRAPHICS : VK_PIPELINE_BIND_POINT_COMPUTE,
            w->pipelines[pipeline]);
        b->pipelines |= 1u << pipeline;
        b->bound = (b->bound & ~mask) | 1u << pipeline;
    }
    if (graphics)
        w->h.vk.CmdDraw(b->handle, 3, 1, 0, 0);
    else
        w->h.vk.CmdDispatch(b->handle, 1, 1, 1);
}

static void submit(struct world *w, struct buffer *b)
{
    if (b->secondary || (b->pending && !b->simultaneous))
        return;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        if (b->secondaries & 1u << i)
            w->buffers[i].pending = true;
    }
    b->pending = true;
    w->submits++;
    pm_harness_submit(&w->h, w->queue, b->handle, VK_NULL_HANDLE);
    if (b->once)
        b->state = INVALID;
}

static void replace_pipeline(struct world *w, uint32_t index)
{
    for (int i = 0; i < BUFFERS; i++) {
        if (w->buffers[i].state != ABSENT && w->buffers[i].pending &&
            (w->buffers[i].pipelines & 1u << index))
            wait(w);
    }
    for (int i = 0; i < BUFFERS; i++) {
        if (w->buffers[i].state > INITIAL && (w->buffers[i].pipelines & 1u << index))
            w->buffers[i].state = INVALID;
    }
    w->h.vk.DestroyPipeline(w->h.device, w->pipelines[index], NULL);
    w->pipelines[index] =
        index < PIPELINES / 2 ? pm_harness_make_graphics(&w->h) : pm_harness_make_compute(&w->h);
}

static void step(struct world *w)
{
    const uint32_t index = pick(w, BUFFERS), what = pick(w, 200);
    struct buffer *b = &w->buffers[index];
    if (what == 0)
        use_pool(w, pick(w, POOLS), true);
    else if (what == 1)
        use_pool(w, pick(w, POOLS), false);
    else if (what == 2)
        replace_pipeline(w, pick(w, PIPELINES));
    else if (what < 6)
        wait(w);
    else if (b->state == ABSENT)
        allocate(w, index);
    else if (what < 10) {
        if (b->pending)
            wait(w);
        if (what == 6) {
            w->h.vk.FreeCommandBuffers(w->h.device, w->pools[b->pool], 1, &b->handle);
            drop(w, index, ABSENT);
        } else {
            PM_CHECK(w->h.vk.ResetCommandBuffer(b->handle, 0));
            drop(w, index, INITIAL);
        }
    } else if (b->state == INITIAL || b->state == INVALID)
        begin(w, index);
    else if (b->state == EXECUTABLE)
        submit(w, b);
    else if (what < 40) {
        if (b->in_pass)
            w->h.vk.CmdEndRenderPass(b->handle);
        b->in_pass = false;
        PM_CHECK(w->h.vk.EndCommandBuffer(b->handle));
        b->state = EXECUTABLE;
    } else
        record(w, b);
}

static void *run(void *user)
{
    struct world *w = user;
    for (uint32_t i = 0; i < POOLS; i++)
        make_pool(w, i);
    for (int i = 0; i < PIPELINES; i++)
        w->pipelines[i] =
            i < PIPELINES / 2 ? pm_harness_make_graphics(&w->h) : pm_harness_make_compute(&w->h);
    for (int i = 0; i < STEPS; i++)
        step(w);
    wait(w);
    for (int i = 0; i < PIPELINES; i++)
        w->h.vk.DestroyPipeline(w->h.device, w->pipelines[i], NULL);
    for (uint32_t i = 0; i < POOLS; i++)
        w->h.vk.DestroyCommandPool(w->h.device, w->pools[i], NULL);
    return NULL;
}

static void in_any_order(uint32_t thread_count)
{
    const struct pm_harness_options options = {.queues = thread_count};
    static struct world worlds[THREADS];
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.1", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "16", 1);
    setenv("PIECEMEAL_SAMPLER_API_PROBABILITY", "0.5", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "1", 1);
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "3", 1);
    setenv("PIECEMEAL_LIMITS_VARIANTS", "60000", 1);
    setenv("PIECEMEAL_LOG_LEVEL", "info", 1);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct pm_harness h;
        pm_harness_open(&h, &options);
        h.driver->set_delay(round * 50);
        pthread_t threads[THREADS];
        for (uint64_t i = 0; i < thread_count; i++) {
            worlds[i] =
                (struct world){.h = h, .random = round * THREADS + i + 1, .queue = h.queues[i]};
            assert_int_equal(pthread_create(&threads[i], NULL, run, &worlds[i]), 0);
        }
        for (uint32_t i = 0; i < thread_count; i++) {
            pthread_join(threads[i], NULL);
            assert_true(worlds[i].submits > 100);
        }
        pm_harness_close(&h);
    }
}

static void anything_in_any_order(void **state)
{
    (void)state;
    in_any_order(THREADS);
}

/* The device's one queue: what is kept is recorded twice (frame/predicated.h). */
static void on_the_only_queue(void **state)
{
    (void)state;
    in_any_order(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(anything_in_any_order),
        PM_LAYERED_TEST(on_the_only_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
