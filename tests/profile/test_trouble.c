#include "profile/trouble.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct seen {
    unsigned count;
    char text[256];
    int64_t at;
};

static void see(void *user, const char *game, int64_t at, const char *message)
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
    assert_true(llabs(seen.at - (int64_t)time(NULL)) < 1000);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_game_has_its_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
