/* Sessions that went on for so long after their last new variant that they may be killed
 * (journal.h).
 */
#include "tests/profile/journals.h"

#include "tests/cmocka_includes.h"

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
    } cases[] = {
        {play_until_settled, ""},     {play_too_short, "b"}, {play_without_frames, "b"},
        {play_on_with_another, "ab"}, {bind_late, "ab"},     {lose_after_settling, "b"},
        {crash_after_settling, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        journals_tear_down(unused);
        journals_set_up(unused);
        journals_killed_after(cases[i].play, "b");
        journals_assert_held(cases[i].held);
        assert_int_equal(journals_state.judged_bad, *cases[i].held != '\0');
        assert_int_equal(journals_state.proven, *cases[i].held == '\0');
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        JOURNALS_TEST(a_settled_session_may_be_killed),
        JOURNALS_TEST(settled_sessions_in_a_row),
        JOURNALS_TEST(settling_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
