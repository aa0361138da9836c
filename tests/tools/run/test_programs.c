/* Which games a program was when it ran last. */
#include "tools/run/programs.h"
#include "tests/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

static char folder[96];

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof folder);
    return setenv("XDG_DATA_HOME", folder, 1);
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(folder);
    return unsetenv("XDG_DATA_HOME");
}

static void remember(const char *program, char *game)
{
    struct pm_error error = {0};
    const struct pm_names games = {.names = &game, .count = 1};
    if (!pm_program_remember(program, &games, &error))
        fail_msg("%s", error.message);
}

static void assert_was(const char *program, const char *game)
{
    struct pm_error error = {0};
    struct pm_names games = {0};
    if (!pm_program_games(program, &games, &error))
        fail_msg("%s", error.message);
    assert_int_equal(games.count, game != NULL);
    if (game)
        assert_string_equal(games.names[0], game);
    pm_names_finish(&games);
}

static void programs_are_remembered(void **state)
{
    (void)state;
    assert_was("/usr/games/a", NULL);
    remember("/usr/games/a", "Game A");
    remember("/usr/games/b", "Game B");
    assert_was("/usr/games/a", "Game A");
    assert_was("/usr/games/b", "Game B");
    remember("/usr/games/a", "Game C");
    assert_was("/usr/games/a", "Game C");
    assert_was("/usr/games/b", "Game B");
}

static void the_oldest_go(void **state)
{
    (void)state;
    char program[32];
    for (int i = 0; i < 600; i++) {
        snprintf(program, sizeof program, "/usr/games/%d", i);
        remember(program, "Game");
    }
    assert_was("/usr/games/599", "Game");
    assert_was("/usr/games/100", "Game");
    assert_was("/usr/games/0", NULL);
}

static void a_damaged_file_is_begun_anew(void **state)
{
    (void)state;
    char path[128];
    static const char text[] = "no tab\n\t/usr/games/a\n..\t/usr/games/a\nfine\t/usr/games/b\n\0\xff";
    remember("/usr/games/a", "Game A");
    snprintf(path, sizeof path, "%s/piecemeal/programs", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_was("/usr/games/a", NULL);
    assert_was("/usr/games/b", "fine");
    remember("/usr/games/a", "Game A");
    assert_was("/usr/games/a", "Game A");
    assert_was("/usr/games/b", "fine");
    /* One that grew beyond all bounds, too. */
    assert_int_equal(truncate(path, 1 << 20), 0);
    remember("/usr/games/c", "Game C");
    assert_was("/usr/games/c", "Game C");
}

static void a_program_is_found_as_the_system_finds_it(void **state)
{
    (void)state;
    char path[128], link[128], places[256];
    snprintf(path, sizeof path, "%s/real", folder);
    snprintf(link, sizeof link, "%s/game", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(symlink(path, link), 0);
    snprintf(places, sizeof places, "/nowhere:%s:/usr/bin", folder);
    const char *before = getenv("PATH");
    char *saved = before ? strdup(before) : NULL;
    setenv("PATH", places, 1);
    assert_null(pm_program_path("game")); /* cannot be executed */
    assert_int_equal(chmod(path, 0700), 0);
    char *found = pm_program_path("game"), *direct = pm_program_path(link);
    char *real = realpath(path, NULL);
    assert_string_equal(found, real);
    assert_string_equal(direct, real);
    assert_null(pm_program_path("no-such-program"));
    if (saved)
        setenv("PATH", saved, 1);
    free(saved);
    free(real);
    free(found);
    free(direct);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(programs_are_remembered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_begun_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_program_is_found_as_the_system_finds_it, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("programs", tests, NULL, NULL);
}
