/* Sessions that ended because somebody asked for that (journal_asked.h). */
#include "profile/journal_asked.h"
#include "tests/profile/journals.h"

#include "tests/cmocka_includes.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RUN "0123456789abcdef"
enum { SETTLED = 600 };

static void use(const char *names)
{
    journals_use(journals_begin(), names);
}

static void use_and_lose(const char *names)
{
    struct pm_journal *journal = journals_begin();
    journals_use(journal, names);
    pm_journal_lost(journal);
}

static void of_run(const char *run)
{
    if (run)
        setenv(PM_RUN_VARIABLE, run, 1);
    else
        unsetenv(PM_RUN_VARIABLE);
}

/* It was touched so many seconds after it was asked. */
static void touched(int64_t after)
{
    char path[JOURNALS_PATH];
    assert_int_equal(journals_find(path), 1);
    const struct timespec at = {.tv_sec = time(NULL) + (time_t)after};
    const struct timespec times[2] = {at, at};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static size_t ask(const char *run)
{
    struct pm_run_sessions sessions;
    struct pm_error error = {0};
    if (!pm_journal_asked(journals_home, run, time(NULL), &sessions, &error))
        fail_msg("%s", error.message);
    assert_int_equal(sessions.live, 0);
    return sessions.marked;
}

static void it_counts_neither_way(void **unused)
{
    (void)unused;
    of_run(RUN);
    for (int i = 0; i < 4; i++) {
        journals_killed_after(use, "ab");
        assert_int_equal(ask(RUN), 1);
        assert_int_equal(ask(RUN), 1); /* once more changes nothing */
        journals_assert_held("");
        assert_int_equal(journals_state.judged_bad, 0);
        assert_int_equal(journals_state.bad_in_a_row, 0);
        assert_int_equal(journals_state.proven, 0);
    }
    /* Nor does it make a bad one forgotten, or wait less. */
    journals_killed_after(use, "ab");
    journals_assert_held("ab");
    for (int i = 0; i < 2 * PM_JOURNAL_WAIT; i++) {
        journals_killed_after(use, "c");
        assert_int_equal(ask(RUN), 1);
        journals_assert_held("ab");
    }
    assert_int_equal(journals_state.bad_in_a_row, 1);
    of_run(NULL);
}

static void who_did_not_live_then_hung(void **unused)
{
    (void)unused;
    of_run(RUN);
    journals_killed_after(use, "a");
    touched(-PM_ASKED_ALIVE - 2);
    assert_int_equal(ask(RUN), 0);
    journals_assert_held("a");
    journals_killed_after(use, "b");
    touched(-PM_ASKED_ALIVE + 1);
    assert_int_equal(ask(RUN), 1);
    journals_assert_held("a");
    of_run(NULL);
}

static void who_went_on_did_not_end_by_it(void **unused)
{
    (void)unused;
    of_run(RUN);
    journals_killed_after(use, "a");
    touched(PM_ASKED_ENDS + 2);
    assert_int_equal(ask(RUN), 0);
    journals_assert_held("a");
    of_run(NULL);
}

static void a_lost_device_stays_bad(void **unused)
{
    (void)unused;
    of_run(RUN);
    journals_killed_after(use_and_lose, "a");
    assert_int_equal(ask(RUN), 1);
    journals_assert_held("a");
    of_run(NULL);
}

static void others_are_left_alone(void **unused)
{
    (void)unused;
    /* Of another run, and of none. */
    static const char *const runs[] = {"fedcba9876543210", NULL, "0123456789ABCDEF", "../../../etc",
                                       "0123456789abcdef0"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char path[JOURNALS_PATH], name[2] = {(char)('a' + i % 4)};
        of_run(runs[i]);
        journals_killed_after(use, name);
        assert_int_equal(journals_find(path), 1);
        assert_int_equal(ask(RUN), 0);
        journals_assert_held(name);
        assert_int_equal(journals_state.judged_bad, 1);
        journals_tear_down(NULL);
        journals_set_up(NULL);
    }
    of_run(NULL);
}

static void take_state(const char *path, const char *game, const struct pm_journal_state *state,
                       void *user)
{
    (void)path;
    assert_string_equal(game, "A Game");
    *(struct pm_journal_state *)user = *state;
}

static struct pm_journal_state look(void)
{
    struct pm_journal_state state;
    assert_true(pm_journal_of_run(journals_home, "A Game", RUN, take_state, &state, NULL));
    return state;
}

/* What who started a run finds when it has ended: all that is held back, and its own bad ones. */
static void the_bad_ones_of_a_run(void **unused)
{
    (void)unused;
    struct pm_journal_state state = look();
    assert_int_equal(state.judged_bad + state.held, 0);
    of_run("fedcba9876543210");
    journals_killed_after(use, "a");
    state = look();
    assert_int_equal(state.judged_bad, 0);
    assert_int_equal(state.held, 1);
    of_run(RUN);
    journals_killed_after(use, "b"); /* which has judged the one before */
    state = look();
    assert_int_equal(state.judged_bad, 1);
    assert_int_equal(state.held, 2);
    assert_int_equal(state.judged_held, 1);
    assert_int_equal(state.safe_for, PM_JOURNAL_WAIT);
    assert_int_equal(state.judged_safe_for, PM_JOURNAL_WAIT);
    assert_int_equal(ask(RUN), 1);
    state = look();
    assert_int_equal(state.judged_bad, 0);
    assert_int_equal(state.held, 1);
    assert_int_equal(state.safe_for, 0);
    of_run(NULL);
}

/* It ended badly, and is not why anything is held back. */
static void bad_but_nothing_new(void **unused)
{
    (void)unused;
    of_run("fedcba9876543210");
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "b");
    pm_journal_end(journal);
    pm_journal_close(journal);
    journals_killed_after(use, "a");
    journals_assert_held("a");
    journal = journals_begin(); /* so that the next is not the second in a row */
    pm_journal_end(journal);
    pm_journal_close(journal);
    of_run(RUN);
    journals_killed_after(use, "b");
    struct pm_journal_state state = look();
    assert_int_equal(state.judged_bad, 1);
    assert_int_equal(state.held, 1);
    assert_int_equal(state.judged_held + state.judged_held_for_good, 0);
    assert_int_equal(state.judged_safe_for, 0);
    journals_killed_after(use, "bc");
    state = look();
    assert_int_equal(state.held, 2);
    assert_int_equal(state.judged_held, 1);
    of_run(NULL);
}

static void what_lives_is_counted(void **unused)
{
    (void)unused;
    struct pm_run_sessions sessions;
    of_run(RUN);
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "a");
    assert_true(pm_journal_asked(journals_home, RUN, time(NULL), &sessions, NULL));
    assert_int_equal(sessions.live, 1);
    assert_int_equal(sessions.marked, 0);
    pm_journal_end(journal);
    pm_journal_close(journal);
    journals_assert_held("");
    assert_int_equal(journals_state.proven, 1);
    of_run(NULL);
}

/* A line that the process was killed in the middle of. */
static void a_torn_line_is_no_damage(void **unused)
{
    (void)unused;
    char path[JOURNALS_PATH];
    of_run(RUN);
    journals_killed_after(use, "a");
    assert_int_equal(journals_find(path), 1);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    assert_true(fputs("new 0123", file) >= 0 && fclose(file) == 0);
    assert_int_equal(ask(RUN), 1);
    journals_assert_held("");
    assert_int_equal(journals_state.damaged.code, PM_OK);
    of_run(NULL);
}

/* Nothing but life is shown, and only where a frame went through. */
static void frames_show_life(void **unused)
{
    (void)unused;
    struct stat before, after;
    char path[JOURNALS_PATH];
    of_run(RUN);
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "a");
    for (int64_t now = 1000; now < 1003; now++) {
        touched(-1000);
        assert_int_equal(journals_find(path), 1);
        assert_int_equal(stat(path, &before), 0);
        pm_journal_alive(journal);
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
        pm_journal_heartbeat(journal, now, SETTLED);
        assert_int_equal(stat(path, &after), 0);
        assert_int_equal(after.st_mtim.tv_sec, before.st_mtim.tv_sec);
        pm_journal_alive(journal);
        assert_int_equal(stat(path, &after), 0);
        assert_true(after.st_mtim.tv_sec >= before.st_mtim.tv_sec + 999);
        assert_int_equal(after.st_size, before.st_size);
    }
    pm_journal_end(journal);
    pm_journal_close(journal);
    of_run(NULL);
}

static void a_run_has_a_name(void **unused)
{
    (void)unused;
    char first[PM_RUN_NAME_BYTES], second[PM_RUN_NAME_BYTES];
    assert_true(pm_run_begin(first, NULL));
    assert_string_equal(pm_run_name(), first);
    assert_true(pm_run_begin(second, NULL));
    assert_string_equal(pm_run_name(), second);
    assert_string_not_equal(first, second);
    of_run(NULL);
    assert_null(pm_run_name());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(it_counts_neither_way),
        JOURNALS_TEST(who_did_not_live_then_hung),
        JOURNALS_TEST(who_went_on_did_not_end_by_it),
        JOURNALS_TEST(a_lost_device_stays_bad),
        JOURNALS_TEST(others_are_left_alone),
        JOURNALS_TEST(the_bad_ones_of_a_run),
        JOURNALS_TEST(bad_but_nothing_new),
        JOURNALS_TEST(what_lives_is_counted),
        JOURNALS_TEST(a_torn_line_is_no_damage),
        JOURNALS_TEST(frames_show_life),
        JOURNALS_TEST(a_run_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
