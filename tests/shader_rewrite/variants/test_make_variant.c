/* The recipes by name, and that each does what it says to a module that has something for it. What
 * their variants compute is test_variant_bits'. */
#include "base/file.h"
#include "shader_rewrite/quirks/quirks.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const struct pm_target target = {.vulkan_minor = 1};

static struct pm_words canonical_words(const uint32_t *words, size_t count)
{
    struct pm_words out;
    struct pm_error error;
    const struct pm_canonicalize_info info = {.words = words,
                                              .word_count = count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = target};
    if (!pm_canonicalize(&info, &out, &error))
        fail_msg("%s", error.message);
    return out;
}

static struct pm_words canonical_of(const char *name)
{
    char path[512];
    struct pm_buffer file;
    struct pm_error error;
    snprintf(path, sizeof path, PM_TEST_RECIPE_SUBJECTS "/%s.comp.spv", name);
    pm_buffer_init(&file, 1 << 20);
    if (!pm_file_read(path, &file, &error))
        fail_msg("%s", error.message);
    struct pm_words out =
        canonical_words((const uint32_t *)(const void *)file.data, file.size / sizeof(uint32_t));
    pm_buffer_finish(&file);
    return out;
}

/* By one recipe, or two, for a driver (NULL: any). */
static struct pm_words make_for(const struct pm_words *canonical, const char *name,
                                const char *second, const struct pm_driver *driver)
{
    const struct pm_variant_info info = {
        .choice = {pm_recipe_find(name), second ? pm_recipe_find(second) : NULL},
        .target = target,
        .driver = driver};
    struct pm_words out;
    struct pm_error error;
    assert_non_null(info.choice.recipe);
    assert_true(!second || info.choice.second);
    if (!pm_make_variant(canonical->data, canonical->count, &info, &out, &error))
        fail_msg("%s: %s", name, error.message);
    return out;
}

/* For a driver without quirks. */
static struct pm_words make(const struct pm_words *canonical, const char *name, const char *second)
{
    const struct pm_driver driver = {.id = 4}; /* NVIDIA's */
    return make_for(canonical, name, second, &driver);
}

static bool same(const struct pm_words *a, const struct pm_words *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->data, b->data, a->count * sizeof *a->data) == 0);
}

static void test_table(void **state)
{
    (void)state;
    bool kinds[PM_RECIPE_BLOCKS + 1] = {false};
    assert_true(pm_recipe_count() >= 24);
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const struct pm_recipe *recipe = pm_recipe_at(r);
        assert_ptr_equal(pm_recipe_find(recipe->name), recipe); /* so no name is there twice */
        assert_true(recipe->version > 0);
        assert_true(strlen(recipe->what) > 0 && strlen(pm_recipe_kind_name(recipe->kind)) > 0);
        for (const char *c = recipe->name; *c; c++)
            assert_true(islower((unsigned char)*c) || isdigit((unsigned char)*c) || *c == '-');
        kinds[recipe->kind] = true;
    }
    for (size_t k = 0; k < sizeof kinds; k++)
        assert_true(kinds[k]);
    assert_null(pm_recipe_at(pm_recipe_count()));
    assert_null(pm_recipe_find("no-such-recipe"));
}

/* Each has something to do here, and does the same each time. */
static void test_all_do_something(void **state)
{
    (void)state;
    struct pm_words canonical = canonical_of("plenty");
    uint32_t distinct = 0;
    struct pm_words made[64];
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const char *name = pm_recipe_at(r)->name;
        made[r] = make(&canonical, name, NULL);
        struct pm_words again = make(&canonical, name, NULL);
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
    struct pm_words made = make(canonical, recipe, NULL);
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
    struct pm_words canonical = canonical_of("promised");
    assert_int_equal(pm_test_count(&canonical, "DependencyInfinite"), 1);
    for (size_t r = 0; r < sizeof recipes / sizeof *recipes; r++) {
        struct pm_words made = make(&canonical, recipes[r], NULL);
        assert_true(made.count == 0 || same(&made, &canonical));
        pm_words_finish(&made);
    }
    pm_words_finish(&canonical);
}

static void test_what_they_do(void **state)
{
    (void)state;
    struct pm_words canonical = canonical_of("plenty");
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
    struct pm_words canonical = canonical_of("plenty");
    struct pm_words made = make(&canonical, "hoist", NULL);
    assert_false(is_before_loops(&canonical, " Exp "));
    assert_true(is_before_loops(&made, " Exp "));
    pm_words_finish(&made);
    pm_words_finish(&canonical);
}

static void test_pairs(void **state)
{
    (void)state;
    struct pm_words canonical = canonical_of("plenty");
    struct pm_words pair = make(&canonical, "unroll-long", "scalarize");
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
    struct pm_words canonical = canonical_of("plenty");
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
    struct pm_words canonical = canonical_of("plenty");
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
    info.choice.recipe = pm_recipe_find("hoist");
    assert_false(pm_variant_by_blocks(&info.choice));
    pm_words_finish(&canonical);
}

static void assert_named(const char *name)
{
    struct pm_variant_choice choice;
    char again[PM_VARIANT_NAME];
    assert_true(pm_variant_parse(name, &choice));
    pm_variant_name(&choice, again);
    assert_string_equal(again, name);
}

static void test_names(void **state)
{
    (void)state;
    struct pm_variant_choice choice;
    assert_named("hoist");
    assert_named("hoist+strength");
    assert_named("subgroup-16");
    assert_named("hoist+subgroup-64");
    assert_true(pm_variant_parse("hoist+strength", &choice));
    assert_ptr_equal(choice.recipe, pm_recipe_find("hoist"));
    assert_ptr_equal(choice.second, pm_recipe_find("strength"));
    static const char *const wrong[] = {"",
                                        "+",
                                        "hoist+",
                                        "+hoist",
                                        "hoist+none",
                                        "hoist+strength+hoist",
                                        "hoist,strength",
                                        "subgroup-16+hoist",
                                        "subgroup-0",
                                        "subgroup-24",
                                        "subgroup-",
                                        "subgroup-16x",
                                        "subgroup-016",
                                        "subgroup--8"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(pm_variant_parse(wrong[i], &choice));
    /* All fit. */
    for (uint32_t a = 0; a < pm_recipe_count(); a++)
        for (uint32_t b = 0; b < pm_recipe_count(); b++)
            assert_true(strlen(pm_recipe_at(a)->name) + strlen(pm_recipe_at(b)->name) + 2 <=
                        PM_VARIANT_NAME);
}

/* Sizes from 8 to 64 of a module of the corpus of subjects, and of the same with something in it.
 */
static uint32_t sizes_of(const char *assembly)
{
    const struct pm_subgroup_sizes sizes = {.own = 32, .least = 8, .most = 64, .most_subgroups = 4};
    struct pm_words words = pm_test_assemble(assembly, 3);
    const uint32_t found = pm_variant_subgroup_sizes(words.data, words.count, &sizes);
    pm_words_finish(&words);
    return found;
}

#define SIZED(capabilities, local_size, globals, body)                                             \
    "OpCapability Shader\n" capabilities "OpMemoryModel Logical GLSL450\n"                         \
    "OpEntryPoint GLCompute %main \"main\"\n"                                                      \
    "OpExecutionMode %main LocalSize " local_size " 1 1\n"                                         \
    "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"                     \
    "%two = OpConstant %uint 2\n%three = OpConstant %uint 3\n%none = OpConstant %uint 0\n"         \
    "%acquire = OpConstant %uint 264\n" globals                                                    \
    "%main = OpFunction %void None %fn\n%l = OpLabel\n" body "OpReturn\nOpFunctionEnd\n"
#define SHARED "%pointer = OpTypePointer Workgroup %uint\n%shared = OpVariable %pointer Workgroup\n"

#define BUFFER                                                                                     \
    "%pointer = OpTypePointer StorageBuffer %uint\n%buffer = OpVariable %pointer StorageBuffer\n"
#define VISIBLE(scope) "%a = OpLoad %uint %buffer MakePointerVisible|NonPrivatePointer " scope "\n"

static void test_subgroup_sizes(void **state)
{
    (void)state;
    const struct pm_subgroup_sizes none = {.own = 32};
    struct pm_words words = pm_test_assemble(SIZED("", "64", "", ""), 3);
    assert_int_equal(pm_variant_subgroup_sizes(words.data, words.count, &none), 0);
    pm_words_finish(&words);
    assert_int_equal(sizes_of(SIZED("", "32", "", "")), 8 | 16 | 64);
    /* Four subgroups at most. */
    assert_int_equal(sizes_of(SIZED("", "64", "", "")), 16 | 64);
    /* Lanes that are behind each other's back. */
    assert_int_equal(sizes_of(SIZED("", "32", SHARED, "")), 64);
    assert_int_equal(
        sizes_of(SIZED("", "32", SHARED, "%a = OpAtomicIAdd %uint %shared %two %none %two\n")), 0);
    /* What could tell. */
    assert_int_equal(sizes_of(SIZED("OpCapability GroupNonUniform\n", "32", "%bool = OpTypeBool\n",
                                    "%e = OpGroupNonUniformElect %bool %three\n")),
                     0);
    assert_int_equal(sizes_of(SIZED("", "32", "", "OpControlBarrier %three %three %acquire\n")), 0);
    assert_int_equal(sizes_of(SIZED("", "32", "", "OpMemoryBarrier %three %acquire\n")), 0);
    assert_int_equal(sizes_of(SIZED("", "32", "", "OpControlBarrier %two %two %acquire\n")),
                     8 | 16 | 64);
    assert_int_equal(
        sizes_of(SIZED("", "32", BUFFER, "%a = OpAtomicIAdd %uint %buffer %two %none %two\n")),
        8 | 16);
    assert_int_equal(
        sizes_of(SIZED("", "32", BUFFER, "%a = OpAtomicIAdd %uint %buffer %three %none %two\n")),
        0);
    assert_int_equal(sizes_of(SIZED("", "32", BUFFER, VISIBLE("%two"))), 8 | 16 | 64);
    assert_int_equal(sizes_of(SIZED("", "32", BUFFER, VISIBLE("%three"))), 0);
    assert_int_equal(sizes_of(SIZED("", "32", BUFFER,
                                    "OpStore %buffer %two Aligned|MakePointerAvailable|"
                                    "NonPrivatePointer 4 %three\n")),
                     0);
    assert_int_equal(sizes_of(SIZED("", "32", BUFFER,
                                    "OpCopyMemory %buffer %buffer MakePointerAvailable|"
                                    "NonPrivatePointer %three\n")),
                     0);
}

/* What is loaded from a buffer of three numbers, the first by itself or as one of all, is written
 * where the third says so. */
#define LOADED(capability, decoration, body)                                                       \
    "OpCapability Shader\n" capability "OpMemoryModel Logical GLSL450\n"                           \
    "OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n"               \
    "OpMemberDecorate %numbers 0 Offset 0\nOpMemberDecorate %numbers 1 Offset 4\n"                 \
    "OpMemberDecorate %numbers 2 Offset 8\nOpDecorate %x DescriptorSet 0\n"                        \
    "OpDecorate %x Binding 0\nOpMemberDecorate %outs 0 Offset 0\nOpDecorate %outs Block\n"         \
    "OpDecorate %to DescriptorSet 0\nOpDecorate %to Binding 1\n" decoration                        \
    "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"                     \
    "%bool = OpTypeBool\n%u0 = OpConstant %uint 0\n%u2 = OpConstant %uint 2\n"                     \
    "%u7 = OpConstant %uint 7\n%numbers = OpTypeStruct %uint %uint %uint\n"                        \
    "%outs = OpTypeStruct %uint\n%px = OpTypePointer Uniform %numbers\n"                           \
    "%pu = OpTypePointer Uniform %uint\n%x = OpVariable %px Uniform\n"                             \
    "%pouts = OpTypePointer StorageBuffer %outs\n%pout = OpTypePointer StorageBuffer %uint\n"      \
    "%to = OpVariable %pouts StorageBuffer\n%main = OpFunction %void None %fn\n%l = OpLabel\n"     \
    "%px0 = OpAccessChain %pu %x %u0\n%px2 = OpAccessChain %pu %x %u2\n" body                      \
    "%c = OpLoad %uint %px2\n%yes = OpINotEqual %bool %c %u0\nOpSelectionMerge %m None\n"          \
    "OpBranchConditional %yes %t %m\n%t = OpLabel\n%pto = OpAccessChain %pout %to %u0\n"           \
    "OpStore %pto %v\nOpBranch %m\n%m = OpLabel\nOpReturn\nOpFunctionEnd\n"
#define FIRST(operands) "%v = OpLoad %uint %px0" operands "\n"
#define OF_ALL(operands)                                                                           \
    "%all = OpLoad %numbers %x" operands "\n%v = OpCompositeExtract %uint %all 0\n"

static bool has_variant(const char *assembly, const char *recipe)
{
    struct pm_words words = pm_test_assemble(assembly, 3);
    struct pm_words canonical = canonical_words(words.data, words.count);
    struct pm_words made = make(&canonical, recipe, NULL);
    const bool has = made.count > 0;
    pm_words_finish(&made);
    pm_words_finish(&canonical);
    pm_words_finish(&words);
    return has;
}

/* A load stays before what is written behind it, also in buffers as SPIR-V 1.0 has them, of which
 * SPIRV-Tools does not see that they are written, and in ones that are there by another name; and
 * so does a volatile one. */
static void test_loads_stay(void **state)
{
    (void)state;
    assert_true(has_variant(LOADED("", "OpDecorate %numbers Block\n", FIRST("")), "sink-loads"));
    assert_false(
        has_variant(LOADED("", "OpDecorate %numbers BufferBlock\n", FIRST("") "OpStore %px0 %u7\n"),
                    "sink-loads"));
    assert_false(
        has_variant(LOADED("", "OpDecorate %numbers Block\n", FIRST(" Volatile")), "sink-loads"));
    assert_false(has_variant(LOADED("",
                                    "OpDecorate %numbers Block\nOpDecorate %x Aliased\n"
                                    "OpDecorate %to Aliased\n",
                                    FIRST("")),
                             "sink-loads"));
    assert_false(has_variant(
        LOADED("", "OpDecorate %numbers Block\nOpMemberDecorate %numbers 0 Volatile\n", FIRST("")),
        "sink-loads"));
}

/* The parts of a load would be neither volatile nor of a descriptor that differs by lane. */
static void test_loads_stay_whole(void **state)
{
    (void)state;
    assert_true(has_variant(LOADED("", "OpDecorate %numbers Block\n", OF_ALL("")), "small-loads"));
    assert_false(
        has_variant(LOADED("", "OpDecorate %numbers Block\n", OF_ALL(" Volatile")), "small-loads"));
    assert_false(
        has_variant(LOADED("OpCapability ShaderNonUniform\n"
                           "OpExtension \"SPV_EXT_descriptor_indexing\"\n",
                           "OpDecorate %numbers Block\nOpDecorate %all NonUniform\n", OF_ALL("")),
                    "small-loads"));
}

/* What leads to a loop's exit runs once more than the rest. */
static void test_last_test(void **state)
{
    (void)state;
    static const char *const whole[] = {"unroll-full", "unroll-long", "unroll-scalars"};
    struct pm_words tested = canonical_of("tested");
    const int loops = pm_test_count(&tested, "OpLoopMerge");
    assert_int_equal(loops, 3);
    /* The one that has nothing before its test. */
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_int_equal(count_in(&tested, whole[i], "OpLoopMerge"), loops - 1);
    struct pm_words asked = make_for(&tested, "ask-unroll", NULL, NULL);
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
    struct pm_words risky = canonical_of("risky"), precise = canonical_of("precise");
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct pm_words made = make(&risky, recipes[i], NULL);
        assert_int_equal(made.count, 0);
        made = make_for(&precise, recipes[i], NULL, NULL);
        /* Some driver's copies of turns are not NoContraction. */
        assert_int_equal(made.count > 0, strcmp(recipes[i], "ask-no-unroll") == 0);
        pm_words_finish(&made);
    }
    pm_words_finish(&risky);
    pm_words_finish(&precise);
}

static bool makes_slow(const struct pm_words *words)
{
    struct pm_words slow;
    struct pm_error error;
    const bool made = pm_make_slow(words->data, words->count, &target, &slow, &error);
    if (made) {
        assert_int_equal(pm_test_count(&slow, "OpLoopMerge"),
                         pm_test_count(words, "OpLoopMerge") + 1);
        assert_int_equal(pm_test_count(&slow, "OpStore"), pm_test_count(words, "OpStore"));
    } else {
        assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    }
    pm_words_finish(&slow);
    return made;
}

/* What writes only can do so twice; what reads what it writes, or counts, cannot. */
static void test_slow(void **state)
{
    (void)state;
    struct pm_words words = pm_test_assemble(SIZED("", "32", "", ""), 3);
    assert_true(makes_slow(&words));
    pm_words_finish(&words);
    words = pm_test_assemble(
        SIZED("", "32", SHARED, "%a = OpAtomicIAdd %uint %shared %two %none %two\n"), 3);
    assert_false(makes_slow(&words));
    pm_words_finish(&words);
    words = pm_test_assemble(
        SIZED("", "32", SHARED, "%a = OpLoad %uint %shared\nOpStore %shared %two\n"), 3);
    assert_false(makes_slow(&words));
    pm_words_finish(&words);
    words = pm_test_assemble(SIZED("", "32", SHARED, "OpStore %shared %two\n"), 3);
    assert_true(makes_slow(&words));
    pm_words_finish(&words);
    words = pm_test_assemble(SIZED("", "32", SHARED "%p = OpTypePointer Function %uint\n",
                                   "%v = OpVariable %p Function\nOpCopyMemory %v %shared\n"
                                   "OpStore %shared %two\n"),
                             3);
    assert_false(makes_slow(&words));
    pm_words_finish(&words);
    /* Another one's value. */
    words = pm_test_assemble(SIZED("", "32", SHARED "%other = OpVariable %pointer Workgroup\n",
                                   "%a = OpLoad %uint %other\nOpStore %shared %a\n"),
                             3);
    assert_true(makes_slow(&words));
    pm_words_finish(&words);
}

/* A guard: a branch on what was not there before. In its copy there are others, which are none. */
static void test_slow_where_guards_fail(void **state)
{
    (void)state;
    struct pm_words slow,
        words = pm_test_assemble(
            SIZED("", "32",
                  "%bool = OpTypeBool\n" SHARED "%other = OpVariable %pointer Workgroup\n",
                  "%a = OpLoad %uint %other\n%zero = OpIEqual %bool %a %none\n"
                  "OpSelectionMerge %m None\nOpBranchConditional %zero %s %r\n"
                  "%s = OpLabel\n%copy = OpIEqual %bool %a %two\n"
                  "OpSelectionMerge %sm None\nOpBranchConditional %copy %sy %sm\n"
                  "%sy = OpLabel\nOpBranch %sm\n%sm = OpLabel\nOpBranch %m\n"
                  "%r = OpLabel\nOpStore %shared %two\nOpBranch %m\n%m = OpLabel\n"),
            3);
    struct pm_error error;
    assert_true(pm_make_slow_where_guards_fail(words.data, words.count, 1, &target, &slow, &error));
    assert_int_equal(pm_test_count(&slow, "OpLoopMerge"), 1);
    /* That none has failed, and in one place that one has. */
    assert_int_equal(pm_test_count(&slow, "OpStore"), pm_test_count(&words, "OpStore") + 2);
    pm_words_finish(&slow);
    assert_false(pm_make_slow_where_guards_fail(words.data, words.count, words.data[3], &target,
                                                &slow, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    pm_words_finish(&words);
}

#define CHOICE "%bool = OpTypeBool\n%true = OpConstantTrue %bool\n"

/* What returns early can do it twice, but from a loop. */
static void test_slow_returns(void **state)
{
    (void)state;
    struct pm_words words =
        pm_test_assemble(SIZED("", "32", SHARED CHOICE,
                               "OpSelectionMerge %m None\nOpBranchConditional %true %t %m\n"
                               "%t = OpLabel\nOpReturn\n%m = OpLabel\nOpStore %shared %two\n"),
                         3);
    assert_true(makes_slow(&words));
    pm_words_finish(&words);
    words =
        pm_test_assemble(SIZED("", "32", SHARED CHOICE,
                               "OpBranch %h\n%h = OpLabel\nOpLoopMerge %m %c None\n"
                               "OpBranchConditional %true %t %m\n%t = OpLabel\nOpReturn\n"
                               "%c = OpLabel\nOpBranch %h\n%m = OpLabel\nOpStore %shared %two\n"),
                         3);
    assert_false(makes_slow(&words));
    pm_words_finish(&words);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    struct pm_words canonical = canonical_of("little");
    for (uint32_t r = 1; r < pm_recipe_count(); r++) {
        struct pm_words made = make(&canonical, pm_recipe_at(r)->name, NULL);
        assert_int_equal(made.count, 0);
    }
    pm_words_finish(&canonical);
}

static void test_broken(void **state)
{
    (void)state;
    const uint32_t words[] = {0x07230203, 0x00010300, 0, 5, 0, 0xffffffff};
    const struct pm_variant_info info = {.choice = {pm_recipe_find("unroll-full")},
                                         .target = target};
    struct pm_words made;
    struct pm_error error;
    assert_false(pm_make_variant(words, sizeof words / 4, &info, &made, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_int_equal(made.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_all_do_something),
        cmocka_unit_test(test_what_they_do),
        cmocka_unit_test(test_left_as_it_is),
        cmocka_unit_test(test_hoisted),
        cmocka_unit_test(test_by_blocks),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_subgroup_sizes),
        cmocka_unit_test(test_left_alone),
        cmocka_unit_test(test_loads_stay),
        cmocka_unit_test(test_loads_stay_whole),
        cmocka_unit_test(test_last_test),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_slow_where_guards_fail),
        cmocka_unit_test(test_slow_returns),
        cmocka_unit_test(test_nothing_to_do),
        cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
