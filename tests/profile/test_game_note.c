/* Which games a program turned out to be: noted by the layer, read by who asked for it. */
#include "profile/game_note.h"
#include "tests/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static char folder[96], path[128];

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/games", folder);
    return setenv(PM_GAME_NOTE_VARIABLE, path, 1);
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(folder);
    return unsetenv(PM_GAME_NOTE_VARIABLE);
}

static void write_text(const char *text, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void each_game_once(void **state)
{
    (void)state;
    struct pm_names games = {0};
    struct pm_error error = {0};
    write_text("", 0);
    pm_game_note("One");
    pm_game_note("Two words");
    pm_game_note("One");
    assert_true(pm_game_note_read(path, &games, &error));
    assert_int_equal(games.count, 2);
    assert_string_equal(games.names[0], "One");
    assert_string_equal(games.names[1], "Two words");
    pm_names_finish(&games);
}

static void nothing_is_made_that_nobody_asked_for(void **state)
{
    (void)state;
    struct pm_names games = {0};
    struct pm_error error = {0};
    pm_game_note("One");
    assert_false(pm_game_note_read(path, &games, &error));
    assert_non_null(strstr(error.message, path));
    write_text("", 0);
    unsetenv(PM_GAME_NOTE_VARIABLE);
    pm_game_note("One");
    assert_true(pm_game_note_read(path, &games, &error));
    assert_int_equal(games.count, 0);
}

static void what_is_no_name_is_passed_over(void **state)
{
    (void)state;
    static const char text[] = "..\nfine\n\n\x01\n\xff\xfe\nhalf\0hidden\nlast";
    struct pm_names games = {0};
    struct pm_error error = {0};
    write_text(text, sizeof text - 1);
    assert_true(pm_game_note_read(path, &games, &error));
    assert_string_equal(games.names[0], "fine");
    for (size_t i = 0; i < games.count; i++)
        assert_null(strpbrk(games.names[i], "\x01\xff"));
    pm_names_finish(&games);
    /* However much there is, no more than anybody plays. */
    char *many = calloc(1000, 8);
    assert_non_null(many);
    size_t size = 0;
    for (int i = 0; i < 1000; i++)
        size += (size_t)sprintf(many + size, "g%d\n", i);
    write_text(many, size);
    free(many);
    assert_true(pm_game_note_read(path, &games, &error));
    assert_int_equal(games.count, 16);
    pm_names_finish(&games);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_game_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_made_that_nobody_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_name_is_passed_over, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("game_note", tests, NULL, NULL);
}
