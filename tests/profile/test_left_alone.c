/* Which shaders are left alone, and why: noted by any number of sessions, counted once. */
#include "profile/left_alone.h"
#include "tests/temporary.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/cmocka_includes.h"

static char folder[96];

static int set_up(void **state)
{
    temporary_make(folder, sizeof folder);
    *state = pm_arena_create(0);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    pm_arena_destroy(*state);
    temporary_remove(folder);
    return 0;
}

static void note(const char *game, const char *recipe, unsigned char shader, const char *reason)
{
    const struct pm_shader_key digest = {.bytes = {shader}};
    pm_left_alone_note(folder, game, recipe, &digest, reason);
}

static struct pm_left_alone of(void **state, const char *game, int64_t since)
{
    struct pm_left_alone left;
    struct pm_error error = {0};
    if (!pm_left_alone_read(folder, game, since, *state, &left, &error))
        fail_msg("%s", error.message);
    return left;
}

static void a_game_that_has_none(void **state)
{
    const struct pm_left_alone left = of(state, "none", 0);
    assert_int_equal(left.shaders, 0);
    assert_int_equal(left.reason_count, 0);
}

static void shaders_are_counted_once_and_by_reason(void **state)
{
    for (int session = 0; session < 3; session++) {
        note("A/game", "4 x", 1, "SPIR-V word 17: Unknown extension 'SPV_A'");
        note("A/game", "4 x", 2, "SPIR-V word 170: Unknown extension 'SPV_A'");
        note("A/game", "4 x", 3, "SPIR-V word 5: Invalid opcode: 9999");
    }
    note("Other", "4 x", 1, "SPIR-V word 5: Invalid opcode: 9999");
    const struct pm_left_alone left = of(state, "A/game", 0);
    assert_int_equal(left.shaders, 3);
    assert_int_equal(left.reason_count, 2);
    assert_string_equal(left.reasons[0].text, "Unknown extension 'SPV_A'");
    assert_int_equal(left.reasons[0].shaders, 2);
    assert_string_equal(pm_left_alone_describe(&left, *state),
                        "3 shaders are left alone: Unknown extension 'SPV_A' (2), "
                        "Invalid opcode: 9999 (1)");
    assert_int_equal(of(state, "A/game", (int64_t)time(NULL) + 60).shaders, 0);
}

/* What an upload says of them: how many of each kind of reason, and nothing of the shaders. */
static void reasons_are_of_few_kinds(void **state)
{
    static const struct {
        const char *reason;
        enum pm_left_alone_why why;
    } cases[] = {
        {"SPIR-V word 5: Invalid opcode: 9999", PM_LEFT_ALONE_INSTRUCTION},
        {"SPIR-V word 17: Unknown extension 'SPV_A'", PM_LEFT_ALONE_EXTENSION},
        {"SPIR-V word 9: Invalid extended instruction import 'X'", PM_LEFT_ALONE_EXTENSION},
        {"SPIR-V word 6: Invalid capability operand: 40000", PM_LEFT_ALONE_OPERAND},
        {"SPIR-V word 1: version 0x00020000 is newer than what SPIRV-Tools knows",
         PM_LEFT_ALONE_OPERAND},
        {"SPIR-V instruction 7: Expected a result", PM_LEFT_ALONE_INVALID},
        {"the module has 9 words; at most 8 are optimized", PM_LEFT_ALONE_LARGE},
        {"with its functions inlined the entry point has more than 9 words", PM_LEFT_ALONE_LARGE},
        {"SPIRV-Tools' optimizer gave up: no", PM_LEFT_ALONE_OPTIMIZER},
        {"a shader object is a binary, not SPIR-V", PM_LEFT_ALONE_BINARY},
        {"it casts floats to integers and back, and this driver folds floats inexactly",
         PM_LEFT_ALONE_DRIVER},
        {"because", PM_LEFT_ALONE_OTHER},
    };
    uint32_t expected[PM_LEFT_ALONE_WHYS] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        note("kinds", "4 x", (unsigned char)(i + 1), cases[i].reason);
        assert_int_equal(pm_left_alone_classify(cases[i].reason), cases[i].why);
        expected[cases[i].why]++;
    }
    const struct pm_left_alone left = of(state, "kinds", 0);
    for (enum pm_left_alone_why why = 0; why < PM_LEFT_ALONE_WHYS; why++) {
        assert_true(expected[why] > 0);
        assert_int_equal(left.whys[why], expected[why]);
        for (enum pm_left_alone_why other = 0; other < why; other++)
            assert_string_not_equal(pm_left_alone_name(why), pm_left_alone_name(other));
    }
}

/* What an older build could not parse a newer one may. */
static void another_recipe_begins_anew(void **state)
{
    note("game", "4 old", 1, "Invalid opcode: 1");
    note("game", "4 old", 2, "Invalid opcode: 2");
    note("game", "4 new", 2, "Invalid opcode: 2");
    assert_int_equal(of(state, "game", 0).shaders, 1);
}

static void a_file_stays_small(void **state)
{
    char reason[400];
    memset(reason, 'x', sizeof reason - 1);
    reason[sizeof reason - 1] = 0;
    for (unsigned i = 0; i < 4000; i++) {
        struct pm_shader_key digest = {.bytes = {(unsigned char)i, (unsigned char)(i >> 8)}};
        pm_left_alone_note(folder, "game", "4 x", &digest, reason);
    }
    const struct pm_left_alone left = of(state, "game", 0);
    assert_true(left.shaders > 1000 && left.shaders < 2000);
    assert_int_equal(left.reason_count, 1);
}

static void damaged_lines_are_skipped(void **state)
{
    char path[128];
    note("game", "4 x", 1, "Invalid opcode: 1");
    snprintf(path, sizeof path, "%s/game", folder);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs("shader\nshader 12\nshader 0123456789 \n\n\xff\nshader ", file);
    fclose(file);
    assert_int_equal(of(state, "game", 0).shaders, 1);
}

static void count_games(void *user, const struct pm_left_alone *left)
{
    *(size_t *)user += left->shaders * (strcmp(left->game, "A/game") == 0 ? 100 : 1);
}

static void each_game(void **state)
{
    (void)state;
    size_t sum = 0;
    struct pm_error error;
    assert_true(pm_left_alone_each("/nowhere/at/all", 0, count_games, &sum, &error));
    note("A/game", "4 x", 1, "a");
    note("A/game", "4 x", 2, "a");
    note("B", "4 x", 1, "b");
    assert_true(pm_left_alone_each(folder, 0, count_games, &sum, &error));
    assert_int_equal(sum, 201);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_game_that_has_none),
        TEST(shaders_are_counted_once_and_by_reason),
        TEST(reasons_are_of_few_kinds),
        TEST(another_recipe_begins_anew),
        TEST(a_file_stays_small),
        TEST(damaged_lines_are_skipped),
        TEST(each_game),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
