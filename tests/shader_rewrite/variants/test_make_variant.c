/* Each recipe does what it says to a module that has something for it, and nothing to what it may
 * not take. What their variants compute is test_variant_bits'. */
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/variants/recipe_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static bool same(const struct pm_words *a, const struct pm_words *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->data, b->data, a->count * sizeof *a->data) == 0);
}

/* Each has something to do here, and does the same each time. */
static void test_all_do_something(void **state)
{
    (void)state;
    struct pm_words canonical = recipe_subject("plenty");
    uint32_t distinct = 0;
    struct pm_words made[64];
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const char *name = pm_recipe_at(r)->name;
        made[r] = recipe_make(&canonical, name, NULL);
        struct pm_words again = recipe_make(&canonical, name, NULL);
        assert_true(same(&made[r], &again));
        pm_words_finish(&again);
        bool is_new = made[r].count > 0;
        for (uint32_t other = 0; other < r; other++)
            is_new = is_new && !same(&made[other], &made[r]);
        distinct += is_new;
    }
    assert_true(same(&made[0], &canonical));
    printf("%u recipes, %u distinct variants\n", pm_recipe_count(), distinct);
    assert_true(distinct >= 24);
    for (uint32_t r = 0; r < pm_recipe_count(); r++)
        pm_words_finish(&made[r]);
    pm_words_finish(&canonical);
}

static int count_in(const struct pm_words *canonical, const char *recipe, const char *needle)
{
    struct pm_words made = recipe_make(canonical, recipe, NULL);
    assert_true(made.count > 0);
    const int count = pm_test_count(&made, needle);
    pm_words_finish(&made);
    return count;
}

/* What a recipe may not take. */
static void test_left_as_it_is(void **state)
{
    (void)state;
    static const char *const recipes[] = {"unroll-full", "unroll-long", "unroll-four",
                                          "unroll-twice", "whole-loads"};
    struct pm_words canonical = recipe_subject("promised");
    assert_int_equal(pm_test_count(&canonical, "DependencyInfinite"), 1);
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
        struct pm_words made = recipe_make(&canonical, recipes[r], NULL);
        assert_true(made.count == 0 || same(&made, &canonical));
        pm_words_finish(&made);
    }
    pm_words_finish(&canonical);
}

static void test_what_they_do(void **state)
{
    (void)state;
    struct pm_words canonical = recipe_subject("plenty");
    const int loops = pm_test_count(&canonical, "OpLoopMerge");
    assert_int_equal(loops, 3);
    assert_int_equal(count_in(&canonical, "unroll-full", "OpLoopMerge"), 1);
    assert_int_equal(count_in(&canonical, "unroll-long", "OpLoopMerge"), 0);
    assert_int_equal(count_in(&canonical, "unroll-twice", "OpLoopMerge"), loops);
    assert_true(count_in(&canonical, "unroll-twice", "OpLoad") >
                pm_test_count(&canonical, "OpLoad"));
    assert_int_equal(count_in(&canonical, "ask-no-unroll", "DontUnroll"), loops);
    assert_int_equal(count_in(&canonical, "ask-unroll", " Unroll"), loops);
    assert_true(count_in(&canonical, "ask-flatten", " Flatten") >=
                count_in(&canonical, "ask-flatten-small", " Flatten"));
    assert_true(count_in(&canonical, "ask-branch", "DontFlatten") > 0);
    assert_true(pm_test_count(&canonical, "OpFMul %v4float") > 0);
    assert_int_equal(count_in(&canonical, "scalarize", "OpFMul %v4float"), 0);
    assert_true(pm_test_count(&canonical, "OpFDiv") > 0);
    assert_int_equal(count_in(&canonical, "strength", "OpFDiv"),
                     pm_test_count(&canonical, "OpFDiv")); /* none is NoContraction */
    assert_int_equal(count_in(&canonical, "strength", "OpUDiv"), 0);
    assert_int_equal(count_in(&canonical, "strength", "OpUMod"), 0);
    assert_true(count_in(&canonical, "whole-loads", "OpLoad") <
                pm_test_count(&canonical, "OpLoad"));
    assert_true(count_in(&canonical, "repeat-loads", "OpLoad") >
                pm_test_count(&canonical, "OpLoad"));
    /* The two square roots are one before the selection. */
    assert_int_equal(pm_test_count(&canonical, "Sqrt"), 2);
    assert_int_equal(count_in(&canonical, "hoist-common", "Sqrt"), 1);
    assert_int_equal(count_in(&canonical, "unroll-scalars", "OpVariable %_ptr_Function"), 0);
    pm_words_finish(&canonical);
}

/* What stands in front of the first loop. */
static bool is_before_loops(const struct pm_words *words, const char *needle)
{
    char *text = pm_test_disassemble(words);
    const char *at = strstr(text, needle), *loop = strstr(text, "OpLoopMerge");
    const bool before = at && loop && at < loop;
    free(text);
    return before;
}

static void test_hoisted(void **state)
{
    (void)state;
    struct pm_words canonical = recipe_subject("plenty");
    struct pm_words made = recipe_make(&canonical, "hoist", NULL);
    assert_false(is_before_loops(&canonical, " Exp "));
    assert_true(is_before_loops(&made, " Exp "));
    pm_words_finish(&made);
    pm_words_finish(&canonical);
}

static void test_pairs(void **state)
{
    (void)state;
    struct pm_words canonical = recipe_subject("plenty");
    struct pm_words pair = recipe_make(&canonical, "unroll-long", "scalarize");
    assert_int_equal(pm_test_count(&pair, "OpLoopMerge"), 0);
    assert_int_equal(pm_test_count(&pair, "OpFMul %v4float"), 0);
    pm_words_finish(&pair);
    pm_words_finish(&canonical);
}

/* By a recipe, a profile of blocks (NULL: none) and the passes that may run, where there are votes.
 */
static struct pm_words make_by(const struct pm_words *canonical, const char *recipe,
                               const struct adversary_block_profile *known, uint32_t passes,
                               bool vote)
{
    const struct pm_optimize_blocks_info blocks = {.profile = known ? &known->profile : NULL,
                                                   .points = known ? &known->points : NULL,
                                                   .turns = known ? &known->turns : NULL,
                                                   .passes = passes,
                                                   .uniform_share = 0.9};
    const struct pm_variant_info info = {.choice = {pm_recipe_find(recipe), NULL},
                                         .target = {.vulkan_minor = 0},
                                         .blocks = known ? &blocks : NULL,
                                         .subgroup_vote = vote};
    struct pm_words out;
    struct pm_error error;
    assert_non_null(info.choice.recipe);
    if (!pm_make_variant(canonical->data, canonical->count, &info, &out, &error))
        fail_msg("%s: %s", recipe, error.message);
    return out;
}

static bool makes_by(const struct pm_words *canonical, const char *recipe,
                     const struct adversary_block_profile *known, uint32_t passes)
{
    struct pm_words made = make_by(canonical, recipe, known, passes, true);
    const bool makes = made.count > 0;
    pm_words_finish(&made);
    return makes;
}

/* Each pass over blocks is a recipe of its own, which needs a profile and that it may run. */
static void test_by_blocks(void **state)
{
    (void)state;
    enum { PROFILES = 16 };
    struct pm_words canonical = recipe_subject("plenty");
    bool made[PM_BLOCK_PASSES + 1] = {false};
    for (uint64_t seed = 0; seed < PROFILES; seed++) {
        struct adversary_block_profile known;
        struct pm_error error;
        assert_true(adversary_block_profile(0, seed, &canonical, &known, &error));
        for (uint32_t p = 0; p <= PM_BLOCK_PASSES; p++) {
            const uint32_t passes = p < PM_BLOCK_PASSES ? 1u << p : PM_BLOCK_ALL;
            char name[PM_VARIANT_NAME];
            snprintf(name, sizeof name, "blocks-%s",
                     p < PM_BLOCK_PASSES ? pm_block_pass_short((enum pm_block_pass)p) : "all");
            made[p] |= makes_by(&canonical, name, &known, passes);
            assert_false(makes_by(&canonical, name, &known, PM_BLOCK_ALL & ~passes));
            assert_false(makes_by(&canonical, name, NULL, PM_BLOCK_ALL));
        }
        adversary_block_profile_finish(&known);
    }
    /* Nothing is peeled here: loops of random shaders are (test_variant_bits.c). */
    for (uint32_t p = 0; p <= PM_BLOCK_PASSES; p++)
        if (made[p] != (p != PM_BLOCK_PEEL))
            fail_msg("pass %u made %s", p, made[p] ? "something" : "nothing");
    pm_words_finish(&canonical);
}

/* Votes are of Vulkan 1.1, which a device may have though the game asks for less. */
static void test_votes(void **state)
{
    (void)state;
    struct pm_words canonical = recipe_subject("plenty");
    struct pm_words made = make_by(&canonical, "vote-branches", NULL, 0, true);
    assert_int_equal(pm_test_count(&canonical, "OpGroupNonUniform"), 0);
    assert_true(pm_test_count(&made, "OpGroupNonUniform") > 0);
    pm_words_finish(&made);
    made = make_by(&canonical, "vote-branches", NULL, 0, false);
    assert_int_equal(made.count, 0);

    /* Not where the pass is withheld, for which no profile is needed either. */
    struct pm_variant_info info = {.choice = {pm_recipe_find("vote-branches"), NULL},
                                   .withheld_passes = 1u << PM_BLOCK_VERSION,
                                   .subgroup_vote = true};
    struct pm_error error;
    assert_true(pm_make_variant(canonical.data, canonical.count, &info, &made, &error));
    assert_int_equal(made.count, 0);
    assert_true(pm_variant_by_blocks(&info.choice));
    assert_false(pm_variant_needs_blocks(&info.choice));
    info.choice.second = pm_recipe_find("blocks-sink");
    assert_true(pm_variant_needs_blocks(&info.choice));
    info.choice.second = NULL;
    info.choice.recipe = pm_recipe_find("hoist");
    assert_false(pm_variant_by_blocks(&info.choice));
    pm_words_finish(&canonical);
}

/* A subgroup size is required of nothing that could tell it, so not of what has votes of ours. */
static void test_votes_have_no_size(void **state)
{
    (void)state;
    static const struct {
        const char *recipe;
        uint32_t size;
        bool made;
    } cases[] = {{"vote-branches", 0, true},
                 {"vote-branches", 16, false},
                 {"hoist", 16, true},
                 {"canonical", 16, true}};
    struct pm_words canonical = recipe_subject("plenty");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pm_variant_info info = {
            .choice = {pm_recipe_find(cases[i].recipe), NULL, cases[i].size},
            .target = {.vulkan_minor = 3},
            .subgroup_vote = true};
        struct pm_words made;
        struct pm_error error;
        if (!pm_make_variant(canonical.data, canonical.count, &info, &made, &error))
            fail_msg("%s: %s", cases[i].recipe, error.message);
        assert_int_equal(made.count > 0, cases[i].made);
        pm_words_finish(&made);
    }
    pm_words_finish(&canonical);
}

/* What leads to a loop's exit runs once more than the rest. */
static void test_last_test(void **state)
{
    (void)state;
    static const char *const whole[] = {"unroll-full", "unroll-long", "unroll-scalars"};
    struct pm_words tested = recipe_subject("tested");
    const int loops = pm_test_count(&tested, "OpLoopMerge");
    assert_int_equal(loops, 3);
    /* The one that has nothing before its test. */
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_int_equal(count_in(&tested, whole[i], "OpLoopMerge"), loops - 1);
    struct pm_words asked = recipe_make_for(&tested, "ask-unroll", NULL, NULL);
    assert_int_equal(asked.count, 0); /* for any driver */
    pm_words_finish(&tested);
}

/* Loops that are left alone, though their turns are known. */
static void test_left_alone(void **state)
{
    (void)state;
    static const char *const recipes[] = {"unroll-full",  "unroll-long",    "unroll-twice",
                                          "unroll-four",  "unroll-scalars", "ask-unroll",
                                          "ask-no-unroll"};
    struct pm_words risky = recipe_subject("risky"), precise = recipe_subject("precise");
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct pm_words made = recipe_make(&risky, recipes[i], NULL);
        assert_int_equal(made.count, 0);
        made = recipe_make_for(&precise, recipes[i], NULL, NULL);
        /* Some driver's copies of turns are not NoContraction. */
        assert_int_equal(made.count > 0, strcmp(recipes[i], "ask-no-unroll") == 0);
        pm_words_finish(&made);
    }
    pm_words_finish(&risky);
    pm_words_finish(&precise);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    struct pm_words canonical = recipe_subject("little");
    for (uint32_t r = 1; r < pm_recipe_count(); r++) {
        struct pm_words made = recipe_make(&canonical, pm_recipe_at(r)->name, NULL);
        assert_int_equal(made.count, 0);
    }
    pm_words_finish(&canonical);
}

static void test_broken(void **state)
{
    (void)state;
    const uint32_t words[] = {0x07230203, 0x00010300, 0, 5, 0, 0xffffffff};
    const struct pm_variant_info info = {.choice = {pm_recipe_find("unroll-full")},
                                         .target = recipe_target};
    struct pm_words made;
    struct pm_error error;
    assert_false(pm_make_variant(words, sizeof words / 4, &info, &made, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_int_equal(made.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_do_something),
        cmocka_unit_test(test_left_as_it_is),
        cmocka_unit_test(test_what_they_do),
        cmocka_unit_test(test_hoisted),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_by_blocks),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_votes_have_no_size),
        cmocka_unit_test(test_last_test),
        cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
