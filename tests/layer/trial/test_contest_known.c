/* A-Z testing of shaders of which something is known (contest.h), on the null driver, where each
 * variant takes as long as the test says: recipes are run over what is specialized for zeros, and
 * have to beat that; each pass over blocks is tried by itself, however little is expected of it.
 */
#include "tests/layer/trial/contested.h"

#include "rare.comp.h"
#include "shader_rewrite/variants/variants.h"

#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASE = 1, ARM = 2 };

static bool weighted[CONTESTED_MOST]; /* of the pipelines, whose shader has weights of branches */
static double weighted_time;          /* of these, over the game's own; 0: as the others */

/* Whether the module has them that the driver was given last. */
static _Atomic bool made_weighted;

static void see_module(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkCreateShaderModule") != 0)
        return;
    const VkShaderModuleCreateInfo *module =
        (const VkShaderModuleCreateInfo *)(uintptr_t)call->arguments[1];
    made_weighted = false;
    for (size_t at = 5; at < module->codeSize / 4; at += module->pCode[at] >> 16)
        if ((module->pCode[at] & 0xffff) == SpvOpBranchConditional && module->pCode[at] >> 16 == 6)
            made_weighted = true;
}

static void note_weights(uint32_t index)
{
    weighted[index] = made_weighted;
}

static double time_of_weighted(uint32_t index)
{
    return weighted[index] ? weighted_time : 0;
}

/* The game's own, what is specialized, and what recipes make of it. */
static void set_times(double base, double arms)
{
    contested_set_times(arms);
    contested.times[BASE] = base;
}

/* The pipeline is of these words. */
static void open_of(const uint32_t *words, size_t size)
{
    trying.known = true;
    setenv("PIECEMEAL_LIMITS_TRIAL_SHARE", "1", 1); /* not what this is about */
    contested.first = note_weights;
    contested.other = time_of_weighted;
    contested_open_with(
        &(struct contested_session){.see = see_module, .words = words, .size = size});
}

/* Of a shader of which the database knows zeros. */
static void open_session(void)
{
    open_of(NULL, 0);
}

static uint32_t of_game; /* uses that the log tells by one of the game's shaders */

static void count_uses(struct pm_shader_store *store, const struct pm_shader_key *key)
{
    char text[PM_SHADER_KEY_TEXT], said[100];
    (void)store;
    pm_shader_key_format(key, text);
    snprintf(said, sizeof said, "shader %.12s, specialized, is used from now on", text);
    of_game += optimized_logged(said);
}

/* All are faster than the game's own, and one than what zeros make of it. */
static void a_recipe_over_zeros_wins(void **state)
{
    (void)state;
    optimized_learn();
    set_times(0.8, 0.9);
    contested.times[ARM + 1] = 0.6;
    open_session();
    assert_true(contested_run_until(", specialized: of "));
    optimized_assert_logged("the fastest is", 1);
    /* The log says of which of the game's shaders, and which recipe's over what. */
    contested_run_until_logged("specialized, is used from now on", 2); /* by another thread */
    const uint32_t used = optimized_logged("specialized, is used from now on");
    assert_int_equal(used, 2);
    of_game = 0;
    optimized_each_stored(count_uses);
    assert_int_equal(of_game, used);
    optimized_assert_logged(" over ", 2);
    optimized_assert_logged("used (of shader ", 1);
    assert_true(contested.count > ARM + 2);
    assert_int_equal(contested_bound(), ARM + 1);
    contested_close();

    /* The next session makes both, and tries nothing. */
    set_times(0.8, 0.6);
    open_session();
    const uint64_t position = trying.h.driver->position();
    contested_run_until_logged("is used from now on", 4);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    assert_true(contested.count <= ARM + 1);
    assert_true(contested_bound() >= BASE);
    optimized_assert_logged(", specialized: of ", 1);
    contested_close();
}

/* All are faster than the game's own, and none than what zeros make of it. */
static void zeros_alone_are_faster(void **state)
{
    (void)state;
    optimized_learn();
    set_times(0.8, 0.85);
    open_session();
    assert_true(contested_run_until(", specialized: of "));
    optimized_assert_logged("none is faster", 1);
    assert_int_equal(contested_bound(), BASE);
    contested_close();

    /* And they are not tried again in the next. */
    open_session();
    contested_run_until_logged(", specialized: of ", 2);
    assert_int_equal(contested.count, 2);
    assert_int_equal(contested_bound(), BASE);
    contested_close();
}

/* What a session measured need not be measured again. */
static void the_next_session_goes_on(void **state)
{
    (void)state;
    optimized_learn();
    set_times(0.8, 2);
    open_session();
    contested_run_until_count(ARM + 4);
    optimized_assert_logged(", specialized: of ", 0);
    const uint32_t left = contested.count - ARM - 1; /* but for the one under way */
    contested_close();
    assert_true(left >= 3);

    set_times(0.8, 0.7);
    open_session();
    assert_true(contested_run_until(", specialized: of "));
    assert_true(contested_variants(", specialized: ") > left);
    assert_in_range(contested.count - ARM, 1, contested_variants(", specialized: ") - left);
    assert_true(contested_bound() >= ARM);
    contested_close();
}

/* A session in which a recipe won over zeros; it goes on. */
static void win(void)
{
    optimized_learn();
    set_times(0.8, 0.9);
    contested.times[ARM + 1] = 0.6;
    open_session();
    trying_set_scene("first");
    assert_true(contested_run_until("the fastest is"));
    assert_int_equal(contested_bound(), ARM + 1);
}

/* What won is slower than zeros alone in another scene: these are used again. */
static void slower_in_another_scene(void **state)
{
    (void)state;
    win();
    contested.times[ARM + 1] = 0.95;
    trying_set_scene("second");
    assert_true(contested_run_until("is not faster, and is dropped"));
    trying_run_frames(trying_dispatch, TRYING_ONCE, 600);
    assert_int_equal(contested_bound(), BASE);
    contested_close();
}

/* Zeros are slower than the game's own there: what was made of them is not used either. */
static void its_base_is_slower_in_another_scene(void **state)
{
    (void)state;
    win();
    contested.times[BASE] = 2;
    contested.times[ARM + 1] = 1.5;
    trying_set_scene("second");
    assert_true(contested_run_until("is not faster, and is dropped"));
    assert_int_equal(contested_bound(), 0);
    const uint64_t position = trying.h.driver->position();
    trying_run_frames(trying_dispatch, TRYING_ONCE, 600);
    assert_int_equal(trying_foreign_binds(position), 0);
    contested_close();
}

/* The same while recipes take part: their contest goes with what they are run over. */
static void its_base_is_slower_meanwhile(void **state)
{
    (void)state;
    optimized_learn();
    set_times(0.8, 0.75);
    open_session();
    trying_set_scene("first");
    contested_run_until_count(ARM + 4);
    optimized_assert_logged(", specialized: of ", 0);
    contested.times[BASE] = 2;
    trying_set_scene("second");
    assert_true(contested_run_until("specialized: is dropped, and recipes over it"));
    assert_int_equal(contested_bound(), 0);
    const uint32_t made = contested.count;
    trying_run_frames(trying_dispatch, TRYING_ONCE, 200);
    assert_int_equal(contested.count, made);
    contested_close();
}

/* ---- of which blocks are known ---- */

/* The estimate expects too little of all passes, so none is in use; one of them is faster. */
static void a_pass_by_blocks_wins(void **state)
{
    (void)state;
    trying_learn_blocks_of(rare_comp, sizeof rare_comp);
    set_times(1.1, 1.1);
    weighted_time = 0.7;
    open_of(rare_comp, sizeof rare_comp);
    assert_true(contested_run_until("the fastest is blocks-"));
    assert_true(weighted[contested_bound()]);
    optimized_assert_logged("is specialized: ", 0);
    contested_close();

    /* Not where a user wants nothing of it. */
    char verdicts[300];
    snprintf(verdicts, sizeof verdicts, "%s/piecemeal/journal/game/verdicts", pm_layered_home());
    assert_int_equal(remove(verdicts), 0);
    setenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES", "flatten,sink,version,unroll,peel", 1);
    open_of(rare_comp, sizeof rare_comp);
    assert_true(contested_run_until("none is faster"));
    for (uint32_t i = 0; i < contested.count; i++)
        assert_false(weighted[i]);
    contested_close();
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES");

    /* Nor where one withholds blocks of the shader, and not recipes. */
    char path[300];
    snprintf(path, sizeof path, "%s/withheld", pm_layered_home());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(optimized_first_key(), text);
    fprintf(file, "%s blocks\n", text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(remove(verdicts), 0);
    setenv("PIECEMEAL_OPTIMIZE_WITHHOLD", path, 1);
    open_of(rare_comp, sizeof rare_comp);
    contested_run_until_logged("none is faster", 2);
    for (uint32_t i = 0; i < contested.count; i++)
        assert_false(weighted[i]);
    contested_close();
    unsetenv("PIECEMEAL_OPTIMIZE_WITHHOLD");
    weighted_time = 0;
}

/* The recipe that the log says has won. */
static void winner_of_log(char recipe[PM_VARIANT_NAME])
{
    char path[300], line[400];
    snprintf(path, sizeof path, "%s/log", pm_layered_home());
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    recipe[0] = '\0';
    while (fgets(line, sizeof line, log) != NULL) {
        const char *said = strstr(line, "the fastest is ");
        if (said != NULL)
            sscanf(said, "the fastest is %63s", recipe);
    }
    fclose(log);
    assert_string_not_equal(recipe, "");
}

/* debug.recipe makes what has won as if nothing else were known of the shader: that is not how an
 * ordinary session makes it, which uses it at once after it, too. */
static void asking_for_a_winner_changes_nothing(void **state)
{
    char winner[PM_VARIANT_NAME];
    (void)state;
    trying_learn_blocks_of(rare_comp, sizeof rare_comp);
    /* Without the one pass by blocks that changes it: what wins can be made without blocks, too. */
    setenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES", "flatten,sink,version,unroll,peel", 1);
    set_times(1.1, 1.1);
    contested.times[ARM] = 0.7;
    open_of(rare_comp, sizeof rare_comp);
    assert_true(contested_run_until("the fastest is"));
    contested_close();
    winner_of_log(winner);

    setenv("PIECEMEAL_DEBUG_RECIPE", winner, 1);
    setenv("PIECEMEAL_OPTIMIZE_BLOCKS", "false", 1);
    open_of(rare_comp, sizeof rare_comp);
    assert_true(contested_run_until(" is in use"));
    contested_run_until_logged("is used from now on", 2);
    contested_close();
    unsetenv("PIECEMEAL_DEBUG_RECIPE");
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCKS");

    set_times(0.7, 1.1);
    open_of(rare_comp, sizeof rare_comp);
    const uint64_t position = trying.h.driver->position();
    contested_run_until_logged("is used from now on", 3);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 8);
    assert_int_equal(pm_calls_of(trying.h.driver, position, "vkCmdWriteTimestamp"), 0);
    assert_int_equal(contested_bound(), BASE);
    contested_close();
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCK_PASSES");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_recipe_over_zeros_wins),
        PM_LAYERED_TEST(zeros_alone_are_faster),
        PM_LAYERED_TEST(the_next_session_goes_on),
        PM_LAYERED_TEST(slower_in_another_scene),
        PM_LAYERED_TEST(its_base_is_slower_in_another_scene),
        PM_LAYERED_TEST(its_base_is_slower_meanwhile),
        PM_LAYERED_TEST(a_pass_by_blocks_wins),
        PM_LAYERED_TEST(asking_for_a_winner_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
