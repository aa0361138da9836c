/* What a block that leaves a loop shares with what comes behind it. */
#include "shader_rewrite/quirks/leaving_shared.h"
#include "shader_rewrite/quirks/quirks.h"
#include "shader_rewrite/variants/variants.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#include <vulkan/vulkan_core.h>

enum loop { LEFT_IN_A_BLOCK, LEFT_AT_THE_END };
static const char *const loops[] = {
    [LEFT_IN_A_BLOCK] =
        "OpLoopMerge %%end %%latch None\nOpBranchConditional %%stop %%leave %%latch\n"
        "%%leave = OpLabel\n%sOpBranch %%end\n"
        "%%latch = OpLabel\n%%j = OpIAdd %%uint %%i %%u1\nOpBranch %%loop\n",
    [LEFT_AT_THE_END] = "OpLoopMerge %%end %%latch None\nOpBranch %%latch\n"
                        "%%latch = OpLabel\n%s%%j = OpIAdd %%uint %%i %%u1\n"
                        "OpBranchConditional %%stop %%end %%loop\n"};

/* A compute shader that counts by %i, and does `leaving` in the block that leaves the loop when
 * that comes to %n, which it read, or at each turn's end. %at is its lane's place and %out what it
 * writes to; then it does `behind`. */
static struct pm_words assemble(enum loop loop, const char *before, const char *turn,
                                const char *leaving, const char *behind)
{
    char text[4096], way[1024];
    snprintf(way, sizeof way, loops[loop], leaving);
    snprintf(text, sizeof text,
             "OpCapability Shader\nOpExtension \"SPV_KHR_storage_buffer_storage_class\"\n"
             "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\" %%lane\n"
             "OpExecutionMode %%main LocalSize 8 1 1\n"
             "OpDecorate %%lane BuiltIn LocalInvocationIndex\n"
             "OpDecorate %%words ArrayStride 4\nOpDecorate %%buffer Block\n"
             "OpMemberDecorate %%buffer 0 Offset 0\nOpMemberDecorate %%buffer 1 Offset 4\n"
             "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 0\n"
             "OpDecorate %%constant Block\nOpMemberDecorate %%constant 0 Offset 0\n"
             "OpMemberDecorate %%constant 1 Offset 4\n"
             "OpDecorate %%in DescriptorSet 0\nOpDecorate %%in Binding 1\n"
             "%%void = OpTypeVoid\n%%fn = OpTypeFunction %%void\n%%bool = OpTypeBool\n"
             "%%uint = OpTypeInt 32 0\n%%ins = OpTypePointer Input %%uint\n"
             "%%words = OpTypeRuntimeArray %%uint\n%%buffer = OpTypeStruct %%uint %%words\n"
             "%%buffers = OpTypePointer StorageBuffer %%buffer\n"
             "%%places = OpTypePointer StorageBuffer %%uint\n"
             "%%constant = OpTypeStruct %%uint %%uint\n"
             "%%constants = OpTypePointer Uniform %%constant\n"
             "%%member = OpTypePointer Uniform %%uint\n"
             "%%lane = OpVariable %%ins Input\n%%out = OpVariable %%buffers StorageBuffer\n"
             "%%in = OpVariable %%constants Uniform\n"
             "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u4 = OpConstant %%uint 4\n"
             "%%main = OpFunction %%void None %%fn\n%%entry = OpLabel\n"
             "%%at = OpLoad %%uint %%lane\n%%np = OpAccessChain %%places %%out %%u0\n"
             "%%n = OpLoad %%uint %%np\n%sOpBranch %%loop\n"
             "%%loop = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%j %%latch\n"
             "%s%%stop = OpUGreaterThanEqual %%bool %%i %%n\n%s"
             "%%end = OpLabel\n%sOpReturn\nOpFunctionEnd\n",
             before, turn, way, behind);
    return pm_test_assemble(text, 3);
}

static bool has_in(enum loop loop, const char *before, const char *turn, const char *leaving,
                   const char *behind)
{
    struct pm_words words = assemble(loop, before, turn, leaving, behind);
    struct pm_error error;
    bool found;
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    assert_non_null(module);
    assert_true(pm_has_leaving_shared(module, &found, &error));
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
    return found;
}

static bool has(const char *before, const char *turn, const char *leaving, const char *behind)
{
    return has_in(LEFT_IN_A_BLOCK, before, turn, leaving, behind);
}

#define PLACE(NAME, INDEX) "%" NAME " = OpAccessChain %places %out %u1 " INDEX "\n"
#define STORE(NAME, VALUE) "OpStore %" NAME " " VALUE "\n"

static void test_addresses(void **state)
{
    (void)state;
    assert_true(
        has("", "", PLACE("p", "%at") STORE("p", "%i"), PLACE("q", "%at") STORE("q", "%n")));
    /* Constants are added to the same product. */
    assert_true(has("", "", "%k = OpIAdd %uint %at %u1\n" PLACE("p", "%k") STORE("p", "%i"),
                    PLACE("q", "%at") STORE("q", "%n")));
    assert_true(has("%k = OpIAdd %uint %u4 %at\n", "", PLACE("p", "%k") STORE("p", "%i"),
                    PLACE("q", "%k") STORE("q", "%n")));
    assert_false(
        has("", "", PLACE("p", "%at") STORE("p", "%i"), PLACE("q", "%n") STORE("q", "%n")));
    assert_false(
        has("", "", PLACE("p", "%u4") STORE("p", "%i"), PLACE("q", "%u4") STORE("q", "%n")));
    /* What depends on the loop gets an OpPhi. */
    assert_false(
        has("", "", PLACE("p", "%i") STORE("p", "%at"), PLACE("q", "%i") STORE("q", "%n")));
}

static void test_values(void **state)
{
    (void)state;
    assert_true(has("", "", "%x = OpIMul %uint %n %u4\n", PLACE("q", "%at") STORE("q", "%x")));
    assert_false(has("%x = OpIMul %uint %n %u4\n", "", "", PLACE("q", "%at") STORE("q", "%x")));
    assert_false(has("", "", "%x = OpIMul %uint %i %u4\n", PLACE("q", "%at") STORE("q", "%x")));
    /* An OpPhi takes it on the way. */
    assert_false(has("", "", "%x = OpIMul %uint %n %u4\n",
                     "%y = OpPhi %uint %x %leave\n" PLACE("q", "%at") STORE("q", "%y")));
}

static void test_constant_memory(void **state)
{
    (void)state;
    static const char read[] = "%m = OpAccessChain %member %in %u1\n%x = OpLoad %uint %m\n";
    static const char again[] = "%o = OpAccessChain %member %in %u1\n%y = OpLoad %uint %o\n";
    static const char other[] = "%o = OpAccessChain %member %in %u0\n%y = OpLoad %uint %o\n";
    assert_true(has("", "", read, again));
    assert_false(has("", "", read, other));
    assert_true(
        has("", "", "%x = OpArrayLength %uint %out 1\n", "%y = OpArrayLength %uint %out 1\n"));
}

/* Every lane comes through what stands in every turn. */
static void test_every_turn(void **state)
{
    (void)state;
    assert_false(
        has("", PLACE("p", "%at") STORE("p", "%i"), "", PLACE("q", "%at") STORE("q", "%n")));
    assert_false(has("", "", "", PLACE("q", "%at") STORE("q", "%n")));
    assert_false(has_in(LEFT_AT_THE_END, "", "", PLACE("p", "%at") STORE("p", "%i"),
                        PLACE("q", "%at") STORE("q", "%n")));
}

/* No recipe makes anything of such a shader for the drivers that may crash. */
static void test_no_recipe(void **state)
{
    (void)state;
    struct pm_words words = assemble(
        LEFT_IN_A_BLOCK, "", "%h = OpIMul %uint %n %u4\n" PLACE("r", "%h") STORE("r", "%i"),
        PLACE("p", "%at") STORE("p", "%i"), PLACE("q", "%at") STORE("q", "%n"));
    const struct pm_driver crashes = {VK_DRIVER_ID_MESA_LLVMPIPE, VK_MAKE_API_VERSION(0, 25, 0, 0)};
    const struct pm_driver other = {VK_DRIVER_ID_MESA_RADV, VK_MAKE_API_VERSION(0, 25, 0, 0)};
    uint32_t made = 0;
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        if (pm_recipe_at(r)->kind == PM_RECIPE_CANONICAL)
            continue;
        for (int of = 0; of < 2; of++) {
            const struct pm_variant_info info = {.choice = {pm_recipe_at(r), NULL},
                                                 .target = {.vulkan_minor = 3},
                                                 .driver = of ? &other : &crashes};
            struct pm_words variant;
            struct pm_error error;
            assert_true(pm_make_variant(words.data, words.count, &info, &variant, &error));
            if (of == 0)
                assert_int_equal(variant.count, 0);
            made += variant.count > 0;
            pm_words_finish(&variant);
        }
    }
    assert_true(made > 0);
    pm_words_finish(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),       cmocka_unit_test(test_values),
        cmocka_unit_test(test_constant_memory), cmocka_unit_test(test_every_turn),
        cmocka_unit_test(test_no_recipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
