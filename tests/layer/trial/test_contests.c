/* Several contests (contest.h), and many pipelines of a shader, on the null driver: who waits gets
 * its turn and the winner, whatever becomes of the others. */
#include "tests/layer/trial/trying.h"

#include "counted.comp.h"
#include "tests/patience.h"

#include <malloc.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, OPEN = 4 /* contests at a time */, STRIDE = 64 /* a constant of the shader */ };

static struct {
    VkPipeline own[MOST];        /* the game's */
    uint32_t count, first, last; /* of which these are used in a frame */
    double variant_time;         /* of all else, over theirs */
    bool wavers;                 /* by one in a hundred, in turn */
    uint32_t calls;              /* of these */
    _Atomic uint32_t made;       /* compute pipelines, whosoever */
    _Atomic uint32_t live, most; /* of all; and the most at a time */
} game;

static uint64_t cost(void *user, VkPipeline pipeline)
{
    (void)user;
    for (uint32_t i = 0; i < game.count; i++)
        if (game.own[i] == pipeline)
            return TRYING_ORIGINAL;
    const double more = !game.wavers ? 0 : game.calls++ % 2 == 0 ? 0.01 : -0.01;
    return (uint64_t)(TRYING_ORIGINAL * (game.variant_time + more));
}

static void see_pipelines(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkDestroyPipeline") == 0)
        game.live--;
    if (strcmp(call->command, "vkCreateComputePipelines") != 0)
        return;
    game.made++;
    const uint32_t live = ++game.live;
    if (live > game.most)
        game.most = live;
}

static void open_session(double variant_time)
{
    memset(&game, 0, sizeof game);
    game.variant_time = variant_time;
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "1", 1);
    setenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE", "1", 1);
    trying_open_contests(NULL);
    trying.h.driver->set_callback(see_pipelines, NULL);
    trying.h.driver->set_cost(cost, NULL);
}

static void destroy(uint32_t index)
{
    trying.h.vk.DestroyPipeline(trying.h.device, game.own[index], NULL);
    game.own[index] = VK_NULL_HANDLE;
}

static void close_session(void)
{
    for (uint32_t i = 0; i < game.count; i++)
        destroy(i);
    trying.h.driver->set_cost(NULL, NULL);
    trying.h.driver->set_callback(NULL, NULL);
    trying_close_contests();
    unsetenv("PIECEMEAL_LIMITS_TRIAL_SHARE");
    unsetenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE");
    unsetenv("PIECEMEAL_LIMITS_VARIANTS");
}

/* A pipeline of the n-th of some shaders that differ in a constant. */
static void make(uint32_t n)
{
    uint32_t words[sizeof counted_comp / sizeof(uint32_t)];
    const size_t count = sizeof words / sizeof *words;
    memcpy(words, counted_comp, sizeof words);
    for (size_t at = 5; at < count; at += words[at] >> 16)
        if ((words[at] & 0xffff) == SpvOpConstant && words[at] >> 16 == 4 &&
            words[at + 3] == STRIDE)
            words[at + 3] = STRIDE + n;
    assert_true(game.count < MOST);
    game.own[game.count++] = pm_harness_compute_of(&trying.h, words, sizeof words, trying.h.layout);
    game.last = game.count;
}

static void dispatch(VkCommandBuffer buffer)
{
    pm_harness_bind_set(&trying.h, buffer); /* else the validation layer says so a dispatch */
    for (uint32_t i = game.first; i < game.last; i++) {
        if (!game.own[i])
            continue;
        trying.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, game.own[i]);
        trying.h.vk.CmdDispatch(buffer, 1, 1, 1);
    }
}

static void run_frames(int count)
{
    trying_run_frames(dispatch, TRYING_ONCE, count);
}

/* Frames until the log has a text so many times; false: it never had. */
static bool run_until(const char *text, uint32_t times)
{
    uint64_t until = 0;
    while (optimized_logged(text) < times && patience(&until))
        run_frames(4);
    return optimized_logged(text) >= times;
}

/* Without a frame, until so many compute pipelines were made, the game's own too. */
static void wait_for_made(uint32_t count)
{
    uint64_t until = 0;
    while (game.made < count && patience(&until))
        ;
    assert_true(game.made >= count);
}

/* ---- pipelines of one shader ---- */

static bool is_replaced(uint32_t index)
{
    return optimized_effective(&trying.h, game.own[index], VK_PIPELINE_BIND_POINT_COMPUTE) !=
           game.own[index];
}

static void every_pipeline_gets_the_winner(void **state)
{
    (void)state;
    enum { SAME = 32 };
    open_session(0.8);
    for (uint32_t i = 0; i < SAME; i++)
        make(0);
    assert_true(run_until("the fastest is", 1));
    assert_true(run_until("is used from now on", SAME));
    for (uint32_t i = 0; i < SAME; i++)
        assert_true(is_replaced(i));
    close_session();
}

/* Frames until so many uses were timed from a position on. */
static void run_uses(uint64_t position, uint32_t uses)
{
    uint64_t until = 0;
    while (pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp") < 2 * uses &&
           patience(&until))
        run_frames(1);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 2 * uses);
}

/* The pipeline goes in the middle of a measurement of eight pairs, behind one that does not count:
 * another one has the rest, or all pairs of another variant, as the lot falls, behind one more. */
static void another_pipeline_goes_on(void **state)
{
    (void)state;
    open_session(0.8);
    make(0);
    make(0);
    run_uses(trying.h.driver->position(), 10);
    assert_int_equal(game.made, 3);
    const uint64_t position = trying.h.driver->position();
    destroy(0);
    wait_for_made(4);
    run_uses(position, 10);
    usleep(300000);
    if (game.made < 5)
        run_uses(position, 18);
    /* The next variant, without a frame more. */
    wait_for_made(5);
    close_session();
}

/* ---- contests that others wait for ---- */

/* What won cannot be told from the original when it is tried anew: the contest is over. */
static void an_undecided_winner_ends_it(void **state)
{
    (void)state;
    open_session(0.8);
    make(0);
    assert_true(run_until("is tried", 1));
    game.variant_time = 0.99;
    game.wavers = true;
    assert_true(run_until("undecided: tried again later", 1));
    assert_true(run_until("none is faster", 1));
    assert_false(is_replaced(0));
    close_session();
}

/* A session in which as many contests are open as may be. */
static void open_all(void)
{
    open_session(1.2);
    for (uint32_t i = 0; i < OPEN; i++)
        make(i);
    run_frames(1);
    /* Each has one of its variants. */
    wait_for_made(2 * OPEN);
}

/* Four shaders are not drawn any more, and a fifth is. */
static void what_is_not_drawn_stops_nobody(void **state)
{
    (void)state;
    open_all();
    make(OPEN);
    game.first = OPEN;
    assert_true(run_until("none is faster", 1));
    /* They go on where they are drawn again. */
    game.first = 0;
    assert_true(run_until("none is faster", 1 + OPEN));
    close_session();
}

/* Of a shader that waits there are more pipelines than contests end before another's turn comes. */
static void each_shader_has_its_turn(void **state)
{
    (void)state;
    open_all();
    for (uint32_t i = 0; i < OPEN + 2; i++)
        make(OPEN);
    run_frames(1);
    usleep(300000); /* so that they are all there when the first contest ends */
    make(OPEN + 1);
    run_frames(1);
    usleep(300000);
    assert_true(run_until("none is faster", OPEN + 2));
    close_session();
}

/* ---- room ---- */

/* limits.variants is reached: what there is no room for is no loser. The next is measured, and what
 * won is used, when there is room again. */
static void what_has_no_room_is_not_over(void **state)
{
    (void)state;
    setenv("PIECEMEAL_LIMITS_VARIANTS", "1", 1);
    open_session(0.8);
    make(0);
    assert_true(run_until("the fastest is", 1));
    optimized_assert_logged("of 1 variants", 0);
    make(1);
    assert_true(run_until("waits for room", 1));
    run_frames(64);
    optimized_assert_logged("the fastest is", 1);
    assert_in_range(game.live, 3,
                    4); /* the game's, the winner, and one that was measured at most */
    destroy(0);
    assert_true(run_until("the fastest is", 2));
    optimized_assert_logged("of 1 variants", 0);
    assert_true(is_replaced(1));
    close_session();
}

/* Shaders that are drawn for a while and then not any more, as levels come and go: their contests
 * leave their room to those that follow, and go on where they are drawn again. */
static void what_is_idle_leaves_its_room(void **state)
{
    (void)state;
    enum { LEVELS = 12, ROOM = 16 };
    setenv("PIECEMEAL_LIMITS_VARIANTS", "16", 1);
    open_session(1.2);
    for (uint32_t level = 0; level < LEVELS; level++) {
        game.first = game.count;
        for (uint32_t i = 0; i < OPEN; i++)
            make(level * OPEN + i);
        const uint32_t made = game.made;
        uint64_t until = 0;
        while (game.made < made + 3 * OPEN && patience(&until))
            run_frames(4);
        assert_true(game.made >= made + 3 * OPEN);
        assert_in_range(game.most, 0, game.count + ROOM + OPEN);
    }
    game.first = 0;
    game.last = OPEN;
    assert_true(run_until("none is faster", 1));
    close_session();
}

/* What a contest measures leaves the room to what is known to be faster. */
static void contests_leave_room_to_winners(void **state)
{
    (void)state;
    open_session(0.8);
    make(0);
    assert_true(run_until("the fastest is", 1));
    close_session();

    setenv("PIECEMEAL_LIMITS_VARIANTS", "1", 1);
    open_session(0.8);
    make(1);
    run_frames(1);
    wait_for_made(2);
    make(0);
    uint64_t until = 0;
    while (!is_replaced(1) && patience(&until))
        ;
    assert_true(is_replaced(1));
    close_session();
}

/* Of more contests than limits.variants has room for pipelines that take part, each ends, and what
 * lost goes: of the session's memory, too. */
static void what_lost_leaves_its_room(void **state)
{
    (void)state;
    enum {
        SHADERS = 48,
        VARIANTS = 8 /* of each, and more */,
        BYTES = 70000 /* of each, with its pipelines */
    };
    open_session(0.8);
    const size_t before = mallinfo2().uordblks;
    for (uint32_t i = 0; i < SHADERS; i++)
        make(i);
    assert_true(run_until("the fastest is", SHADERS));
    optimized_assert_logged("waits for room", 0);
    assert_in_range(game.most, 0, 2 * SHADERS + OPEN * 2 * VARIANTS);
    /* The game's own, and what won. */
    uint64_t until = 0;
    while (game.live > 2 * SHADERS && patience(&until))
        run_frames(64);
    assert_int_equal(game.live, 2 * SHADERS);
    assert_true(game.made > 256 + 2 * SHADERS);
    assert_in_range((mallinfo2().uordblks - before) / SHADERS, 0, BYTES);
    close_session();
}

/* Pipelines that were made through the driver's caches, of which there are two: the one that is
 * kept, and the contests' own. One thread after the other makes them; the test's looks on. */
static struct {
    uint64_t handle;
    _Atomic uint32_t made;
} caches[2];

static void see_caches(void *user, const struct pm_null_call *call)
{
    see_pipelines(user, call);
    const uint64_t handle = call->arguments[1];
    if (strcmp(call->command, "vkCreateComputePipelines") != 0 || handle == 0)
        return;
    const int which = caches[0].handle != 0 && caches[0].handle != handle;
    assert_true(caches[which].handle == 0 || caches[which].handle == handle);
    caches[which].handle = handle;
    caches[which].made++;
}

/* Of what a contest measures, the cache that is kept gets the winner. */
static void what_loses_is_not_kept(void **state)
{
    (void)state;
    memset(caches, 0, sizeof caches);
    open_session(0.8);
    trying.h.driver->set_callback(see_caches, NULL);
    make(0);
    assert_true(run_until("the fastest is", 1));
    assert_true(caches[0].made >= 8); /* the first pipeline was an arm's */
    assert_int_equal(caches[1].made, 1);
    close_session();
}

/* So does one that nobody could tell from the game's own, and whose trial found it faster later. */
static void what_wins_later_is_kept_too(void **state)
{
    (void)state;
    memset(caches, 0, sizeof caches);
    open_session(0.8);
    trying.h.driver->set_callback(see_caches, NULL);
    make(0);
    assert_true(run_until("is tried", 1));
    game.variant_time = 0.99;
    game.wavers = true;
    assert_true(run_until("none is faster", 1));
    assert_int_equal(caches[1].made, 0);
    game.variant_time = 0.8;
    game.wavers = false;
    assert_true(run_until("is used from now on", 1));
    uint64_t until = 0;
    while (caches[1].made == 0 && patience(&until))
        ;
    assert_int_equal(caches[1].made, 1);
    close_session();
}

/* ---- recordings ---- */

enum { NAMED = 8 };

/* A command buffer that is not recorded anew, which pipelines it names that are not the game's, and
 * which of these were destroyed. */
static struct {
    VkCommandBuffer buffer;
    uint64_t named[NAMED];
    _Atomic bool gone[NAMED];
    _Atomic uint32_t count;
} kept;

static bool is_own(uint64_t pipeline)
{
    for (uint32_t i = 0; i < game.count; i++)
        if (PM_NULL_NUMBER(game.own[i]) == pipeline)
            return true;
    return false;
}

static void see_named(void *user, const struct pm_null_call *call)
{
    see_pipelines(user, call);
    if (strcmp(call->command, "vkCmdBindPipeline") == 0 &&
        PM_NULL_NUMBER(kept.buffer) == call->arguments[0] && !is_own(call->arguments[2]) &&
        kept.count < NAMED)
        kept.named[kept.count++] = call->arguments[2];
    for (uint32_t i = 0; strcmp(call->command, "vkDestroyPipeline") == 0 && i < kept.count; i++)
        if (kept.named[i] == call->arguments[1])
            kept.gone[i] = true;
}

static uint32_t count_gone(void)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < kept.count; i++)
        gone += kept.gone[i];
    return gone;
}

/* A contest that nothing wins, and something of it in a command buffer that stays as it is. */
static void lose_recorded(void)
{
    memset(&kept, 0, sizeof kept);
    open_session(1.2);
    trying.h.driver->set_callback(see_named, NULL);
    make(0);
    kept.buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t until = 0;
    do
        trying_frame(kept.buffer, TRYING_ONCE, dispatch);
    while (kept.count == 0 && patience(&until));
    assert_true(kept.count > 0);
    assert_true(run_until("none is faster", 1));
}

static void run_until_gone(void)
{
    uint64_t until = 0;
    while (count_gone() < kept.count && patience(&until))
        run_frames(64);
    assert_int_equal(count_gone(), kept.count);
}

/* What a command buffer names stays until that is recorded anew, though its contest is over; and
 * then it goes, as all others that lost have gone before. */
static void what_is_recorded_stays(void **state)
{
    (void)state;
    lose_recorded();
    uint64_t until = 0;
    while (game.live > 1 + kept.count && patience(&until))
        run_frames(64);
    run_frames(200);
    assert_int_equal(game.live, 1 + kept.count);
    assert_int_equal(count_gone(), 0);
    PM_CHECK(trying.h.vk.ResetCommandBuffer(kept.buffer, 0));
    run_until_gone();
    assert_int_equal(game.live, 1);
    close_session();
}

/* The game destroys its pipeline while a recording names what lost, and that later. */
static void recordings_may_outlive_pipelines(void **state)
{
    (void)state;
    lose_recorded();
    destroy(0);
    run_until_gone();
    trying.h.vk.FreeCommandBuffers(trying.h.device, trying.h.pool, 1, &kept.buffer);
    close_session();
}

/* ---- the end ---- */

/* The device is lost: nothing is built for a contest any more. */
static void a_lost_device_has_no_contests(void **state)
{
    (void)state;
    open_session(1.2);
    for (uint32_t i = 0; i < 2 * OPEN; i++)
        make(i % OPEN);
    run_frames(1);
    wait_for_made(3 * OPEN);
    trying.h.driver->inject("vkQueueSubmit:1");
    VkCommandBuffer buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&trying.h, buffer, TRYING_ONCE);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    assert_int_equal(trying.h.vk.QueueSubmit(trying.h.queue, 1, &info, VK_NULL_HANDLE),
                     VK_ERROR_DEVICE_LOST);
    /* The others of their shaders would take their place. */
    const uint32_t made = game.made;
    for (uint32_t i = 0; i < OPEN; i++)
        destroy(i);
    usleep(500000);
    assert_int_equal(game.made, made);
    close_session();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(every_pipeline_gets_the_winner),
        PM_LAYERED_TEST(another_pipeline_goes_on),
        PM_LAYERED_TEST(an_undecided_winner_ends_it),
        PM_LAYERED_TEST(what_is_not_drawn_stops_nobody),
        PM_LAYERED_TEST(each_shader_has_its_turn),
        PM_LAYERED_TEST(what_has_no_room_is_not_over),
        PM_LAYERED_TEST(what_is_idle_leaves_its_room),
        PM_LAYERED_TEST(contests_leave_room_to_winners),
        PM_LAYERED_TEST(what_lost_leaves_its_room),
        PM_LAYERED_TEST(what_loses_is_not_kept),
        PM_LAYERED_TEST(what_wins_later_is_kept_too),
        PM_LAYERED_TEST(what_is_recorded_stays),
        PM_LAYERED_TEST(recordings_may_outlive_pipelines),
        PM_LAYERED_TEST(a_lost_device_has_no_contests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
