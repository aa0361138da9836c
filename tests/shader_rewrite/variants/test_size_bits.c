/* A compute shader writes the same bits in subgroups of each size that its pipeline may be asked to
 * require (pm_variant_subgroup_sizes), whatever its own is: of 8, 16, 32 and 64 lanes, which no
 * driver at hand has all, run by a model, the lanes of a subgroup together (lockstep.h). So does
 * what a recipe makes for a size. What writes others could tell, and is asked for none.
 *
 *   test_shader_rewrite_size_bits [FIRST [COUNT]]     random shaders of these seeds only */
#include "shader_rewrite/variants/variants.h"
#include "tests/shader_rewrite/instrument/modelled_random.h"
#include "tests/shader_rewrite/instrument/modelled_run.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { SEEDS = 48, SIZES = 4, LEAST = 8, MOST = 64, WORDS = 2 * RANDOM_SHADER_PLACES };

static uint64_t first_seed = 1, seed_count = SEEDS;
/* Of pairs of an own size and another one: asked for, and such that make a difference. */
static struct {
    uint64_t asked, differ, recipes;
} seen;

/* In each size. */
static uint32_t written[SIZES][WORDS];

static void run(struct modelled *call, const struct pm_words *words)
{
    for (uint32_t s = 0; s < SIZES; s++) {
        struct model *model = model_create(words->data, words->count);
        call->buffers[call->output] = written[s];
        call->dispatch.lanes = model_lanes(LEAST << s);
        modelled_give(call, model);
        model_dispatch_together(model, &call->dispatch);
        model_destroy(model);
    }
}

/* Of what was run last; asked: by size of its own the others that may be required. */
static void compare(const char *name, const uint32_t asked[SIZES])
{
    for (uint32_t own = 0; own < SIZES; own++)
        for (uint32_t other = 0; other < SIZES; other++) {
            const bool is_asked = asked[own] & LEAST << other;
            const bool differs = memcmp(written[own], written[other], sizeof written[own]) != 0;
            if (is_asked && differs)
                fail_msg("%s: with subgroups of %d it may be asked for %d, and then writes others",
                         name, LEAST << own, LEAST << other);
            seen.asked += is_asked;
            seen.differ += differs;
        }
}

static void find_asked(const struct pm_words *words, uint32_t asked[SIZES])
{
    for (uint32_t own = 0; own < SIZES; own++) {
        const struct pm_subgroup_sizes sizes = {
            .own = LEAST << own, .least = LEAST, .most = MOST, .most_subgroups = 64};
        asked[own] = pm_variant_subgroup_sizes(words->data, words->count, &sizes);
        assert_false(asked[own] & sizes.own);
    }
}

/* One of the recipes, for what may be required beside the smallest size. */
static void check_recipe(struct modelled *call, const char *name, uint32_t recipe,
                         const uint32_t asked[SIZES])
{
    for (uint32_t size = 2 * LEAST; size <= MOST; size *= 2) {
        const struct pm_variant_info info = {
            .choice = {pm_recipe_at(recipe % pm_recipe_count()), NULL, size},
            .target = call->shader.target,
            .subgroup_vote = true};
        struct pm_words made;
        struct pm_error error;
        if (!(asked[0] & size))
            continue;
        if (!pm_make_variant(call->shader.canonical.data, call->shader.canonical.count, &info,
                             &made, &error))
            fail_msg("%s, %s: %s", name, info.choice.recipe->name, error.message);
        if (made.count > 0) {
            char of[96];
            snprintf(of, sizeof of, "%s of %s", info.choice.recipe->name, name);
            run(call, &made);
            compare(of, asked);
            seen.recipes++;
        }
        pm_words_finish(&made);
    }
}

static void check(struct modelled *call, const char *name, uint32_t recipe)
{
    uint32_t asked[SIZES];
    find_asked(&call->shader.canonical, asked);
    run(call, &call->shader.canonical);
    compare(name, asked);
    check_recipe(call, name, recipe, asked);
}

static void test_random_shaders(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    for (uint64_t seed = first_seed; seed < first_seed + seed_count; seed++) {
        const struct random_shader_options options = {.stage = PM_STAGE_COMPUTE,
                                                      .exits_inside = true,
                                                      .walks = true,
                                                      .words = seed % 3 == 1,
                                                      .uniforms = seed / 2 % 2,
                                                      .many_turns = seed % 7 == 6,
                                                      .raw_copies = seed % 4 == 1,
                                                      .statements = RANDOM_SHADER_STATEMENTS};
        struct modelled call;
        char name[32];
        snprintf(name, sizeof name, "seed %" PRIu64, seed);
        modelled_random_begin(seed, &options, &call);
        check(&call, name, (uint32_t)seed);
        exact_finish(&call.shader);
    }
    printf("%" PRIu64 " shaders, %" PRIu64 " variants, %" PRIu64 " pairs of sizes\n", seed_count,
           seen.recipes, seen.asked);
    assert_true(seen.asked > 0 && seen.differ == 0);
    assert_true(seed_count < SEEDS || seen.recipes > 0);
}

/* Writes %v at the invocation's place. */
#define WRITES(body)                                                                               \
    "OpCapability Shader\nOpCapability GroupNonUniform\nOpCapability GroupNonUniformVote\n"        \
    "OpCapability GroupNonUniformBallot\nOpCapability GroupNonUniformArithmetic\n"                 \
    "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %in\n"                   \
    "OpExecutionMode %main LocalSize 64 1 1\nOpDecorate %in BuiltIn LocalInvocationIndex\n"        \
    "OpDecorate %words ArrayStride 4\nOpDecorate %block Block\n"                                   \
    "OpMemberDecorate %block 0 Offset 0\nOpDecorate %out DescriptorSet 0\n"                        \
    "OpDecorate %out Binding 0\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n"                  \
    "%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%uint4 = OpTypeVector %uint 4\n"                  \
    "%true = OpConstantTrue %bool\n%u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n"           \
    "%u3 = OpConstant %uint 3\n%u8 = OpConstant %uint 8\n%words = OpTypeRuntimeArray %uint\n"      \
    "%block = OpTypeStruct %words\n%p_in = OpTypePointer Input %uint\n"                            \
    "%p_out = OpTypePointer StorageBuffer %block\n%p_word = OpTypePointer StorageBuffer %uint\n"   \
    "%in = OpVariable %p_in Input\n%out = OpVariable %p_out StorageBuffer\n"                       \
    "%main = OpFunction %void None %fn\n%l = OpLabel\n%i = OpLoad %uint %in\n"                     \
    "%to = OpAccessChain %p_word %out %u0 %i\n%few = OpULessThan %bool %i %u8\n" body              \
    "OpStore %to %v\nOpReturn\nOpFunctionEnd\n"

static void check_text(const char *name, const char *assembly)
{
    static uint32_t output[WORDS];
    struct modelled call = {.buffers = {output},
                            .words = {WORDS},
                            .dispatch = {.groups = {1, 1, 1}, .size = {64, 1, 1}},
                            .shader = {.name = name,
                                       .stage = PM_STAGE_COMPUTE,
                                       .original = pm_test_assemble(assembly, 3)}};
    memset(&seen, 0, sizeof seen);
    exact_prepare(&call.shader, &(struct pm_target){.vulkan_minor = 3}, NULL, 0);
    check(&call, name, 0);
    exact_finish(&call.shader);
}

/* So the model sees sizes, and each has to be known for what could tell. */
static void test_who_can_tell(void **state)
{
    (void)state;
    static const struct {
        const char *name, *assembly;
    } rows[] = {
        {"elect", WRITES("%e = OpGroupNonUniformElect %bool %u3\n"
                         "%v = OpSelect %uint %e %u1 %u0\n")},
        {"any", WRITES("%e = OpGroupNonUniformAny %bool %u3 %few\n"
                       "%v = OpSelect %uint %e %u1 %u0\n")},
        {"all", WRITES("%e = OpGroupNonUniformAll %bool %u3 %few\n"
                       "%v = OpSelect %uint %e %u1 %u0\n")},
        {"ballot", WRITES("%b = OpGroupNonUniformBallot %uint4 %u3 %few\n"
                          "%v = OpCompositeExtract %uint %b 0\n")},
        {"sum", WRITES("%v = OpGroupNonUniformIAdd %uint %u3 Reduce %i\n")},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_text(rows[i].name, rows[i].assembly);
        assert_true(seen.differ > 0);
        assert_int_equal(seen.asked, 0);
    }
    check_text("nobody", WRITES("%v = OpSelect %uint %few %u1 %i\n"));
    assert_int_equal(seen.differ, 0);
    assert_true(seen.asked >= SIZES * (SIZES - 1));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 0), seed_count = 1;
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_shaders),
                                       cmocka_unit_test(test_who_can_tell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
