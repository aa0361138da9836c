/* The journal of safe mode across sessions, of which some are killed. */
#include "profile/journal.h"

#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GAME "A Game"

static char home[96];
static struct pm_journal_state state;

static int set_up(void **unused)
{
    (void)unused;
    temporary_make(home, sizeof home);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    temporary_remove(home);
    return 0;
}

static struct pm_shader_key key(uint8_t name)
{
    struct pm_shader_key key;
    memset(key.bytes, name, sizeof key.bytes);
    return key;
}

static struct pm_journal *begin(void)
{
    struct pm_error error = {0};
    struct pm_journal *journal = pm_journal_open(home, GAME, &state, &error);
    if (!journal)
        fail_msg("%s", error.message);
    pm_journal_begin(journal);
    return journal;
}

static bool holds(const struct pm_journal *journal, uint8_t name)
{
    const struct pm_shader_key variant = key(name);
    return pm_journal_holds(journal, &variant);
}

/* Makes and uses variants, as the layer does: none that is held back. */
static void use(struct pm_journal *journal, const char *names)
{
    for (; *names; names++) {
        const struct pm_shader_key variant = key((uint8_t)*names);
        if (pm_journal_holds(journal, &variant))
            continue;
        struct pm_journal_entry *entry = pm_journal_write(journal, &variant, NULL);
        assert_non_null(entry);
        assert_ptr_equal(entry, pm_journal_write(journal, &variant, NULL));
        pm_journal_used(entry);
    }
}

static void good_session(const char *names)
{
    struct pm_journal *journal = begin();
    use(journal, names);
    pm_journal_end(journal);
    pm_journal_close(journal);
}

/* A child process that does something and is killed then. */
static void killed_after(void (*act)(const char *names), const char *names)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        act(names);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void begin_and_use(const char *names)
{
    use(begin(), names);
}

static void killed_session(const char *names)
{
    killed_after(begin_and_use, names);
}

/* What a session that begins now holds back, of a to d. */
static void assert_held(const char *expected)
{
    struct pm_error error = {0};
    struct pm_journal *journal = pm_journal_open(home, GAME, &state, &error);
    assert_non_null(journal);
    char held[5] = "";
    size_t count = 0;
    for (uint8_t name = 'a'; name <= 'd'; name++) {
        if (holds(journal, name))
            held[count++] = (char)name;
    }
    pm_journal_close(journal);
    assert_string_equal(held, expected);
}

static void good_sessions_hold_nothing_back(void **unused)
{
    (void)unused;
    assert_held("");
    good_session("ab");
    assert_held("");
    assert_int_equal(state.proven, 2);
    assert_int_equal(state.judged_bad, 0);
}

static void what_was_new_in_a_killed_session_is_held_back(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("ab");
    assert_held("b");
    assert_int_equal(state.judged_bad, 1);
    assert_int_equal(state.bad_in_a_row, 1);
    assert_int_equal(state.held, 1);
    /* It was said once. */
    assert_held("b");
    assert_int_equal(state.judged_bad, 0);
}

static void a_second_time_in_a_row_everything_is(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("ab");
    killed_session("abc");
    assert_held("abcd");
    assert_int_equal(state.safe_for, PM_JOURNAL_WAIT);
    assert_int_equal(state.bad_in_a_row, 2);
    /* With a good one between them they are not in a row. */
    temporary_remove(home);
    temporary_make(home, sizeof home);
    killed_session("a");
    good_session("b");
    killed_session("bc");
    assert_held("ac");
    assert_int_equal(state.bad_in_a_row, 1);
}

static void good_sessions_bring_it_back_and_a_second_strike_keeps_it(void **unused)
{
    (void)unused;
    killed_session("ab");
    for (int i = 0; i < PM_JOURNAL_WAIT; i++) {
        assert_held("ab");
        good_session("c");
    }
    assert_held("");
    good_session("a");
    killed_session("ab");
    /* a was proven meanwhile. */
    assert_held("b");
    assert_int_equal(state.held_for_good, 1);
    for (int i = 0; i < 2 * PM_JOURNAL_WAIT; i++)
        good_session("c");
    assert_held("b");
}

static void safe_mode_ends(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("a");
    assert_held("");
    killed_session("a");
    for (int i = 0; i < PM_JOURNAL_WAIT; i++) {
        assert_held("abcd");
        good_session("abcd");
    }
    assert_held("");
    /* a counts as new from there on. */
    killed_session("a");
    assert_held("a");
}

/* The game's own crashes, without a variant in use, are its own. */
static void sessions_without_variants_say_nothing(void **unused)
{
    (void)unused;
    good_session("a");
    killed_session("");
    killed_session("");
    killed_session("");
    assert_held("");
    assert_int_equal(state.bad_in_a_row, 0);
}

static void a_lost_device_is_a_bad_end(void **unused)
{
    (void)unused;
    struct pm_journal *journal = begin();
    use(journal, "a");
    pm_journal_lost(journal);
    pm_journal_lost(journal);
    pm_journal_end(journal);
    pm_journal_close(journal);
    assert_held("a");
}

static void two_more_devices(const char *names)
{
    struct pm_journal *journal = begin();
    use(journal, "a");
    pm_journal_end(journal);
    pm_journal_begin(journal);
    pm_journal_begin(journal);
    use(journal, names);
    pm_journal_end(journal);
}

/* One device after another, and two at once: the session ends with the last. */
static void devices_come_and_go(void **unused)
{
    (void)unused;
    killed_after(two_more_devices, "b");
    assert_held("ab");

    struct pm_journal *journal = begin();
    use(journal, "c");
    pm_journal_exit(journal); /* the process exits with its device alive */
    assert_false(holds(journal, 'c'));
    pm_journal_close(journal);
    assert_held("ab");
    assert_int_equal(state.proven, 1);
}

/* What was made and never bound is not proven by a session that ended well. */
static void made_is_not_used(void **unused)
{
    (void)unused;
    struct pm_journal *journal = begin();
    const struct pm_shader_key variant = key('a');
    assert_non_null(pm_journal_write(journal, &variant, NULL));
    pm_journal_end(journal);
    pm_journal_close(journal);
    assert_held("");
    assert_int_equal(state.proven, 0);
}

static void several_processes_at_once(void **unused)
{
    (void)unused;
    struct pm_journal *first = begin();
    use(first, "a");
    killed_session("b");
    /* The first one lives, and is not judged. */
    assert_held("b");
    assert_int_equal(state.judged_bad, 1);
    struct pm_journal *second = begin();
    use(second, "c");
    pm_journal_end(first);
    pm_journal_close(first);
    pm_journal_end(second);
    pm_journal_close(second);
    assert_held("b");
    assert_int_equal(state.proven, 2);
}

/* A forked child neither ends its parent's session nor writes to it. */
static void a_fork_is_survived(void **unused)
{
    (void)unused;
    struct pm_journal *journal = begin();
    use(journal, "a");
    const pid_t child = fork();
    if (child == 0) {
        const struct pm_shader_key variant = key('b');
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
    assert_held("");
    assert_int_equal(state.proven, 0);
    pm_journal_end(journal);
    pm_journal_close(journal);
    assert_held("");
    assert_int_equal(state.proven, 1);
}

static void write_file(const char *name, const char *text, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/A%%20Game/%s", home, name);
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
            assert_held(sessions[i].held);
        assert_int_equal(state.damaged.code != PM_OK, sessions[i].damaged);
    }
    assert_held("bc");
    write_file("1-2.session", zeros, sizeof zeros);
    assert_held("bc");
    assert_int_not_equal(state.damaged.code, PM_OK);

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
        assert_held("");
        assert_int_not_equal(state.damaged.code, PM_OK);
        /* It was replaced. */
        assert_held("");
        assert_int_equal(state.damaged.code, PM_OK);
    }
}

static void no_place(void **unused)
{
    (void)unused;
    struct pm_error error = {0};
    char path[160];
    snprintf(path, sizeof path, "%s/file", home);
    FILE *file = fopen(path, "w");
    fclose(file);
    assert_null(pm_journal_open(path, GAME, &state, &error));
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
        assert_true(pm_journal_each(home, see, &seen, NULL));
        assert_int_equal(seen.games, 1);
        assert_string_equal(seen.game, "A%20Game");
        assert_int_equal(seen.state.judged_bad, 1);
        assert_int_equal(seen.state.held, 2);
    }
    struct seen seen = {0};
    char path[160];
    snprintf(path, sizeof path, "%s/nothing", home);
    assert_true(pm_journal_each(path, see, &seen, NULL));
    assert_int_equal(seen.games, 0);
}

/* However many variants there were, a history stays readable, and what is held back stays. */
static void many_variants(void **unused)
{
    (void)unused;
    killed_session("a");
    for (int round = 0; round < 3; round++) {
        struct pm_journal *journal = begin();
        for (int i = 0; i < PM_JOURNAL_MOST; i++) {
            struct pm_shader_key variant = key((uint8_t)round);
            memcpy(variant.bytes, &i, sizeof i);
            struct pm_journal_entry *entry = pm_journal_write(journal, &variant, NULL);
            assert_non_null(entry);
            pm_journal_used(entry);
        }
        struct pm_error error = {0};
        const struct pm_shader_key more = key('x');
        assert_null(pm_journal_write(journal, &more, &error));
        assert_int_equal(error.code, PM_ERROR_LIMIT);
        pm_journal_end(journal);
        pm_journal_close(journal);
    }
    assert_held("a");
    assert_int_equal(state.damaged.code, PM_OK);
    assert_int_equal(state.proven, PM_JOURNAL_MOST - 1);
}

enum { SETTLED = 600 };

/* Frames for so many seconds, one a second, from a time on. */
static void play(struct pm_journal *journal, int64_t from, int64_t seconds)
{
    for (int64_t now = from; now <= from + seconds; now++)
        pm_journal_heartbeat(journal, now, SETTLED);
}

static void use_and_play(const char *names, int64_t seconds)
{
    struct pm_journal *journal = begin();
    use(journal, names);
    play(journal, 1000, seconds);
}

static void play_until_settled(const char *names)
{
    use_and_play(names, SETTLED);
}

static void play_too_short(const char *names)
{
    use_and_play(names, SETTLED - 1);
}

/* It hangs: no frame goes through any more. */
static void play_without_frames(const char *names)
{
    use_and_play(names, 0);
}

/* The last of them comes when the others have settled. */
static void play_on_with_another(const char *names)
{
    struct pm_journal *journal = begin();
    use(journal, "a");
    play(journal, 1000, SETTLED);
    use(journal, names);
    play(journal, 1000 + SETTLED, SETTLED - 1);
}

/* One that was made early is first bound when all has settled. */
static void bind_late(const char *names)
{
    struct pm_journal *journal = begin();
    const struct pm_shader_key late = key((uint8_t)*names);
    struct pm_journal_entry *entry = pm_journal_write(journal, &late, NULL);
    use(journal, "a");
    play(journal, 1000, SETTLED);
    pm_journal_used(entry);
}

static void lose_after_settling(const char *names)
{
    struct pm_journal *journal = begin();
    use(journal, names);
    play(journal, 1000, SETTLED);
    pm_journal_lost(journal);
    play(journal, 1000 + SETTLED, 2 * SETTLED);
}

static void a_settled_session_may_be_killed(void **unused)
{
    const struct {
        void (*play)(const char *names);
        const char *held;
    } cases[] = {
        {play_until_settled, ""},     {play_too_short, "b"}, {play_without_frames, "b"},
        {play_on_with_another, "ab"}, {bind_late, "ab"},     {lose_after_settling, "b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tear_down(unused);
        set_up(unused);
        killed_after(cases[i].play, "b");
        assert_held(cases[i].held);
        assert_int_equal(state.judged_bad, *cases[i].held != '\0');
        assert_int_equal(state.proven, *cases[i].held == '\0');
    }
}

/* Always killed, and never in safe mode. */
static void settled_sessions_in_a_row(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        killed_after(play_until_settled, "ab");
        assert_held("");
    }
    assert_int_equal(state.bad_in_a_row, 0);
    assert_int_equal(state.proven, 2);
}

/* Settled, something new, and settled again; and then it ends by itself. */
static void settling_twice(void **unused)
{
    (void)unused;
    struct pm_journal *journal = begin();
    use(journal, "a");
    play(journal, 1000, 2 * SETTLED);
    use(journal, "b");
    play(journal, 5000, 2 * SETTLED);
    use(journal, "c");
    pm_journal_end(journal);
    pm_journal_close(journal);
    assert_held("");
    assert_int_equal(state.proven, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(good_sessions_hold_nothing_back),
        TEST(what_was_new_in_a_killed_session_is_held_back),
        TEST(a_second_time_in_a_row_everything_is),
        TEST(good_sessions_bring_it_back_and_a_second_strike_keeps_it),
        TEST(safe_mode_ends),
        TEST(sessions_without_variants_say_nothing),
        TEST(a_lost_device_is_a_bad_end),
        TEST(devices_come_and_go),
        TEST(made_is_not_used),
        TEST(several_processes_at_once),
        TEST(a_fork_is_survived),
        TEST(damage),
        TEST(no_place),
        TEST(listing_changes_nothing),
        TEST(many_variants),
        TEST(a_settled_session_may_be_killed),
        TEST(settled_sessions_in_a_row),
        TEST(settling_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
