/* Recordings that begin, bind, push, ask queries, execute others and are reset in any order, with a
 * driver that knows what is bound as a call would come: the hooks of command buffers, binds, pushes
 * and queries together (layer/hooks). Where variants may be bound, and how much has to be known of
 * recordings, changes on the way. */
#include "base/random.h"
#include "layer/frame/executed.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/shader/optimize.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/standing.h"

#include "tests/cmocka_includes.h"

#include <inttypes.h>

/* As the loader makes them: the first word says whose it is. */
struct dispatchable {
    const void *key;
};

#define ALL_STAGES (VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT)
enum {
    BUFFERS = 5,
    PIPELINES = 5,
    UNKNOWN = PIPELINES, /* one more, that the layer knows nothing of */
    WORDS = 6,           /* of push constants */
    OTHER_WORDS = 4,     /* of the other layout */
    EXPECTED = 7,        /* the value that each watched word is to have */
    STEPS = 30000,
    SEEDS = 12,
};

/* What changes within a run, as bits. */
enum { CARE = 1, FOLLOW = 2, LEARNED = 4, ARMING = 8, RUNS = 16 };

/* Handles: a pipeline's, and behind it those of its variants. */
enum { HANDLES = 0x1000, BEST = 1, FOLDED = 2 };
static uint64_t handle_of(int pipeline)
{
    return (uint64_t)(pipeline + 1) * HANDLES;
}

/* By pipeline: with a variant that may stand anywhere, and the words that a folded one watches. */
static const bool has_best[PIPELINES] = {[1] = true, [3] = true};
static const uint32_t watched_words[PIPELINES] = {[2] = 0x6, [3] = 0xc, [4] = 0x10};

static const int key;
static struct dispatchable device_handle = {&key}, places[BUFFERS];
static VkCommandBuffer buffers[BUFFERS];
static struct pm_sampling sampling;
static struct pm_pipelines pipelines;
static struct pm_device device;
static struct pm_pipeline known[PIPELINES];
static struct pm_optimized best[PIPELINES], folded[PIPELINES];
static VkPipelineLayout layout, other_layout;

/* What the driver and the game know of a recording. */
static struct recording {
    bool open;
    bool careful;                   /* it began where what is bound was to be known */
    uint64_t bound[PM_BIND_POINTS]; /* by the layer */
    uint64_t game[PM_BIND_POINTS];  /* by the game */
    uint32_t queries;               /* active, whose result a variant could change */
    uint32_t pushed;                /* words, since it began or executed another */
    uint32_t words[WORDS];
} recordings[BUFFERS];

/* Calls that found such a thing bound. */
static struct {
    uint64_t game, best, folded, queried;
} found;

static struct recording *recording_of(VkCommandBuffer handle)
{
    return &recordings[(struct dispatchable *)handle - places];
}

/* ---- the driver ---- */

static VKAPI_ATTR VkResult VKAPI_CALL driver_begin(VkCommandBuffer handle,
                                                   const VkCommandBufferBeginInfo *info)
{
    (void)handle, (void)info;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_end(VkCommandBuffer handle)
{
    (void)handle;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_reset(VkCommandBuffer handle,
                                                   VkCommandBufferResetFlags flags)
{
    (void)handle, (void)flags;
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL driver_execute(VkCommandBuffer handle, uint32_t count,
                                                 const VkCommandBuffer *secondaries)
{
    (void)count, (void)secondaries;
    struct recording *recording = recording_of(handle);
    memset(recording->bound, 0, sizeof recording->bound);
}

static VKAPI_ATTR void VKAPI_CALL driver_bind(VkCommandBuffer handle, VkPipelineBindPoint point,
                                              VkPipeline pipeline)
{
    recording_of(handle)->bound[point] = PM_BITS(pipeline);
}

static VKAPI_ATTR void VKAPI_CALL driver_push(VkCommandBuffer handle, VkPipelineLayout used,
                                              VkShaderStageFlags stages, uint32_t offset,
                                              uint32_t size, const void *values)
{
    (void)handle, (void)used, (void)stages, (void)offset, (void)size, (void)values;
}

static VKAPI_ATTR void VKAPI_CALL driver_begin_query(VkCommandBuffer handle, VkQueryPool pool,
                                                     uint32_t query, VkQueryControlFlags flags)
{
    (void)handle, (void)pool, (void)query, (void)flags;
}

static VKAPI_ATTR void VKAPI_CALL driver_end_query(VkCommandBuffer handle, VkQueryPool pool,
                                                   uint32_t query)
{
    (void)handle, (void)pool, (void)query;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_create_pool(VkDevice handle,
                                                         const VkCommandPoolCreateInfo *info,
                                                         const VkAllocationCallbacks *allocator,
                                                         VkCommandPool *out)
{
    (void)handle, (void)info, (void)allocator;
    *out = (VkCommandPool)(uintptr_t)1;
    return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL driver_allocate(VkDevice handle,
                                                      const VkCommandBufferAllocateInfo *info,
                                                      VkCommandBuffer *out)
{
    (void)handle;
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        places[i].key = &key;
        out[i] = (VkCommandBuffer)&places[i];
    }
    return VK_SUCCESS;
}

static const struct pm_device_dispatch driver = {
    .BeginCommandBuffer = driver_begin,
    .EndCommandBuffer = driver_end,
    .ResetCommandBuffer = driver_reset,
    .CmdExecuteCommands = driver_execute,
    .CmdBindPipeline = driver_bind,
    .CmdPushConstants = driver_push,
    .CmdBeginQuery = driver_begin_query,
    .CmdEndQuery = driver_end_query,
    .CreateCommandPool = driver_create_pool,
    .AllocateCommandBuffers = driver_allocate,
};

/* ---- a run ---- */

static VkPipelineLayout make_layout(uintptr_t handle, uint32_t words)
{
    VkPipelineLayout made = (VkPipelineLayout)handle;
    const VkPushConstantRange range = {.stageFlags = ALL_STAGES, .size = words * 4};
    const VkPipelineLayoutCreateInfo info = {.pushConstantRangeCount = 1,
                                             .pPushConstantRanges = &range};
    pm_push_layouts_put(&pipelines.push_layouts, made, &info);
    return made;
}

static void make_pipeline(int i, struct pm_push_ranges *ranges, bool follow)
{
    const uint64_t handle = handle_of(i);
    known[i].device = &device;
    known[i].handle = handle;
    known[i].push_ranges = ranges;
    best[i].pipeline = folded[i].pipeline = &known[i];
    best[i].built.handle = handle + BEST;
    folded[i].built.handle = handle + FOLDED;
    atomic_store(&best[i].bound, true);
    atomic_store(&folded[i].bound, true);
    if (has_best[i]) {
        atomic_store(&known[i].optimized, &best[i]);
        atomic_store(&known[i].best, handle + BEST);
    }
    if (follow && watched_words[i] != 0) {
        struct pm_watch *watch = &folded[i].watch;
        watch->ranges = ranges;
        watch->mask = watched_words[i];
        for (uint32_t word = 0; word < WORDS; word++) {
            if ((watch->mask >> word & 1) == 0)
                continue;
            watch->words[watch->count].word = word;
            watch->words[watch->count++].value = EXPECTED;
        }
        atomic_fetch_or(&ranges->watched, watch->mask);
        atomic_store(&known[i].folded, &folded[i]);
        atomic_store(&known[i].folded_best, &folded[i]);
    }
    assert_true(pm_lookup_put(&pipelines.by_handle, handle, &known[i]));
}

static void begin_run(int run)
{
    memset(recordings, 0, sizeof recordings);
    memset(known, 0, sizeof known);
    memset(best, 0, sizeof best);
    memset(folded, 0, sizeof folded);
    device = (struct pm_device){.handle = (VkDevice)&device_handle,
                                .sampling = &sampling,
                                .pipelines = &pipelines,
                                .dispatch = driver};
    sampling.device = pipelines.device = &device;
    sampling.arm = pm_registry_arm;
    pm_lookup_init_of_pointers(&sampling.commands);
    pm_lookup_init(&sampling.pools);
    pm_lookup_init(&sampling.queries);
    pthread_mutex_init(&sampling.lock, NULL);
    atomic_store(&sampling.learned, (run & LEARNED) != 0);
    atomic_store(&sampling.queries_see, true);
    pm_lookup_init(&pipelines.by_handle);
    pm_lookup_init(&pipelines.by_shader);
    pm_push_layouts_init(&pipelines.push_layouts);
    device.standing = pm_standing_create(&device.stands);
    assert_non_null(device.standing);
    layout = make_layout(1, WORDS);
    other_layout = make_layout(2, OTHER_WORDS);
    for (int i = 0; i < PIPELINES; i++)
        make_pipeline(i, pm_push_layouts_find(&pipelines.push_layouts, layout),
                      (run & FOLLOW) != 0);
    pm_registry_swap_recordings(pm_recording_table_swap);
    assert_true(pm_registry_add_device(&device));
    VkCommandPool pool;
    const VkCommandPoolCreateInfo info = {.flags = 0};
    assert_int_equal(pm_CreateCommandPool(device.handle, &info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {.commandPool = pool,
                                                  .commandBufferCount = BUFFERS};
    assert_int_equal(pm_AllocateCommandBuffers(device.handle, &allocate, buffers), VK_SUCCESS);
    pm_registry_set_binds(&device, PM_BINDS_STAND, PM_BINDS_STAND);
}

static void end_run(void)
{
    pm_registry_remove_device(&device);
    pm_commands_destroy(&sampling);
    pm_lookup_finish(&sampling.commands);
    pm_lookup_finish(&sampling.pools);
    pm_lookup_finish(&sampling.queries);
    pthread_mutex_destroy(&sampling.lock);
    for (int i = 0; i < PIPELINES; i++)
        pm_standing_forget(&known[i].stands);
    pm_standing_destroy(device.standing);
    pm_push_layouts_finish(&pipelines.push_layouts);
    pm_lookup_finish(&pipelines.by_handle);
    pm_lookup_finish(&pipelines.by_shader);
    memset(&sampling, 0, sizeof sampling);
    memset(&pipelines, 0, sizeof pipelines);
}

/* ---- what a call may find ---- */

/* Whether the words of a folded variant were pushed with the values that it was made for. */
static bool fits(const struct recording *recording, const struct pm_watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        const uint32_t word = watch->words[i].word;
        if ((recording->pushed >> word & 1) == 0 || recording->words[word] != watch->words[i].value)
            return false;
    }
    return watch->count > 0;
}

/* A draw or dispatch would come. What is wrong with what is bound; NULL: nothing. */
static const char *call(const struct recording *recording, int point)
{
    const uint64_t game = recording->game[point], bound = recording->bound[point];
    if (game == 0)
        return NULL;
    if (bound == game) {
        found.game++;
        found.queried += recording->queries > 0;
        return NULL;
    }
    const int i = (int)(game / HANDLES) - 1;
    if (i == UNKNOWN)
        return "something in the place of a pipeline that is not known";
    if (recording->queries > 0)
        return "a query sees a variant";
    if (has_best[i] && bound == game + BEST) {
        found.best++;
        return NULL;
    }
    if (bound != game + FOLDED)
        return "something else is bound";
    found.folded++;
    return fits(recording, &folded[i].watch) ? NULL : "a variant for words that were not pushed";
}

/* ---- the game's steps ---- */

static uint32_t pick(struct pm_random *random, uint32_t below)
{
    return (uint32_t)(pm_random_next(random) % below);
}

static void begin(struct pm_random *random, VkCommandBuffer buffer)
{
    /* What was recorded before was submitted once or, seldom, twice. */
    atomic_store(&pm_command_of(&sampling, buffer)->submits, pick(random, 30) == 0 ? 2 : 1);
    if (pick(random, 3) == 0)
        assert_int_equal(pm_ResetCommandBuffer(buffer, 0), VK_SUCCESS);
    const VkCommandBufferBeginInfo info = {
        .flags = pick(random, 20) == 0 ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    *recording_of(buffer) =
        (struct recording){.open = true, .careful = pm_binds_any(&device, PM_BINDS_CAREFUL)};
    assert_int_equal(pm_BeginCommandBuffer(buffer, &info), VK_SUCCESS);
}

static void end_query(struct recording *recording, VkCommandBuffer buffer)
{
    pm_CmdEndQuery(buffer, (VkQueryPool)(uintptr_t)1, 0);
    recording->queries--;
}

static void end(struct recording *recording, VkCommandBuffer buffer)
{
    while (recording->queries > 0)
        end_query(recording, buffer);
    assert_int_equal(pm_EndCommandBuffer(buffer), VK_SUCCESS);
    recording->open = false;
}

static void execute(struct pm_random *random, struct recording *recording, VkCommandBuffer buffer)
{
    const int of = (int)(recording - recordings);
    const VkCommandBuffer others[] = {buffers[(of + 1) % BUFFERS], buffers[(of + 2) % BUFFERS]};
    pm_CmdExecuteCommands(buffer, 1 + pick(random, 2), others);
    memset(recording->game, 0, sizeof recording->game);
    recording->pushed = 0;
}

/* All words, or some in a row, with one layout or the other, mostly with what variants expect. */
static void push(struct pm_random *random, struct recording *recording, VkCommandBuffer buffer)
{
    uint32_t words[WORDS], first = 0, count = OTHER_WORDS;
    const bool other = pick(random, 25) == 0;
    if (!other) {
        first = pick(random, 3) != 0 ? 0 : pick(random, 4);
        count = WORDS - first;
        if (pick(random, 4) == 0)
            count = 1;
        else if (pick(random, 3) == 0)
            count = 1 + pick(random, count);
    }
    for (uint32_t i = 0; i < count; i++)
        words[i] = pick(random, 4) != 0 ? EXPECTED : pick(random, 3);
    pm_CmdPushConstants(buffer, other ? other_layout : layout, ALL_STAGES, first * 4, count * 4,
                        words);
    memcpy(&recording->words[first], words, count * sizeof words[0]);
    recording->pushed |= ((1u << count) - 1) << first;
}

static void bind(struct pm_random *random, struct recording *recording, VkCommandBuffer buffer)
{
    const VkPipelineBindPoint point =
        pick(random, 4) == 0 ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS;
    const uint64_t handle = handle_of((int)pick(random, PIPELINES + 1));
    recording->game[point] = handle;
    pm_CmdBindPipeline(buffer, point, PM_TO_HANDLE(VkPipeline, handle));
}

static void step(struct pm_random *random, VkCommandBuffer buffer)
{
    struct recording *recording = recording_of(buffer);
    if (!recording->open) {
        begin(random, buffer);
        return;
    }
    const uint32_t what = pick(random, 48);
    if (what < 1)
        end(recording, buffer);
    else if (what < 3 && recording->queries == 0)
        execute(random, recording, buffer);
    else if (what < 5 && recording->careful) {
        /* Of one that began before, it is not known; nor does a game begin one without a pool. */
        pm_CmdBeginQuery(buffer, (VkQueryPool)(uintptr_t)1, 0, 0);
        recording->queries++;
    } else if (what < 9 && recording->queries > 0)
        end_query(recording, buffer);
    else if (what < 21)
        push(random, recording, buffer);
    else if (what < 33)
        bind(random, recording, buffer);
}

/* Before which steps what happens; never: none. */
struct turns {
    int care, follow, followed, learned;
};

/* What the layer finds out on the way, on another thread as far as it is followed what is pushed:
 * recordings begin while it stands in pm_registry_follow. */
static void turn(const struct turns *turns, int run, int now, struct pm_random *random)
{
    const uint64_t words = watched_words[2] | watched_words[3] | watched_words[4];
    if ((run & CARE) != 0 && now == turns->care)
        pm_registry_be_careful(&device);
    if ((run & FOLLOW) != 0 && now == turns->follow) {
        pm_registry_set_binds(&device, PM_BINDS_WATCHED, PM_BINDS_WATCHED);
        atomic_fetch_or(&device.watched, words);
    }
    if ((run & FOLLOW) != 0 && now == turns->followed)
        pm_registry_follow(&device, words);
    if (now == turns->learned)
        pm_sampling_set_learned(&sampling);
    if ((run & ARMING) != 0 && pick(random, 400) == 0)
        pm_registry_arm(&device, pick(random, 2) != 0);
}

static void play(int run, uint64_t seed)
{
    struct pm_random random;
    pm_random_init(&random, seed);
    struct turns turns = {.care = (int)pick(&random, STEPS / 8),
                          .follow = (int)pick(&random, STEPS / 8),
                          .learned = (int)pick(&random, STEPS / 4)};
    turns.followed = turns.follow + (int)pick(&random, STEPS / 8);
    begin_run(run);
    for (int now = 0; now < STEPS; now++) {
        turn(&turns, run, now, &random);
        VkCommandBuffer buffer = buffers[pick(&random, BUFFERS)];
        step(&random, buffer);
        for (int point = 0; point < PM_BIND_POINTS; point++) {
            const char *wrong = call(recording_of(buffer), point);
            if (wrong != NULL)
                fail_msg("%s: run %d, seed %d, step %d, bind point %d", wrong, run, (int)seed, now,
                         point);
        }
    }
    end_run();
}

/* Whatever is known of the recording, what is bound is the game's pipeline or a variant that may
 * stand for it there. */
static void only_what_may_stand_is_bound(void **unused)
{
    (void)unused;
    for (int run = 0; run < RUNS; run++) {
        memset(&found, 0, sizeof found);
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            play(run, seed);
        print_message("run %d: %" PRIu64 " calls of the game's, %" PRIu64 " of them in a query, "
                      "%" PRIu64 " of variants, %" PRIu64 " of folded ones\n",
                      run, found.game, found.queried, found.best, found.folded);
        assert_true(found.game > 0 && found.best > 0);
        assert_int_equal(found.folded > 0, (run & FOLLOW) != 0);
        assert_int_equal(found.queried > 0, (run & CARE) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_may_stand_is_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
