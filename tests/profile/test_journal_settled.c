/* Sessions that went on for so long with their variants that they may be killed, and variants that
 * are only tried for a while (journal.h). */
#include "tests/profile/journals.h"

#include "tests/cmocka_includes.h"
#include <string.h>
#include <sys/stat.h>

enum { SETTLED = 600 };

/* Frames for so many seconds, one a second, from a time on. */
static void play(struct pm_journal *journal, int64_t from, int64_t seconds)
{
    for (int64_t now = from; now <= from + seconds; now++)
        pm_journal_heartbeat(journal, now, SETTLED);
}

static void use_and_play(const char *names, int64_t seconds)
{
    struct pm_journal *journal = journals_begin();
    journals_use(journal, names);
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
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "a");
    play(journal, 1000, SETTLED);
    journals_use(journal, names);
    play(journal, 1000 + SETTLED, SETTLED - 1);
}

/* One that was made early is first bound when all has settled. */
static void bind_late(const char *names)
{
    struct pm_journal *journal = journals_begin();
    const struct pm_shader_key late = journals_key((uint8_t)*names);
    struct pm_journal_entry *entry = pm_journal_write(journal, &late, NULL);
    journals_use(journal, "a");
    play(journal, 1000, SETTLED);
    pm_journal_used(entry);
}

static void lose_after_settling(const char *names)
{
    struct pm_journal *journal = journals_begin();
    journals_use(journal, names);
    play(journal, 1000, SETTLED);
    pm_journal_lost(journal);
    play(journal, 1000 + SETTLED, 2 * SETTLED);
}

/* As above, but for who ends it. */
static void crash_after_settling(const char *names)
{
    struct pm_journal *journal = journals_begin();
    journals_use(journal, names);
    play(journal, 1000, SETTLED);
    pm_journal_crashed(journal);
    pm_journal_exit(journal);
}

static void a_settled_session_may_be_killed(void **unused)
{
    const struct {
        void (*play)(const char *names);
        const char *held;
        uint32_t in_a_row, proven;
    } cases[] = {
        {play_until_settled, "", 0, 1},   {play_too_short, "b", 1, 0},
        {play_without_frames, "b", 1, 0}, {play_on_with_another, "b", 0, 1},
        {bind_late, "b", 0, 1},           {lose_after_settling, "b", 1, 0},
        {crash_after_settling, "", 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        journals_tear_down(unused);
        journals_set_up(unused);
        journals_killed_after(cases[i].play, "b");
        journals_assert_held(cases[i].held);
        assert_int_equal(journals_state.judged_bad, *cases[i].held != '\0');
        assert_int_equal(journals_state.bad_in_a_row, cases[i].in_a_row);
        assert_int_equal(journals_state.proven, cases[i].proven);
    }
}

/* Always killed, and never in safe mode. */
static void settled_sessions_in_a_row(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        journals_killed_after(play_until_settled, "ab");
        journals_assert_held("");
    }
    assert_int_equal(journals_state.bad_in_a_row, 0);
    assert_int_equal(journals_state.proven, 2);
}

/* Settled, something new, and settled again; and then it ends by itself. */
static void settling_twice(void **unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    journals_use(journal, "a");
    play(journal, 1000, 2 * SETTLED);
    journals_use(journal, "b");
    play(journal, 5000, 2 * SETTLED);
    journals_use(journal, "c");
    pm_journal_end(journal);
    pm_journal_close(journal);
    journals_assert_held("");
    assert_int_equal(journals_state.proven, 3);
}

/* ---- what is only tried ---- */

/* It is bound, for so many seconds from a time on. */
static struct pm_journal_entry *try_it(struct pm_journal *journal, uint8_t name, int64_t from,
                                       int64_t seconds)
{
    const struct pm_shader_key key = journals_key(name);
    struct pm_journal_entry *entry = pm_journal_try(journal, &key, NULL);
    assert_non_null(entry);
    pm_journal_used(entry);
    play(journal, from, seconds);
    return entry;
}

/* One after another in turn, in a session that goes on with what it had in the beginning. */
static struct pm_journal *try_for_long(const char *names)
{
    struct pm_journal *journal = journals_begin();
    journals_use(journal, names);
    for (int64_t i = 0; i < 40; i++)
        pm_journal_gone(try_it(journal, (uint8_t)('c' + i % 2), 1000 + 60 * i, 60));
    return journal;
}

static void kill_between(const char *names)
{
    try_for_long(names);
}

static void kill_while_tried(const char *names)
{
    try_it(try_for_long(names), 'd', 10000, SETTLED - 1);
}

static void kill_while_tried_for_long(const char *names)
{
    try_it(try_for_long(names), 'd', 10000, SETTLED);
}

/* Before anything has settled. */
static void kill_early(const char *names)
{
    struct pm_journal *journal = journals_begin();
    journals_use(journal, names);
    pm_journal_gone(try_it(journal, 'c', 1000, 1));
}

static void lose_what_was_tried(const char *names)
{
    struct pm_journal *journal = try_for_long(names);
    struct pm_journal_entry *entry = try_it(journal, 'd', 10000, 1);
    pm_journal_lost(journal);
    pm_journal_gone(entry);
}

static void crash_with_what_was_tried(const char *names)
{
    struct pm_journal *journal = try_for_long(names);
    struct pm_journal_entry *entry = try_it(journal, 'd', 10000, 1);
    pm_journal_crashed(journal);
    pm_journal_gone(entry);
    pm_journal_exit(journal);
}

static void end_while_tried(const char *names)
{
    struct pm_journal *journal = try_for_long(names);
    try_it(journal, 'd', 10000, 1);
    pm_journal_end(journal);
}

/* Only what is there when the session ends may have ended it, and nothing else is held back. */
static void what_is_gone_ends_nothing(void **unused)
{
    const struct {
        void (*play)(const char *names);
        const char *held;
        uint32_t in_a_row, proven;
    } cases[] = {
        {kill_between, "", 0, 1},          {kill_while_tried, "d", 0, 1},
        {kill_early, "a", 1, 0},           {kill_while_tried_for_long, "", 0, 1},
        {end_while_tried, "", 0, 1},       {crash_with_what_was_tried, "d", 0, 1},
        {lose_what_was_tried, "ad", 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        journals_tear_down(unused);
        journals_set_up(unused);
        journals_killed_after(cases[i].play, "a");
        journals_assert_held(cases[i].held);
        assert_int_equal(journals_state.bad_in_a_row, cases[i].in_a_row);
        assert_int_equal(journals_state.proven, cases[i].proven);
    }
}

/* What won is written down as any other is; and what another one tries, too, is there until both
 * are done with it. */
static void what_is_chosen_stays(void **unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    const struct pm_shader_key key = journals_key('a');
    struct pm_journal_entry *won = try_it(journal, 'a', 1000, 1);
    assert_ptr_equal(pm_journal_write(journal, &key, NULL), won);
    pm_journal_gone(won);
    struct pm_journal_entry *twice = try_it(journal, 'b', 1002, 1);
    assert_ptr_equal(try_it(journal, 'b', 1004, 1), twice);
    pm_journal_gone(twice);
    pm_journal_lost(journal);
    pm_journal_close(journal);
    journals_assert_held("ab");
}

/* What has settled while it was tried is in use from then on, and settles once more. */
static void choose_what_settled(const char *names)
{
    struct pm_journal *journal = journals_begin();
    const struct pm_shader_key key = journals_key((uint8_t)*names);
    struct pm_journal_entry *entry = try_it(journal, (uint8_t)*names, 1000, SETTLED);
    assert_ptr_equal(pm_journal_write(journal, &key, NULL), entry);
    pm_journal_used(entry);
    play(journal, 2000, SETTLED);
    journals_use(journal, "b");
}

/* It is what ends the session, where that is soon. */
static void choose_and_crash(const char *names)
{
    struct pm_journal *journal = journals_begin();
    const struct pm_shader_key key = journals_key((uint8_t)*names);
    try_it(journal, (uint8_t)*names, 1000, SETTLED);
    pm_journal_used(pm_journal_write(journal, &key, NULL));
}

static void what_settled_may_be_chosen(void **unused)
{
    (void)unused;
    journals_killed_after(choose_what_settled, "a");
    journals_assert_held("b");
    assert_int_equal(journals_state.bad_in_a_row, 0);
    assert_int_equal(journals_state.proven, 1);
    journals_killed_after(choose_and_crash, "c");
    journals_assert_held("bc");
}

/* However many are tried, there is room for others, and the file has no more than was there at a
 * time. */
static void many_are_tried(void **unused)
{
    (void)unused;
    struct pm_journal *journal = journals_begin();
    for (int i = 0; i < PM_JOURNAL_MOST + 100; i++) {
        struct pm_shader_key key = journals_key('x');
        memcpy(key.bytes, &i, sizeof i);
        struct pm_journal_entry *entry = pm_journal_try(journal, &key, NULL);
        assert_non_null(entry);
        pm_journal_used(entry);
        pm_journal_gone(entry);
        /* Again, and it goes. */
        assert_ptr_equal(pm_journal_try(journal, &key, NULL), entry);
        pm_journal_gone(entry);
    }
    journals_use(journal, "ab");
    char path[JOURNALS_PATH];
    struct stat status;
    assert_int_equal(journals_find(path), 1);
    assert_int_equal(stat(path, &status), 0);
    assert_in_range(status.st_size, 1, 400);
    pm_journal_end(journal);
    pm_journal_close(journal);
    journals_assert_held("");
    assert_int_equal(journals_state.proven, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(a_settled_session_may_be_killed),
        JOURNALS_TEST(settled_sessions_in_a_row),
        JOURNALS_TEST(settling_twice),
        JOURNALS_TEST(what_is_gone_ends_nothing),
        JOURNALS_TEST(what_is_chosen_stays),
        JOURNALS_TEST(what_settled_may_be_chosen),
        JOURNALS_TEST(many_are_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
