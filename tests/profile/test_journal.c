/* The journal of safe mode across sessions, of which some are killed. */
#include "tests/profile/journals.h"

#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void good_session(const char *names)
{
    struct pm_journal *journal = journals_begin();
    journals_use(journal, names);
    pm_journal_end(journal);
    pm_journal_close(journal);
}

/* In place of libc's: a process that is killed as it removes what it has judged. */
static bool killed_at_removing;
int unlink(const char *path)
{
    const char *end = strrchr(path, '.');
    if (killed_at_removing && end && strcmp(end, ".session") == 0)
        kill(getpid(), SIGKILL);
    return unlinkat(AT_FDCWD, path, 0);
}

static void begin_and_use(const char *names)
{
    journals_use(journals_begin(), names);
}

static void killed_session(const char *names)
{
    journals_killed_after(begin_and_use, names);
}

static void good_sessions_hold_nothing_back(void **unused)
{
    (void)unused;
    journals_assert_held("");
    good_session("ab");
    journals_assert_held("");
    assert_int_equal(journals_state.proven, 2);
    assert_int_equal(journals_state.judged_bad, 0);
}

static void what_was_new_in_a_killed_session_is_held_back(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("ab");
    journals_assert_held("b");
    assert_int_equal(journals_state.judged_bad, 1);
    assert_int_equal(journals_state.bad_in_a_row, 1);
    assert_int_equal(journals_state.held, 1);
    /* It was said once. */
    journals_assert_held("b");
    assert_int_equal(journals_state.judged_bad, 0);
}

static void a_second_time_in_a_row_everything_is(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("ab");
    killed_session("abc");
    journals_assert_held("abcd");
    assert_int_equal(journals_state.safe_for, PM_JOURNAL_WAIT);
    assert_int_equal(journals_state.bad_in_a_row, 2);
    /* With a good one between them they are not in a row. */
    temporary_remove(journals_home);
    temporary_make(journals_home, sizeof journals_home);
    killed_session("a");
    good_session("b");
    killed_session("bc");
    journals_assert_held("ac");
    assert_int_equal(journals_state.bad_in_a_row, 1);
}

static void good_sessions_bring_it_back_and_a_second_strike_keeps_it(void **unused)
{
    (void)unused;
    killed_session("ab");
    for (int i = 0; i < PM_JOURNAL_WAIT; i++) {
        journals_assert_held("ab");
        good_session("c");
    }
    journals_assert_held("");
    good_session("a");
    killed_session("ab");
    /* a was proven meanwhile. */
    journals_assert_held("b");
    assert_int_equal(journals_state.held_for_good, 1);
    for (int i = 0; i < 2 * PM_JOURNAL_WAIT; i++)
        good_session("c");
    journals_assert_held("b");
}

static void safe_mode_ends(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("a");
    journals_assert_held("");
    killed_session("a");
    for (int i = 0; i < PM_JOURNAL_WAIT; i++) {
        journals_assert_held("abcd");
        good_session("abcd");
    }
    journals_assert_held("");
    /* a counts as new from there on. */
    killed_session("a");
    journals_assert_held("a");
}

static void killed_while_judging(void)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        killed_at_removing = true;
        journals_begin();
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* Who judges may be killed, too, once the history says it and the sessions are still there. */
static void a_session_is_judged_once(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("ab");
    for (int i = 0; i < 3; i++)
        killed_while_judging();
    journals_assert_held("b");
    assert_int_equal(journals_state.judged_bad, 0);
    assert_int_equal(journals_state.bad_in_a_row, 1);
    /* What comes after is judged as ever. */
    killed_session("ac");
    killed_while_judging();
    journals_assert_held("abcd");
    assert_int_equal(journals_state.bad_in_a_row, 2);
}

/* The game's own crashes, without a variant in use, are its own. */
static void sessions_without_variants_say_nothing(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("");
    killed_session("");
    killed_session("");
    journals_assert_held("");
    assert_int_equal(journals_state.bad_in_a_row, 0);
}

static void a_lost_device_is_a_bad_end(void **unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "a");
    pm_journal_lost(journal);
    pm_journal_lost(journal);
    pm_journal_end(journal);
    pm_journal_close(journal);
    journals_assert_held("a");
}

/* What the game tidies up afterwards changes nothing. */
static void a_crash_that_is_tidied_up_is_a_bad_end(void **unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "a");
    pm_journal_crashed(journal);
    pm_journal_exit(journal);
    pm_journal_end(journal);
    pm_journal_close(journal);
    journals_assert_held("a");
}

static struct pm_journal *interrupted;
static _Atomic bool syncing;
static _Atomic uint32_t sync_milliseconds;

/* In the C library's place: a signal arrives while the journal syncs, and its handler exits; or the
 * disk takes its time. */
int fdatasync(int fd)
{
    (void)fd;
    if (interrupted)
        pm_journal_exit(interrupted);
    interrupted = NULL;
    syncing = true;
    usleep(sync_milliseconds * 1000);
    return 0;
}

static void an_exit_in_the_middle_does_not_wait_for_ever(void **unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    interrupted = journal;
    alarm(10);
    journals_use(journal, "a");
    assert_null(interrupted);
    alarm(0);
    pm_journal_close(journal);
    journals_assert_held("");
}

static void *write_one(void *user)
{
    journals_use(user, "a");
    return NULL;
}

static void exit_while_another_thread_syncs(const char *unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    pthread_t writer;
    syncing = false;
    sync_milliseconds = 100;
    assert_int_equal(pthread_create(&writer, NULL, write_one, journal), 0);
    while (!syncing)
        usleep(100);
    pm_journal_exit(journal);
}

/* A short session exits while its variants are being written down. */
static void an_exit_beside_a_sync_is_a_proper_end(void **unused)
{
    (void)unused;
    journals_killed_after(exit_while_another_thread_syncs, NULL);
    journals_assert_held("");
    assert_int_equal(journals_state.judged_bad, 0);
}

static void two_more_devices(const char *names)
{
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "a");
    pm_journal_end(journal);
    pm_journal_begin(journal);
    pm_journal_begin(journal);
    journals_use(journal, names);
    pm_journal_end(journal);
}

/* One device after another, and two at once: the session ends with the last. */
static void devices_come_and_go(void **unused)
{
    (void)unused;
    journals_killed_after(two_more_devices, "b");
    journals_assert_held("ab");

    struct pm_journal *journal = journals_begin();
    journals_use(journal, "c");
    pm_journal_exit(journal); /* the process exits with its device alive */
    assert_false(journals_holds(journal, 'c'));
    pm_journal_close(journal);
    journals_assert_held("ab");
    assert_int_equal(journals_state.proven, 1);
}

/* What was made and never bound is not proven by a session that ended well. */
static void made_is_not_used(void **unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    const struct pm_shader_key variant = journals_key('a');
    assert_non_null(pm_journal_write(journal, &variant, NULL));
    pm_journal_end(journal);
    pm_journal_close(journal);
    journals_assert_held("");
    assert_int_equal(journals_state.proven, 0);
}

static void several_processes_at_once(void **unused)
{
    (void)unused;
    struct pm_journal *first = journals_begin();
    journals_use(first, "a");
    killed_session("b");
    /* The first one lives, and is not judged. */
    journals_assert_held("b");
    assert_int_equal(journals_state.judged_bad, 1);
    struct pm_journal *second = journals_begin();
    journals_use(second, "c");
    pm_journal_end(first);
    pm_journal_close(first);
    pm_journal_end(second);
    pm_journal_close(second);
    journals_assert_held("b");
    assert_int_equal(journals_state.proven, 2);
}

/* A forked child neither ends its parent's session nor writes to it. */
static void a_fork_is_survived(void **unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "a");
    const pid_t child = fork();
    if (child == 0) {
        const struct pm_shader_key variant = journals_key('b');
        const bool refused = pm_journal_write(journal, &variant, NULL) == NULL;
        pm_journal_exit(journal);
        pm_journal_abandon(journal);
        pm_journal_close(journal);
        _exit(refused ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    /* Still locked, so still alive. */
    journals_assert_held("");
    assert_int_equal(journals_state.proven, 0);
    pm_journal_end(journal);
    pm_journal_close(journal);
    journals_assert_held("");
    assert_int_equal(journals_state.proven, 1);
}

static void write_file(const char *name, const char *text, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/A%%20Game/%s", journals_home, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(text, 1, size, file);
    fclose(file);
}

#define LINE_A "new 616161616161616161616161616161616161616161616161\n"
#define HEADER "piecemeal journal 1\n"

static void damage(void **unused)
{
    (void)unused;
    static const char zeros[64];
    good_session("a");
    const struct {
        const char *text, *held;
        bool damaged;
    } sessions[] = {
        {"", "", false},
        {"nonsense\n", "", true},
        {HEADER "new 61\n", "", true},
        {HEADER "new 6162626262626262626262626262626262626262626262zz\n", "", true},
        {HEADER "used 626262626262626262626262626262626262626262626262\n", "", true},
        {HEADER "new\n", "", true},
        {HEADER "\n", "", true},
        {HEADER "new a b c d e\n", "", true},
        /* What stands before the damage counts, and a torn last line is what a kill leaves. */
        {HEADER "new 626262626262626262626262626262626262626262626262\nend\n\001\n", "b", true},
        {HEADER "new 636363636363636363636363636363636363636363636363\nen", "c", false},
    };
    for (size_t i = 0; i < sizeof sessions / sizeof sessions[0]; i++) {
        write_file("1-2.session", sessions[i].text, strlen(sessions[i].text));
        if (*sessions[i].held)
            good_session(""); /* so that no two are in a row */
        else
            journals_assert_held(sessions[i].held);
        assert_int_equal(journals_state.damaged.code != PM_OK, sessions[i].damaged);
    }
    journals_assert_held("bc");
    write_file("1-2.session", zeros, sizeof zeros);
    journals_assert_held("bc");
    assert_int_not_equal(journals_state.damaged.code, PM_OK);

    const char *const histories[] = {
        "nonsense",
        HEADER "bad -1\n",
        HEADER "bad 1",
        HEADER "struck 616161616161616161616161616161616161616161616161 1\n",
        HEADER "struck 616161616161616161616161616161616161616161616161 1 99999999999\n",
        HEADER "proven 61\n",
        "",
    };
    for (size_t i = 0; i < sizeof histories / sizeof histories[0]; i++) {
        write_file("history", histories[i], strlen(histories[i]));
        journals_assert_held("");
        assert_int_not_equal(journals_state.damaged.code, PM_OK);
        /* It was replaced. */
        journals_assert_held("");
        assert_int_equal(journals_state.damaged.code, PM_OK);
    }
}

static void no_place(void **unused)
{
    (void)unused;
    struct pm_error error = {0};
    char path[160];
    snprintf(path, sizeof path, "%s/file", journals_home);
    FILE *file = fopen(path, "w");
    fclose(file);
    assert_null(pm_journal_open(path, "A Game", &journals_state, &error));
    assert_int_equal(error.code, PM_ERROR_IO);
}

struct seen {
    unsigned games;
    struct pm_journal_state state;
    char game[64];
};

static void see(const char *path, const char *game, const struct pm_journal_state *found,
                void *user)
{
    struct seen *seen = user;
    assert_int_equal(access(path, F_OK), 0);
    seen->games++;
    seen->state = *found;
    snprintf(seen->game, sizeof seen->game, "%s", game);
}

static void listing_changes_nothing(void **unused)
{
    (void)unused;
    killed_session("ab");
    for (int i = 0; i < 2; i++) {
        struct seen seen = {0};
        assert_true(pm_journal_each(journals_home, see, &seen, NULL));
        assert_int_equal(seen.games, 1);
        assert_string_equal(seen.game, "A%20Game");
        assert_int_equal(seen.state.judged_bad, 1);
        assert_int_equal(seen.state.held, 2);
    }
    struct seen seen = {0};
    char path[160];
    snprintf(path, sizeof path, "%s/nothing", journals_home);
    assert_true(pm_journal_each(path, see, &seen, NULL));
    assert_int_equal(seen.games, 0);
}

/* However many variants there were, a history stays readable, and what is held back stays. */
static void many_variants(void **unused)
{
    (void)unused;
    killed_session("a");
    for (int round = 0; round < 3; round++) {
        struct pm_journal *journal = journals_begin();
        for (int i = 0; i < PM_JOURNAL_MOST; i++) {
            struct pm_shader_key variant = journals_key((uint8_t)round);
            memcpy(variant.bytes, &i, sizeof i);
            struct pm_journal_entry *entry = pm_journal_write(journal, &variant, NULL);
            assert_non_null(entry);
            pm_journal_used(entry);
        }
        struct pm_error error = {0};
        const struct pm_shader_key more = journals_key('x');
        assert_null(pm_journal_write(journal, &more, &error));
        assert_int_equal(error.code, PM_ERROR_LIMIT);
        pm_journal_end(journal);
        pm_journal_close(journal);
    }
    journals_assert_held("a");
    assert_int_equal(journals_state.damaged.code, PM_OK);
    assert_int_equal(journals_state.proven, PM_JOURNAL_MOST - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(good_sessions_hold_nothing_back),
        JOURNALS_TEST(what_was_new_in_a_killed_session_is_held_back),
        JOURNALS_TEST(a_second_time_in_a_row_everything_is),
        JOURNALS_TEST(good_sessions_bring_it_back_and_a_second_strike_keeps_it),
        JOURNALS_TEST(safe_mode_ends),
        JOURNALS_TEST(sessions_without_variants_say_nothing),
        JOURNALS_TEST(a_session_is_judged_once),
        JOURNALS_TEST(a_lost_device_is_a_bad_end),
        JOURNALS_TEST(a_crash_that_is_tidied_up_is_a_bad_end),
        JOURNALS_TEST(an_exit_in_the_middle_does_not_wait_for_ever),
        JOURNALS_TEST(an_exit_beside_a_sync_is_a_proper_end),
        JOURNALS_TEST(devices_come_and_go),
        JOURNALS_TEST(made_is_not_used),
        JOURNALS_TEST(several_processes_at_once),
        JOURNALS_TEST(a_fork_is_survived),
        JOURNALS_TEST(damage),
        JOURNALS_TEST(no_place),
        JOURNALS_TEST(listing_changes_nothing),
        JOURNALS_TEST(many_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
