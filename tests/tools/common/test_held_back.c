/* What is told of a game that safe mode holds something back of (held_back.h). */
#include "tools/common/held_back.h"

#include "tests/cmocka_includes.h"
#include <stdlib.h>

#define REMOVE "; remove /j/game to use them now"
#define WAY "its own menu or quit command ends it properly" REMOVE
#define IF_SO "; if it was ended by hand, " WAY

static void assert_told(struct pm_journal_state state, const char *ended, bool by_hand,
                        const char *expected)
{
    assert_true(pm_held_back_any(&state));
    char *text = pm_held_back(&state, "/j/game", ended, by_hand);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void nothing(void **unused)
{
    (void)unused;
    assert_false(pm_held_back_any(
        &(struct pm_journal_state){.judged_bad = 1, .bad_in_a_row = 1, .proven = 3}));
}

static void since_earlier_sessions(void **unused)
{
    (void)unused;
    assert_told((struct pm_journal_state){.held = 1}, NULL, false,
                ": 1 specialized shader is held back for a few sessions, since sessions that they "
                "were new in did not end properly" IF_SO);
    assert_told((struct pm_journal_state){.held = 2, .held_for_good = 1}, NULL, false,
                ": 2 specialized shaders are held back for a few sessions and 1 for good, since "
                "sessions that they were new in did not end properly" IF_SO);
    assert_told((struct pm_journal_state){.safe_for = 4, .held = 2, .bad_in_a_row = 2}, NULL, false,
                ": sessions in a row did not end properly, so all specialized shaders are held "
                "back until 4 have" IF_SO);
}

static void since_the_one_that_has_just_ended(void **unused)
{
    (void)unused;
    assert_told((struct pm_journal_state){.held_for_good = 3}, "killed by signal 9, Killed", true,
                " did not end properly (killed by signal 9, Killed), so 3 specialized shaders are "
                "held back for good; " WAY);
    assert_told((struct pm_journal_state){.safe_for = 5, .held = 1}, "it crashed", false,
                " did not end properly (it crashed), as before, so all specialized shaders are "
                "held back until 5 sessions have" REMOVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing),
        cmocka_unit_test(since_earlier_sessions),
        cmocka_unit_test(since_the_one_that_has_just_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
