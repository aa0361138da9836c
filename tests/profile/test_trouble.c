#include "base/clock.h"
#include "profile/trouble.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct seen {
    unsigned count;
    char text[256];
    double at;
};

static void see(void *user, const char *game, double at, const char *message)
{
    struct seen *seen = user;
    seen->count++;
    seen->at = at;
    snprintf(seen->text, sizeof(seen->text), "%s: %s", game, message);
}

static void each_game_has_its_last(void **state)
{
    char folder[64];
    struct seen seen = {0};
    (void)state;
    temporary_make(folder, sizeof(folder));
    setenv("XDG_DATA_HOME", folder, 1);
    pm_trouble_each(see, &seen);
    assert_int_equal(seen.count, 0);
    pm_trouble_note("A Game/..", NULL);
    pm_trouble_note("A Game/..", "c.json:1:2: what is this?");
    pm_trouble_note("A Game/..", "c.json:3:2: and this?");
    pm_trouble_each(see, &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.text, "A Game/..: c.json:3:2: and this?");
    assert_true(seen.at > pm_wall_seconds() - 1000 && seen.at <= pm_wall_seconds());
    pm_trouble_note("another", "x");
    pm_trouble_note("A Game/..", NULL);
    seen.count = 0;
    pm_trouble_each(see, &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.text, "another: x");
    temporary_remove(folder);
    /* Where nothing can be written nothing is noted, and nothing fails. */
    setenv("XDG_DATA_HOME", "/dev/null/data", 1);
    pm_trouble_note("a game", "x");
}

/* One run may follow another within a second: what was noted before it is not its own. */
static void sessions_of_one_second(void **state)
{
    char folder[64];
    struct seen first = {0}, second = {0};
    (void)state;
    temporary_make(folder, sizeof(folder));
    setenv("XDG_DATA_HOME", folder, 1);
    const double before = pm_wall_seconds();
    usleep(100);
    pm_trouble_note("a game", "x");
    usleep(100);
    const double after = pm_wall_seconds();
    pm_trouble_each(see, &first);
    assert_true(first.at > before && first.at < after);
    pm_trouble_note("a game", "y");
    pm_trouble_each(see, &second);
    assert_true(second.at > after);
    temporary_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_game_has_its_last),
                                       cmocka_unit_test(sessions_of_one_second)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
