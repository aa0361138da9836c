/* Recordings that begin, bind, push, ask queries, call, execute others and are reset in any order,
 * with a driver that knows what is bound as a call comes: the hooks of command buffers, binds,
 * pushes, queries and draws together (layer/hooks). Where variants may be bound, and how much has
 * to be known of recordings, changes on the way; windows open and close, and a second device comes
 * and goes. */
#include "base/random.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "tests/layer/hooks/recorded_world.h"

#include <inttypes.h>
#include <string.h>

enum { STEPS = 20000, SEEDS = 8 };

/* What changes within a run, as bits. */
enum { CARE = 1, FOLLOW = 2, LEARNED = 4, WINDOWS = 8, KEEPS = 16, RUNS = 32 };

/* What occurred: recordings that began sampled, and steps with one device and with several. */
static struct {
    uint64_t sampled, alone, several;
} occurred;

/* Where the test is, and whether all recordings that begin are to be known. */
static int run, seed, now;
static bool careful;

static void fails(const char *wrong, int point)
{
    fail_msg("%s: run %d, seed %d, step %d, bind point %d", wrong, run, seed, now, point);
}

/* ---- the game's steps ---- */

static uint32_t pick(struct pm_random *random, uint32_t below)
{
    return (uint32_t)(pm_random_next(random) % below);
}

static void begin(struct pm_random *random, VkCommandBuffer buffer)
{
    /* What was recorded before was submitted once or twice: seldom, but where the game keeps some.
     */
    struct recording *recording = recording_of(buffer);
    struct pm_command *command = recording->command;
    const uint32_t seldom = (run & KEEPS) != 0 ? 2 : 30;
    const bool again = pick(random, seldom) == 0;
    atomic_store(&command->submits, again ? 2 : 1);
    if (again)
        pm_sampling_learn(&device.sampling->again);
    if (pick(random, 3) == 0)
        assert_int_equal(pm_ResetCommandBuffer(buffer, 0), VK_SUCCESS);
    const VkCommandBufferBeginInfo info = {.flags =
                                               pick(random, seldom < 20 ? seldom : 20) == 0
                                                   ? 0
                                                   : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    *recording = (struct recording){.command = command, .open = true, .careful = careful};
    assert_int_equal(pm_BeginCommandBuffer(buffer, &info), VK_SUCCESS);
    occurred.sampled += is_sampled(recording);
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

static void bind(struct recording *recording, VkCommandBuffer buffer, int point, int pipeline)
{
    static const VkPipelineBindPoint points[] = {
        [PM_GRAPHICS] = VK_PIPELINE_BIND_POINT_GRAPHICS,
        [PM_COMPUTE] = VK_PIPELINE_BIND_POINT_COMPUTE,
    };
    recording->game[point] = handle_of(pipeline);
    pm_CmdBindPipeline(buffer, points[point], PM_TO_HANDLE(VkPipeline, handle_of(pipeline)));
}

static int pick_point(struct pm_random *random)
{
    return pick(random, 4) == 0 ? PM_COMPUTE : PM_GRAPHICS;
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
    else if (what < 5 && (recording->careful || is_sampled(recording))) {
        /* Of one that began before, it is not known; nor does a game begin one without a pool. */
        pm_CmdBeginQuery(buffer, (VkQueryPool)(uintptr_t)1, 0, 0);
        recording->queries++;
    } else if (what < 9 && recording->queries > 0)
        end_query(recording, buffer);
    else if (what < 21)
        push(random, recording, buffer);
    else if (what < 33) {
        const int point = pick_point(random);
        bind(recording, buffer, point, (int)pick(random, PIPELINES + 1));
    } else if (what < 42) {
        const int point = pick_point(random);
        world_call(buffer, point, pick(random, 2) == 0);
    }
}

/* Before which steps what happens; never: none. */
struct turns {
    int care, follow, followed, learned;
};

/* What the layer finds out on the way, on another thread as far as it is followed what is pushed:
 * recordings begin while it stands in pm_registry_follow. */
static void turn(const struct turns *turns, struct pm_random *random)
{
    if ((run & CARE) != 0 && now == turns->care) {
        pm_registry_be_careful(&device);
        careful = true;
    }
    if ((run & FOLLOW) != 0 && now == turns->follow) {
        pm_registry_set_binds(&device, PM_BINDS_WATCHED, PM_BINDS_WATCHED);
        atomic_fetch_or(&device.watched, watched_words);
    }
    if ((run & FOLLOW) != 0 && now == turns->followed)
        pm_registry_follow(&device, watched_words);
    if (now == turns->learned)
        pm_sampling_set_learned(device.sampling);
    if (pick(random, world_has_second() ? 200 : 800) == 0)
        world_toggle_second();
    if ((run & WINDOWS) == 0)
        return;
    /* A frame; something is to be tried, or nothing any more; and recordings on other threads have
     * told of a pipeline. */
    if (pick(random, 100) == 0)
        pm_sampling_heartbeat(device.sampling);
    if (pick(random, 800) == 0)
        pm_sampling_try(device.sampling, pm_sampling_is_trying(device.sampling) ? -1 : 1);
    if ((run & KEEPS) != 0 && pick(random, 20) == 0)
        world_tell((int)pick(random, PIPELINES), pick(random, 2) != 0, pick(random, 2) != 0);
}

static void play(void)
{
    struct pm_random random;
    pm_random_init(&random, (uint64_t)seed);
    struct turns turns = {.care = (int)pick(&random, STEPS / 8),
                          .follow = (int)pick(&random, STEPS / 8),
                          .learned = (int)pick(&random, STEPS / 4)};
    turns.followed = turns.follow + (int)pick(&random, STEPS / 8);
    const struct world_options options = {.follow = (run & FOLLOW) != 0,
                                          .learned = (run & LEARNED) != 0,
                                          .windows = (run & WINDOWS) != 0,
                                          .twice = (run & KEEPS) != 0,
                                          .constants = (seed & 1) != 0,
                                          .probability = (seed & 2) != 0 ? 0.5 : 0.03,
                                          .seed = (uint64_t)seed};
    careful = false;
    world_open(&options, (seed & 4) != 0);
    for (now = 0; now < STEPS; now++) {
        turn(&turns, &random);
        VkCommandBuffer buffer = buffers[pick(&random, BUFFERS)];
        step(&random, buffer);
        world_check(recording_of(buffer));
        if (world_has_second())
            occurred.several++;
        else
            occurred.alone++;
    }
    world_close();
}

/* Whatever is known of the recording, what is bound is the game's pipeline or a variant that may
 * stand for it there, and what the record says of it is so. */
static void only_what_may_stand_is_bound(void **unused)
{
    (void)unused;
    world_fails = fails;
    for (run = 0; run < RUNS; run++) {
        const bool cares = (run & CARE) != 0, samples = (run & WINDOWS) != 0;
        if ((run & KEEPS) != 0 && !samples)
            continue; /* nothing would be held twice */
        memset(&found, 0, sizeof found);
        memset(&occurred, 0, sizeof occurred);
        for (seed = 0; seed < SEEDS; seed++)
            play();
        print_message("run %d: %" PRIu64 " calls of the game's, %" PRIu64 " of them in a query, "
                      "%" PRIu64 " of variants, %" PRIu64 " of folded ones; %" PRIu64
                      " recordings sampled, %" PRIu64 " calls, %" PRIu64 " twice; bound lately "
                      "%" PRIu64 " times in those, %" PRIu64 " in others; "
                      "%" PRIu64 " steps with one device, %" PRIu64 " with two\n",
                      run, found.game, found.queried, found.best, found.folded, occurred.sampled,
                      found.instrumented, found.twice, found.lately_sampled, found.lately_tracked,
                      occurred.alone, occurred.several);
        assert_true(found.game > 0 && found.best > 0);
        assert_int_equal(found.folded > 0, (run & FOLLOW) != 0);
        assert_int_equal(found.queried > 0, cares || samples);
        assert_int_equal(occurred.sampled > 0, samples);
        assert_int_equal(found.instrumented > 0, samples);
        assert_int_equal(found.twice > 0, samples && (run & KEEPS) != 0);
        assert_int_equal(found.lately_sampled > 0, samples);
        assert_int_equal(found.lately_tracked > 0, cares);
        assert_true(occurred.alone > 0 && occurred.several > 0);
    }
}

/* A thread has said that all recordings are to be known, and not swapped the hooks yet, as another
 * one finds the same: what begins behind that is known. */
static void recordings_are_known_behind_another_thread(void **unused)
{
    (void)unused;
    const struct world_options options = {.seed = 1};
    world_open(&options, false);
    pm_binds_set(&device, PM_BINDS_CAREFUL, PM_BINDS_CAREFUL);
    pm_registry_be_careful(&device);
    struct recording *recording = recording_of(buffers[0]);
    const VkCommandBufferBeginInfo info = {.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    assert_int_equal(pm_BeginCommandBuffer(buffers[0], &info), VK_SUCCESS);
    bind(recording, buffers[0], PM_GRAPHICS, WITH_BEST);
    assert_int_equal(recording->bound[PM_GRAPHICS], handle_of(WITH_BEST) + BEST);
    pm_CmdBeginQuery(buffers[0], (VkQueryPool)(uintptr_t)1, 0, 0);
    assert_int_equal(recording->bound[PM_GRAPHICS], handle_of(WITH_BEST));
    world_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_may_stand_is_bound),
        cmocka_unit_test(recordings_are_known_behind_another_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
