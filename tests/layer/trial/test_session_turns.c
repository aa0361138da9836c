/* Which of the shaders that want a trial over sessions have a turn in one (session_lot.h), and for
 * how long they want it. */
#include "tests/layer/trial/steady_sessions.h"

#include "base/file.h"
#include "tests/patience.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A session that records a dispatch and a draw, whose pipelines it creates in that order. How many
 * variants it runs with; *waits: the dispatch's has to wait. */
static int session_of_two(bool *waits)
{
    VkCommandBuffer buffer;
    uint64_t until = 0;
    const uint32_t timed = optimized_logged(SESSION_TIMED);
    trying.background = true;
    trying.variant_cost = 90000;
    pm_harness_open(&trying.h, NULL);
    const uint32_t before = optimized_logged(" waits: ");
    trying.compute = optimized_compute(&trying.h);
    *waits = optimized_logged(" waits: ") > before;
    trying.graphics = optimized_graphics(&trying.h);
    trying_costs();
    buffer = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = trying.h.driver->position();
    pm_harness_begin(&trying.h, buffer, 0);
    trying_dispatch(buffer);
    trying_draw(buffer);
    PM_CHECK(trying.h.vk.EndCommandBuffer(buffer));
    const uint32_t variants = trying_foreign_binds(position);
    const uint32_t found = optimized_logged("timed in turn: sessions are");
    while ((found == 0 ? optimized_logged("timed in turn: sessions are")
                       : optimized_logged(SESSION_TIMED) - timed) < 2 &&
           patience(&until))
        steady_submit(buffer);
    trying_close();
    return (int)variants;
}

/* Each takes more of the frame than several may. */
static void few_untried_ones_at_once(void **state)
{
    (void)state;
    static const char over[] = "8 pairs of sessions";
    /* By these seeds each of both comes first once; that hangs on the shaders' keys, too. */
    enum { LEAST_LIMITED = 5, FIRST_SEED = 40 };
    int most[2] = {0, 0}, limited = 0;
    bool waits, has_waited = false;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    assert_int_equal(session_of_two(&waits), 0);
    for (int i = 0; optimized_logged(over) == 0 && most[1] < 2; i++) {
        const bool unlimited = limited >= LEAST_LIMITED && has_waited;
        steady_set_seed(FIRST_SEED + i);
        setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", unlimited ? "1" : "0.005", 1);
        const int variants = session_of_two(&waits);
        limited += !unlimited;
        has_waited |= waits;
        most[unlimited] = variants > most[unlimited] ? variants : most[unlimited];
    }
    optimized_assert_logged(over, 0);
    assert_int_equal(most[0], 1);
    /* Whoever comes first waits for the other one, too. */
    assert_true(has_waited);
    /* Without a limit the lots fall so. */
    assert_int_equal(most[1], 2);
}

/* Reads what is kept, with a zero behind it. */
static void read_kept(struct pm_buffer *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    pm_buffer_init(text, 1 << 20);
    assert_true(pm_file_read(path, text, NULL) && pm_buffer_append(text, "", 1));
    text->size--;
}

static void write_kept(struct pm_buffer *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    assert_true(pm_file_write(path, text->data, text->size, NULL));
    pm_buffer_finish(text);
}

/* When a variant was used that is kept in so many lines: the last word of the first. */
static char *used_at(char *lines)
{
    char *end = strchr(lines, '\n');
    while (end[-1] != ' ')
        end--;
    return end;
}

/* As many others are kept as if of other shaders: what is kept of the one, under other names, and
 * the one itself. Last used then (seconds, of as many digits as today has). */
static void keep_others(uint32_t count, int64_t others_at, int64_t own_at)
{
    struct pm_buffer text;
    char time[24];
    read_kept(&text);
    char *first = strstr((char *)text.data, "variant "), *rest = strdup(first);
    assert_null(strstr(first + 1, "\nvariant "));
    assert_non_null(strstr(first, "\nsessions"));
    memcpy(used_at(first), time, (size_t)snprintf(time, sizeof time, "%" PRId64, own_at));
    memcpy(used_at(rest), time, (size_t)snprintf(time, sizeof time, "%" PRId64, others_at));
    for (uint32_t i = 0; i < count; i++) {
        char name[9];
        char *key = strchr(rest, ' ') + 1, *original = strchr(key, ' ') + 1;
        snprintf(name, sizeof name, "%08x", i * 0x9e3779b9u + 1);
        memcpy(key, name, 8);
        memcpy(original, name, 8);
        assert_true(pm_buffer_append_string(&text, rest));
    }
    free(rest);
    write_kept(&text);
}

/* In how many sessions the one takes part. */
static int sessions_of_one(int sessions)
{
    const struct pm_null_api *driver = pm_harness_driver();
    int part = 0;
    for (int i = 0; i < sessions; i++) {
        const uint64_t position = driver->position();
        steady_set_seed(i);
        (void)steady_session(80000, false, "");
        part += pm_calls_of(driver, position, "vkCmdWriteTimestamp") > 0;
    }
    return part;
}

enum { OTHERS = 100, TURNS = 12 };

/* Nobody knows which of them the program creates. */
static void who_takes_part_is_drawn(void **state)
{
    (void)state;
    const int64_t now = time(NULL);
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(80000, false, "timed in turn: sessions are"), 0);
    keep_others(OTHERS, now, now);
    assert_in_range(sessions_of_one(TURNS), 2, TURNS - 2);
}

/* What the program creates no more has no turn. What it creates has one again from the next session
 * on, however long ago it was there. */
static void what_was_left_takes_no_turn(void **state)
{
    (void)state;
    enum { DAYS = 8, DAY = 24 * 60 * 60 };
    const int64_t now = time(NULL), before = now - DAYS * DAY;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(80000, false, "timed in turn: sessions are"), 0);
    keep_others(OTHERS, before, before + 1);
    assert_in_range(sessions_of_one(1), 0, 1);
    assert_int_equal(sessions_of_one(TURNS / 2), TURNS / 2);
}

/* A session, or all like it, that times nothing of what is submitted again does not look for what
 * that takes, nor wants later ones to. */
static void who_samples_every_call_wants_none(void **state)
{
    (void)state;
    static const char stays[] = "cannot be timed in turn, and stays untried",
                      wanted[] = "timed in turn: sessions are";
    trying_prepare_sessions();
    pm_layered_sample_all("1");
    (void)steady_session(80000, false, stays);
    assert_true(optimized_logged(stays) > 0);
    optimized_assert_logged(wanted, 0);
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(80000, false, wanted), 0);
    const uint32_t said = optimized_logged(stays);
    unsetenv("PIECEMEAL_SAMPLER_KINDS");
    (void)steady_session(80000, false, stays);
    assert_true(optimized_logged(stays) > said);
    /* What others have found is not lost. */
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    (void)steady_session(80000, false, SESSION_TIMED);
}

/* Below a quarter slower eight pairs say so, which may take hours. */
static void who_has_paid_enough_is_left(void **state)
{
    (void)state;
    enum { SESSIONS = 8, FURTHER = 400, LONGER = 10000 };
    int slower = 0;
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(115000, false, "timed in turn: sessions are"), 0);
    steady.further = FURTHER;
    for (int i = 0; i < SESSIONS && optimized_logged("undecided: tried again later") == 0; i++) {
        trying.longer = LONGER;
        slower += steady_session(115000, false, SESSION_TIMED);
    }
    steady.further = 0;
    optimized_assert_logged("undecided: tried again later", 1);
    assert_in_range(slower, 1, 2);
    assert_int_equal(steady_session(115000, false, ""), 0);
}

static bool is_kept(const char *what)
{
    struct pm_buffer text;
    read_kept(&text);
    const bool there = strstr((const char *)text.data, what) != NULL;
    pm_buffer_finish(&text);
    return there;
}

static void submit_until_charged(VkCommandBuffer buffer)
{
    uint64_t until = 0;
    steady.before_end = NULL;
    while (!is_kept("\ncharged ") && patience(&until))
        steady_submit(buffer);
    assert_true(is_kept("\ncharged "));
}

/* Most programs never destroy their device. */
static void what_they_took_is_kept_meanwhile(void **state)
{
    (void)state;
    enum { LONGER = 10000 };
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(115000, false, "timed in turn: sessions are"), 0);
    trying.longer = LONGER;
    assert_int_equal(steady_session(115000, false, SESSION_TIMED), 0);
    assert_false(is_kept("\ncharged "));
    trying.longer = LONGER;
    steady.before_end = submit_until_charged;
    assert_int_equal(steady_session(115000, false, SESSION_TIMED), 1);
}

/* So many pairs are kept, and what their sessions took. */
static void keep_pairs(uint32_t count, uint32_t millionths, int64_t charged)
{
    struct pm_buffer text, changed;
    read_kept(&text);
    pm_buffer_init(&changed, 1 << 20);
    char *at = strstr((char *)text.data, "\nsessions\n");
    assert_non_null(at);
    *at = '\0';
    bool good = pm_buffer_printf(&changed, "%s\nsessions", (const char *)text.data);
    for (uint32_t i = 0; i < count; i++)
        good = good && pm_buffer_printf(&changed, " %" PRIu32, millionths);
    good = good && pm_buffer_printf(&changed, "%scharged %" PRId64 "\n", at + strlen("\nsessions"),
                                    charged);
    assert_true(good);
    pm_buffer_finish(&text);
    write_kept(&changed);
}

/* What has taken a minute is left undecided only where pairs do not say how it is. */
static void what_pairs_say_comes_before_what_they_took(void **state)
{
    (void)state;
    static const char over[] = "8 pairs of sessions";
    trying_prepare_sessions();
    setenv("PIECEMEAL_SAMPLER_KINDS", "timing", 1);
    assert_int_equal(steady_session(110000, false, "timed in turn: sessions are"), 0);
    keep_pairs(7, 1100000, INT64_C(61000000000));
    for (int i = 0; i < 3 && optimized_logged(over) == 0; i++)
        (void)steady_session(110000, false, SESSION_TIMED);
    optimized_assert_logged("8 pairs of sessions: dropped", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(few_untried_ones_at_once),
        PM_LAYERED_TEST(who_takes_part_is_drawn),
        PM_LAYERED_TEST(what_was_left_takes_no_turn),
        PM_LAYERED_TEST(who_samples_every_call_wants_none),
        PM_LAYERED_TEST(who_has_paid_enough_is_left),
        PM_LAYERED_TEST(what_they_took_is_kept_meanwhile),
        PM_LAYERED_TEST(what_pairs_say_comes_before_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
