/* Many threads record pushes and bind pipelines that have variants for their values, while these
 * variants are made in the background, proven, and destroyed with their pipelines. Each call that
 * reaches the driver with a variant bound has the words that it was made for. Run under the thread
 * sanitizer, too. */
#include "tests/layer/folded.h"
#include "tests/layer/optimized.h"
#include "tests/patience.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, OWN = 2, ROUNDS = 100, CALLS = 24, WATCHED = 3 };

static struct folded folded;
static const struct folded_push usual = {1, 3, 0.5f, 2};
static _Atomic uint32_t with_variant, wrong;

/* A thread's recording, as the driver sees it: calls are passed on on the thread that makes them.
 */
static _Thread_local struct {
    VkPipeline game[OWN + 1];
    uint32_t game_count;
    uint64_t bound;
    struct folded_push words;
    uint32_t known; /* of the words, as bits */
} seen;

static bool is_game(uint64_t pipeline)
{
    for (uint32_t i = 0; i < seen.game_count; i++)
        if (PM_NULL_NUMBER(seen.game[i]) == pipeline)
            return true;
    return false;
}

static void see_push(const struct pm_null_call *call)
{
    const uint64_t layout = call->arguments[1];
    const uint32_t offset = (uint32_t)call->arguments[3], size = (uint32_t)call->arguments[4];
    if (layout != PM_NULL_NUMBER(folded.layout) && layout != PM_NULL_NUMBER(folded.equal)) {
        seen.known = 0;
        return;
    }
    memcpy((char *)&seen.words + offset, (const void *)(uintptr_t)call->arguments[5], size);
    seen.known |= ((1u << size / 4) - 1) << offset / 4;
}

static void watch(void *user, const struct pm_null_call *call)
{
    (void)user;
    const uint32_t watched = (1u << WATCHED) - 1;
    if (seen.game_count == 0)
        return;
    if (strcmp(call->command, "vkBeginCommandBuffer") == 0) {
        seen.known = 0;
    } else if (strcmp(call->command, "vkCmdPushConstants") == 0) {
        see_push(call);
    } else if (strcmp(call->command, "vkCmdBindPipeline") == 0) {
        seen.bound = call->arguments[2];
    } else if (strcmp(call->command, "vkCmdDispatch") == 0 && !is_game(seen.bound)) {
        atomic_fetch_add(&with_variant, 1);
        if ((seen.known & watched) != watched || memcmp(&seen.words, &usual, 4 * WATCHED) != 0)
            atomic_fetch_add(&wrong, 1);
    }
}

struct recorder {
    struct pm_harness h; /* a copy: the pool in it is this thread's */
    uint64_t random;
    VkCommandBuffer buffer;
};

static uint32_t pick(struct recorder *r, uint32_t below)
{
    r->random = r->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(r->random >> 33) % below;
}

/* Any words by any layout; the usual ones by that of the pipelines most often. */
static void push(struct recorder *r)
{
    struct folded_push words = usual;
    const VkPipelineLayout layouts[] = {folded.layout, folded.layout, folded.equal, folded.other};
    const uint32_t first = pick(r, 3) ? 0 : pick(r, 4);
    if (pick(r, 4) == 0)
        words.mode = (int32_t)pick(r, 3);
    if (pick(r, 2))
        words.scale = (float)pick(r, 8);
    folded_push(&r->h, r->buffer, layouts[pick(r, 4)], &words, first,
                first ? 1 + pick(r, 4 - first) : 4);
}

static void record(struct recorder *r, bool once)
{
    pm_harness_begin(&r->h, r->buffer, once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0u);
    pm_harness_bind_set(&r->h, r->buffer);
    r->h.vk.CmdBindPipeline(r->buffer, VK_PIPELINE_BIND_POINT_COMPUTE, seen.game[0]);
    for (int i = 0; i < CALLS; i++) {
        if (pick(r, 3) == 0)
            r->h.vk.CmdBindPipeline(r->buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                    seen.game[pick(r, seen.game_count)]);
        if (pick(r, 2))
            push(r);
        r->h.vk.CmdDispatch(r->buffer, 1, 1, 1);
    }
    PM_CHECK(r->h.vk.EndCommandBuffer(r->buffer));
}

static VkPipeline make(struct recorder *r)
{
    size_t size;
    const uint32_t *words = folded_words(VK_SHADER_STAGE_COMPUTE_BIT, &size);
    return pm_harness_compute_of(&r->h, words, size, folded.layout);
}

static void *run(void *user)
{
    struct recorder *r = user;
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    PM_CHECK(r->h.vk.CreateCommandPool(r->h.device, &info, NULL, &r->h.pool));
    r->buffer = pm_harness_allocate(&r->h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    seen.game[0] = folded.compute;
    for (uint32_t i = 1; i <= OWN; i++)
        seen.game[i] = make(r);
    seen.game_count = 1 + OWN;
    uint64_t until = 0;
    int first = -1; /* round in which there was a variant */
    for (int i = 0; first < 0 || i < first + ROUNDS; i++) {
        if (first < 0 && (atomic_load(&with_variant) > 0 || !patience(&until)))
            first = i;
        record(r, pick(r, 2));
        /* Whatever names it is recorded anew. */
        if (i % 16 == 15) {
            const uint32_t which = 1 + pick(r, OWN);
            PM_CHECK(r->h.vk.ResetCommandBuffer(r->buffer, 0));
            r->h.vk.DestroyPipeline(r->h.device, seen.game[which], NULL);
            seen.game[which] = make(r);
        }
    }
    for (uint32_t i = 1; i <= OWN; i++)
        r->h.vk.DestroyPipeline(r->h.device, seen.game[i], NULL);
    seen.game_count = 0;
    r->h.vk.DestroyCommandPool(r->h.device, r->h.pool, NULL);
    return NULL;
}

static void recorded_by_many(void **state)
{
    (void)state;
    struct pm_harness h;
    static struct recorder recorders[THREADS];
    pthread_t threads[THREADS];
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_GAME_NAME", "game", 1);
    pm_harness_open(&h, NULL);
    folded_make(&folded, &h);
    folded_use(&folded, &h, &usual);
    folded_destroy(&folded, &h);
    pm_harness_close(&h);

    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    pm_harness_open(&h, NULL);
    folded_make(&folded, &h);
    h.driver->set_callback(watch, NULL);
    for (uint64_t i = 0; i < THREADS; i++) {
        recorders[i] = (struct recorder){.h = h, .random = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, run, &recorders[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    h.driver->set_callback(NULL, NULL);
    assert_true(atomic_load(&with_variant) > 0);
    assert_int_equal(atomic_load(&wrong), 0);
    folded_destroy(&folded, &h);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(recorded_by_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
