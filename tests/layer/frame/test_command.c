/* How a recording begins (layer/frame/command.h). */
#include "layer/frame/executed.h"

#include "tests/cmocka_includes.h"

#define ONCE VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT
#define SIMULTANEOUS VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT

static struct pm_sampling sampling;
static struct pm_device device = {.sampling = &sampling};
static struct pm_command_pool pool;

/* As the record of a buffer that was begun the long way with these flags, is no candidate for being
 * kept, and touched nothing. */
static struct pm_command begun_with(VkCommandBufferUsageFlags flags, bool secondary)
{
    struct pm_command command = {
        .device = &device, .pool = &pool, .secondary = secondary, .touched = true};
    const VkCommandBufferInheritanceInfo inheritance = {.renderPass = VK_NULL_HANDLE};
    const VkCommandBufferBeginInfo info = {.flags = flags, .pInheritanceInfo = &inheritance};
    command.begun = true;
    assert_false(pm_command_begin(&command, &info));
    return command;
}

static bool begins_again(struct pm_command *command, VkCommandBufferUsageFlags flags,
                         VkQueryPipelineStatisticFlags statistics)
{
    const VkCommandBufferInheritanceInfo inheritance = {.pipelineStatistics = statistics};
    const VkCommandBufferBeginInfo info = {.flags = flags, .pInheritanceInfo = &inheritance};
    return pm_command_begin_again(command, &info);
}

/* The short way leaves alone what the recording before it was. */
static void the_short_way_is_for_the_same_flags(void **unused)
{
    (void)unused;
    const VkCommandBufferUsageFlags all[] = {0, ONCE, SIMULTANEOUS, ONCE | SIMULTANEOUS};
    for (int before = 0; before < 4; before++) {
        for (int now = 0; now < 8; now++) {
            struct pm_command command = begun_with(all[before], now >= 4);
            atomic_store(&command.submits, 1);
            assert_int_equal(begins_again(&command, all[now & 3], 0), before == (now & 3));
            assert_int_equal(command.once, (all[before] & ONCE) != 0);
            assert_int_equal(command.simultaneous, (all[before] & SIMULTANEOUS) != 0);
        }
    }
}

static void what_is_kept_goes_the_long_way(void **unused)
{
    (void)unused;
    struct pm_command command = begun_with(0, false);
    atomic_store(&command.submits, 2);
    assert_false(begins_again(&command, 0, 0));
    assert_int_equal(atomic_load(&command.submits), 2);
    /* So does each begin of what may be, as long as that is not known. */
    command =
        (struct pm_command){.device = &device, .pool = &pool, .secondary = true, .touched = true};
    const VkCommandBufferBeginInfo info = {.flags = 0};
    assert_true(pm_command_begin(&command, &info));
    assert_false(command.touched);
    assert_false(begins_again(&command, 0, 0));
    atomic_store(&command.submits, 1);
    assert_false(pm_command_begin(&command, &info));
    assert_true(begins_again(&command, 0, 0));
}

/* What executes a secondary one tells its recordings apart by their number, and what it inherits is
 * looked at each time. */
static void secondaries_begin_again(void **unused)
{
    (void)unused;
    const VkQueryPipelineStatisticFlags statistics =
        VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT;
    struct pm_command command = begun_with(ONCE, true);
    const uint32_t before = command.recordings;
    assert_true(begins_again(&command, ONCE, 0));
    assert_int_equal(command.recordings, before + 1);
    assert_false(begins_again(&command, ONCE, statistics));
    assert_int_equal(command.recordings, before + 1);
    const VkCommandBufferInheritanceInfo inheritance = {.pipelineStatistics = statistics};
    const VkCommandBufferBeginInfo info = {.flags = ONCE, .pInheritanceInfo = &inheritance};
    pm_command_begin(&command, &info);
    assert_int_not_equal(command.active, 0);
    assert_false(begins_again(&command, ONCE, 0));
    /* A primary one's is not to be looked at. */
    struct pm_command primary = begun_with(ONCE, false);
    volatile uintptr_t anywhere = 8;
    const VkCommandBufferBeginInfo garbage = {.flags = ONCE,
                                              .pInheritanceInfo = (const void *)anywhere};
    assert_true(pm_command_begin_again(&primary, &garbage));
}

/* Until it is known whether the game keeps recordings they are counted, the last one by the long
 * way. */
static void the_short_way_learns(void **unused)
{
    (void)unused;
    const VkCommandBufferBeginInfo once = {.flags = ONCE}, often = {.flags = 0};
    struct pm_command command = begun_with(ONCE, false);
    atomic_store(&sampling.anew, 7);
    assert_true(pm_command_begin_learning(&command, &once, &sampling));
    assert_int_equal(atomic_load(&sampling.anew), 8);
    struct pm_command other = begun_with(0, false);
    atomic_store(&sampling.anew, 8);
    assert_true(pm_command_begin_learning(&other, &often, &sampling)); /* was never submitted */
    assert_int_equal(atomic_load(&sampling.anew), 8);
    atomic_store(&other.submits, 1);
    assert_true(pm_command_begin_learning(&other, &often, &sampling));
    assert_int_equal(atomic_load(&sampling.anew), 9);
    atomic_store(&sampling.anew, PM_MOST_LEARNED - 1);
    assert_false(pm_command_begin_learning(&command, &once, &sampling));
    assert_int_equal(atomic_load(&sampling.anew), PM_MOST_LEARNED - 1);
    assert_true(pm_command_begin_learning(&other, &often, &sampling));
    atomic_store(&sampling.anew, 0);
}

/* As a recording that bound, executed and pushed, and was submitted once. */
static struct pm_command touched_in_all_ways(void)
{
    struct pm_command command = begun_with(ONCE, false);
    command.plain_points = PM_BIND_POINTS;
    command.lately.game[PM_COMPUTE] = command.lately.now[PM_COMPUTE] = 7;
    command.bound[PM_COMPUTE] =
        (struct pm_bound){.pipeline = (void *)&device, .game = 7, .kind = PM_BINDING_PROVEN};
    command.touched = true;
    command.active = PM_CONDITION(PM_ACTIVE_TRANSFORM_FEEDBACK);
    command.active_queries = command.executed_count = command.noted_count = 1;
    command.watched = command.area = 3;
    command.scene = 2;
    command.pushed.wanted = command.pushed.known[0] = command.pushed.known[1] = 5;
    command.pushed.stays = 1;
    command.pushed.ranges = (void *)&device;
    atomic_store(&command.submits, 1);
    return command;
}

/* The way into a recording of which something is known, while all are to be known of: it begins as
 * one that nothing is bound, pushed or active in. One that holds something goes the long way, which
 * lets go of it. */
static void what_was_touched_is_forgotten(void **unused)
{
    (void)unused;
    const VkCommandBufferBeginInfo once = {.flags = ONCE}, often = {.flags = 0};
    const uint64_t watched = 6;
    atomic_store(&sampling.learned, true);
    atomic_store(&device.watched, watched);
    enum { NOTHING, USES, HOLDS, SCRATCH, ALL };
    for (int holds = NOTHING; holds < ALL; holds++) {
        const bool held = holds != NOTHING;
        struct pm_command command = touched_in_all_ways();
        assert_false(pm_command_begin_again(&command, &once));
        assert_false(pm_command_begin_followed(&command, &often));
        command.use_count = holds == USES;
        command.hold_count = holds == HOLDS;
        command.scratch.held = holds == SCRATCH;
        assert_int_equal(pm_command_begin_followed(&command, &once), !held);
        assert_int_equal(command.plain_points, held ? PM_BIND_POINTS : 0);
        assert_int_equal(command.lately.game[PM_COMPUTE] != 0, held);
        assert_int_equal(command.lately.now[PM_COMPUTE] != 0, held);
        assert_int_equal(command.bound[PM_COMPUTE].pipeline != NULL, held);
        assert_int_equal(command.bound[PM_COMPUTE].kind,
                         held ? PM_BINDING_PROVEN : PM_BINDING_GAME);
        assert_int_equal(command.active != 0, held);
        assert_int_equal(command.active_queries, held);
        assert_int_equal(command.executed_count, held);
        assert_int_equal(command.noted_count, held);
        assert_int_equal(command.watched, held * 3);
        assert_int_equal(command.area, held * 3);
        assert_int_equal(command.scene != PM_SCENE_NONE, held);
        assert_int_equal(command.pushed.wanted, held ? 5 : watched);
        assert_int_equal(command.pushed.known[0] | command.pushed.known[1], held * 5);
        assert_int_equal(command.pushed.stays, held);
        assert_int_equal(command.pushed.ranges != NULL, held);
        assert_int_equal(command.touched, held);
        assert_int_equal(atomic_load(&command.submits), held);
    }
    atomic_store(&device.watched, 0);
    struct pm_command command = touched_in_all_ways();
    assert_true(pm_command_begin_followed(&command, &once));
    assert_false(command.touched);
    atomic_store(&sampling.learned, false);
}

/* A recording that only binds leaves no more in the record than what it has bound lately, and the
 * next begins in few instructions, as every begin of it forgets that. */
static void what_was_only_bound_begins_as_short(void **unused)
{
    (void)unused;
    const VkCommandBufferBeginInfo once = {.flags = ONCE}, often = {.flags = 0};
    atomic_store(&sampling.learned, true);
    atomic_store(&device.binds, PM_BINDS_CAREFUL);
    struct pm_command command = touched_in_all_ways();
    assert_false(pm_command_begin_careful(&command, &once));
    assert_true(pm_command_begin_followed(&command, &once));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(command.plain_points, PM_BIND_POINTS);
        assert_false(command.touched);
        for (int point = 0; point < PM_BIND_POINTS; point++) {
            assert_int_equal(command.lately.game[point], 0);
            command.lately.game[point] = command.lately.now[point] = 7;
        }
        assert_false(pm_command_begin_careful(&command, &often));
        assert_true(command.lately.game[PM_GRAPHICS] != 0);
        atomic_store(&command.submits, 1);
        assert_true(pm_command_begin_careful(&command, &once));
        assert_int_equal(atomic_load(&command.submits), 0);
    }
    command.lately.game[PM_COMPUTE] = 7;
    atomic_store(&command.submits, 2);
    assert_false(pm_command_begin_careful(&command, &once));
    /* In a window, say. */
    pm_command_begin(&command, &once);
    assert_int_equal(command.lately.game[PM_COMPUTE], 0);
    assert_int_equal(command.plain_points, 0);
    /* Nothing is put down where somebody wants to know what is pushed. */
    atomic_store(&device.watched, 1);
    assert_true(pm_command_begin_followed(&command, &once));
    assert_int_equal(command.plain_points, 0);
    atomic_store(&device.watched, 0);
    atomic_store(&device.binds, 0);
    assert_true(pm_command_begin_followed(&command, &once));
    assert_int_equal(command.plain_points, 0);
    atomic_store(&sampling.learned, false);
}

/* While somebody else has said what is to be followed, and the hook of begins is still the one that
 * looks at no pushes: what one recording pushed is not known of the next. */
static void what_is_followed_just_now_is_not_carried_over(void **unused)
{
    (void)unused;
    const VkCommandBufferBeginInfo once = {.flags = ONCE};
    const uint64_t watched = 6;
    atomic_store(&sampling.learned, true);
    atomic_store(&device.binds, PM_BINDS_CAREFUL);
    struct pm_command command = touched_in_all_ways();
    atomic_store(&device.watched, watched);
    assert_false(pm_command_begin_careful(&command, &once));
    assert_true(pm_command_begin_followed(&command, &once));
    assert_int_equal(command.pushed.wanted, watched);
    command.pushed.known[1] = watched;
    command.pushed.stays = 1;
    atomic_store(&command.submits, 1);
    assert_false(pm_command_begin_careful(&command, &once));
    assert_int_equal(command.plain_points, 0);
    assert_int_equal(atomic_load(&command.submits), 1);
    assert_true(pm_command_begin_followed(&command, &once));
    assert_int_equal(command.pushed.known[1] | command.pushed.stays, 0);
    assert_int_equal(command.plain_points, 0);
    atomic_store(&device.watched, 0);
    atomic_store(&device.binds, 0);
    atomic_store(&sampling.learned, false);
}

/* What follows pushes begins in few instructions where there were none. */
static void what_pushed_nothing_begins_as_short(void **unused)
{
    (void)unused;
    const VkCommandBufferBeginInfo once = {.flags = ONCE}, often = {.flags = 0};
    const uint64_t watched = 6;
    atomic_store(&sampling.learned, true);
    atomic_store(&device.watched, watched);
    struct pm_command command = touched_in_all_ways();
    assert_false(pm_command_begin_unpushed(&command, &once, watched));
    assert_true(pm_command_begin_followed(&command, &once));
    assert_false(pm_command_begin_unpushed(&command, &often, watched));
    assert_false(pm_command_begin_unpushed(&command, &once, watched | 1));
    atomic_store(&command.submits, 1);
    assert_true(pm_command_begin_unpushed(&command, &once, watched));
    assert_int_equal(atomic_load(&command.submits), 0);
    command.pushed.layout = (VkPipelineLayout)(uintptr_t)8;
    assert_false(pm_command_begin_unpushed(&command, &once, watched));
    command.pushed.known[1] = watched;
    assert_true(pm_command_begin_followed(&command, &once));
    assert_int_equal(command.pushed.known[1], 0);
    assert_true(pm_command_begin_unpushed(&command, &once, watched));
    command.touched = true;
    assert_false(pm_command_begin_unpushed(&command, &once, watched));
    atomic_store(&device.watched, 0);
    atomic_store(&sampling.learned, false);
}

/* What executes others is known for as long as its recording. */
static void what_is_executed_is_noted(void **unused)
{
    (void)unused;
    enum { ROOM = 3 };
    const VkCommandBufferBeginInfo once = {.flags = ONCE};
    VkCommandBuffer noted[ROOM];
    struct dispatchable {
        const void *key;
    } handles[ROOM + 1];
    VkCommandBuffer buffers[ROOM + 1];
    for (int i = 0; i <= ROOM; i++)
        buffers[i] = (VkCommandBuffer)&handles[i];
    struct pm_command primary = begun_with(ONCE, false);
    assert_false(pm_command_note_executed(&primary, buffers[0]));
    primary.noted = noted;
    primary.noted_capacity = ROOM;
    assert_int_equal(primary.noted_count, 0);
    for (int i = 0; i <= ROOM; i++)
        assert_int_equal(pm_command_note_executed(&primary, buffers[i]), i < ROOM);
    assert_int_equal(primary.noted_count, ROOM);
    for (int i = 0; i < ROOM; i++)
        assert_ptr_equal(noted[i], buffers[i]);
    assert_false(primary.touched);
    for (int learning = 0; learning < 2; learning++) {
        primary.executed_count = primary.noted_count = 1;
        assert_true(learning ? pm_command_begin_learning(&primary, &once, &sampling)
                             : pm_command_begin_again(&primary, &once));
        assert_int_equal(primary.executed_count + primary.noted_count, 0);
    }
    atomic_store(&sampling.anew, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_short_way_is_for_the_same_flags),
        cmocka_unit_test(what_is_kept_goes_the_long_way),
        cmocka_unit_test(secondaries_begin_again),
        cmocka_unit_test(the_short_way_learns),
        cmocka_unit_test(what_was_touched_is_forgotten),
        cmocka_unit_test(what_was_only_bound_begins_as_short),
        cmocka_unit_test(what_is_followed_just_now_is_not_carried_over),
        cmocka_unit_test(what_pushed_nothing_begins_as_short),
        cmocka_unit_test(what_is_executed_is_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
