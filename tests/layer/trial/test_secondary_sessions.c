/* Trials over sessions of what is drawn in secondary command buffers: in the render pass instances
 * that execute them (sessions.h). */
#include "tests/layer/trial/secondary_frames.h"

#include "base/file.h"
#include "tests/patience.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUBMISSIONS = 100 };

/* How a program records. */
struct program {
    bool draws;
    VkCommandBufferUsageFlags flags; /* of its secondary command buffers */
    bool primary_anew;               /* in each frame */
    bool secondary_anew;
    bool beside, alone; /* secondary_draw_beside */
};

static void run_frames(const struct program *program)
{
    for (int i = 0; i < SUBMISSIONS; i++) {
        if (program->secondary_anew)
            secondary_record(program->flags);
        if (program->primary_anew)
            secondary_record_primary(TRYING_ONCE);
        secondary_submit();
    }
}

static void open_session(const struct program *program)
{
    trying.dispatches = !program->draws;
    trying.background = true;
    trying.variant_cost = 80000;
    pm_harness_open(&trying.h, NULL);
    trying.h.driver->set_binned(true);
    if (program->draws)
        trying.graphics = optimized_graphics(&trying.h);
    else
        trying.compute = optimized_compute(&trying.h);
    trying_costs();
    secondary_allocate(program->draws);
    secondary_draw_beside(program->beside, program->alone);
    secondary_record(program->flags);
    secondary_record_primary(program->primary_anew ? TRYING_ONCE : 0);
}

/* A session of it, until it is timed or found that it must be over sessions. */
static void run_session(const struct program *program, const char *until_logged)
{
    const uint32_t logged = optimized_logged(until_logged);
    uint64_t until = 0;
    open_session(program);
    do
        run_frames(program);
    while (optimized_logged(until_logged) == logged && patience(&until));
    trying_close();
}

static void prepare(void)
{
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
}

/* Two sessions, one with each side, say what it takes with this one; before them one may have the
 * original, where the lot has it that the variant comes first. */
static void try_over_sessions(const struct program *program)
{
    prepare();
    run_session(program, "timed in turn: sessions are");
    optimized_assert_logged("timed a session", 0);
    for (int i = 0; i < 3 && optimized_logged("1 pairs of sessions") == 0; i++)
        run_session(program, "timed a session");
    const int calls =
        (program->draws && !program->alone ? 2 : 0) + (program->beside || !program->draws);
    char times[2][32];
    snprintf(times[0], sizeof times[0], "(%d ns,", calls * TRYING_ORIGINAL);
    snprintf(times[1], sizeof times[1], "(%d ns,", calls * 80000);
    optimized_assert_logged(times[0], 1 + optimized_logged("this one is of none"));
    optimized_assert_logged(times[1], 1);
    optimized_assert_logged("1 pairs of sessions", 1);
}

static void kept_ones(void **state)
{
    (void)state;
    try_over_sessions(&(struct program){.draws = true});
}

static void kept_dispatches(void **state)
{
    (void)state;
    try_over_sessions(&(struct program){.draws = false});
}

static void kept_ones_in_what_is_recorded_anew(void **state)
{
    (void)state;
    try_over_sessions(
        &(struct program){.draws = true, .flags = SECONDARY_SIMULTANEOUS, .primary_anew = true});
}

/* An instance with contents of both kinds. */
static void beside_draws_of_what_executes_them(void **state)
{
    (void)state;
    try_over_sessions(&(struct program){.draws = true, .beside = true});
}

static void beside_draws_that_are_recorded_anew(void **state)
{
    (void)state;
    try_over_sessions(&(struct program){
        .draws = true, .flags = SECONDARY_SIMULTANEOUS, .primary_anew = true, .beside = true});
}

/* The trial is of what the primary one draws. */
static void draws_beside_them(void **state)
{
    (void)state;
    try_over_sessions(&(struct program){.draws = true, .beside = true, .alone = true});
    pm_layered_tear_down(state);
    pm_layered_set_up(state);
    try_over_sessions(&(struct program){.draws = true,
                                        .flags = SECONDARY_SIMULTANEOUS,
                                        .primary_anew = true,
                                        .beside = true,
                                        .alone = true});
}

static bool is_wanted(void)
{
    char path[200];
    struct pm_buffer text;
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_file_read(path, &text, NULL) && pm_buffer_append(&text, "", 1));
    const bool wanted = strstr((const char *)text.data, "\nsessions") != NULL;
    pm_buffer_finish(&text);
    return wanted;
}

/* A long session that times nothing any more, of a program that records so, is the last one of the
 * trial. */
static void last_session(const struct program *program)
{
    enum { RECORDED_FOR = 4096 };
    assert_true(is_wanted());
    setenv("PM_NULL_WITHOUT_FEATURES", "hostQueryReset", 1);
    open_session(program);
    for (int i = 0; i <= RECORDED_FOR; i += SUBMISSIONS)
        run_frames(program);
    trying_close();
    unsetenv("PM_NULL_WITHOUT_FEATURES");
    assert_false(is_wanted());
}

/* Beside secondary ones it is recorded anew as well. */
static void draws_beside_them_that_are_timed_no_more(void **state)
{
    (void)state;
    const struct program program = {.draws = true,
                                    .flags = SECONDARY_SIMULTANEOUS,
                                    .primary_anew = true,
                                    .beside = true,
                                    .alone = true};
    try_over_sessions(&program);
    last_session(&program);
}

/* And so it is in secondary ones that are. */
static void draws_in_them_that_are_recorded_anew(void **state)
{
    (void)state;
    try_over_sessions(&(struct program){.draws = true});
    last_session(&(struct program){
        .draws = true, .flags = TRYING_ONCE, .primary_anew = true, .secondary_anew = true});
}

/* What is of another size in each session says nothing, and does not go on for ever. */
static void sizes_that_never_agree(void **state)
{
    (void)state;
    const struct program program = {.draws = false};
    prepare();
    run_session(&program, "timed in turn: sessions are");
    for (uint32_t session = 1; session <= 9 + optimized_logged("this one is of none"); session++) {
        trying.groups = session;
        run_session(&program, "timed a session");
    }
    optimized_assert_logged("0 pairs of sessions: more sessions are to come", 8);
    optimized_assert_logged("0 pairs of sessions: undecided", 1);
}

/* As soon as it is done it is submitted again: hardly ever does anybody see that it is. */
static void what_is_submitted_without_a_pause(void **state)
{
    (void)state;
    enum { MOST = 3000, MICROSECONDS = 2000 };
    const struct program program = {.draws = true};
    prepare();
    /* lavapipe, which is asked only for what is done. */
    setenv("PM_NULL_DRIVER_ID", "13", 1);
    run_session(&program, "timed in turn: sessions are");
    open_session(&program);
    trying.h.driver->set_delay(MICROSECONDS);
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    PM_CHECK(trying.h.vk.CreateFence(trying.h.device, &info, NULL, &fence));
    for (int i = 0; i < MOST && optimized_logged("timed a session") == 0; i++) {
        secondary_submit_with(fence);
        PM_CHECK(trying.h.vk.WaitForFences(trying.h.device, 1, &fence, VK_TRUE, UINT64_MAX));
        PM_CHECK(trying.h.vk.ResetFences(trying.h.device, 1, &fence));
    }
    trying.h.driver->set_delay(0);
    PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
    trying.h.vk.DestroyFence(trying.h.device, fence, NULL);
    optimized_assert_logged("timed a session", 1);
    trying_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(kept_ones),
        PM_LAYERED_TEST(kept_dispatches),
        PM_LAYERED_TEST(kept_ones_in_what_is_recorded_anew),
        PM_LAYERED_TEST(beside_draws_of_what_executes_them),
        PM_LAYERED_TEST(beside_draws_that_are_recorded_anew),
        PM_LAYERED_TEST(draws_beside_them),
        PM_LAYERED_TEST(draws_beside_them_that_are_timed_no_more),
        PM_LAYERED_TEST(draws_in_them_that_are_recorded_anew),
        PM_LAYERED_TEST(sizes_that_never_agree),
        PM_LAYERED_TEST(what_is_submitted_without_a_pause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
