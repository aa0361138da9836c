#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/canonical/canonicalized.h"
#include "tests/shader_rewrite/corpus_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- specialization constants ---- */

/* Floats keep their SpecId; operations on integers of any width are done. */
static void assert_only_floats_specialized(const struct pm_words *module)
{
    assert_int_equal(pm_test_count(module, "SpecId"), 2);
    assert_int_equal(pm_test_count(module, "OpSpecConstant "), 2);
    assert_int_equal(pm_test_count(module, "OpSpecConstantTrue"), 0);
    assert_int_equal(pm_test_count(module, "OpSpecConstantFalse"), 0);
    assert_int_equal(pm_test_count(module, "OpSpecConstantComposite"), 0);
    assert_int_equal(pm_test_count(module, "OpSpecConstantOp %long"), 0);
    assert_int_equal(pm_test_count(module, "OpSpecConstantOp %uint"), 0);
}

static void test_spec_defaults(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("spec.spvasm", NULL, 0);
    assert_only_floats_specialized(&out);
    assert_int_equal(pm_test_count(&out, "OpConstant %long 5"), 1);
    assert_int_equal(pm_test_count(&out, "OpConstant %long 6"), 1);
    assert_int_equal(pm_test_count(&out, "OpConstant %long 14"), 1);
    assert_int_equal(pm_test_count(&out, "OpConstant %uint 4"), 1);
    assert_int_equal(pm_test_count(&out, "OpConstant %uint 8"), 1);
    assert_int_equal(pm_test_count(&out, "OpSpecConstant %half 0x1p+0"), 1);
    assert_int_equal(pm_test_count(&out, "OpSpecConstant %double 2"), 1);
    assert_int_equal(pm_test_count(&out, "BuiltIn WorkgroupSize"), 1);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

static void test_spec_values(void **state)
{
    (void)state;
    const struct pm_spec_value values[] = {{0, 4, 0},
                                           {1, 4, 0xfe},
                                           {2, 4, 0xfffe},
                                           {3, 8, 0x100000001},
                                           {4, 4, 0x4400 /* 4 */},
                                           {5, 8, 0x4022000000000000 /* 9 */},
                                           {6, 4, 1},
                                           {7, 4, 32},
                                           {99, 4, 3}};
    struct pm_words out = canonical_of("spec.spvasm", values, sizeof values / sizeof values[0]);
    assert_only_floats_specialized(&out);
    /* 0xfe is -2 as a signed byte; the unsigned 16 bits stay positive. */
    assert_int_equal(pm_test_count(&out, "OpConstant %long -2"), 1);
    assert_int_equal(pm_test_count(&out, "OpConstant %long 65534"), 1);
    assert_int_equal(pm_test_count(&out, "OpConstant %long 8589934594"), 1);
    assert_int_equal(pm_test_count(&out, "OpSpecConstant %half 0x1p+2"), 1);
    assert_int_equal(pm_test_count(&out, "OpSpecConstant %double 9"), 1);
    assert_int_equal(pm_test_count(&out, "OpConstant %uint 32"), 1);
    assert_int_equal(pm_test_count(&out, "OpConstant %uint 64"), 1);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* Different values are different shaders; a value equal to the default is the same one. */
static void test_spec_values_in_words(void **state)
{
    (void)state;
    const struct pm_spec_value same = {7, 4, 4}, other = {7, 4, 5};
    struct pm_words plain = canonical_of("spec.spvasm", NULL, 0);
    struct pm_words with_default = canonical_of("spec.spvasm", &same, 1);
    struct pm_words with_other = canonical_of("spec.spvasm", &other, 1);
    assert_same_words(&plain, &with_default);
    assert_true(plain.count != with_other.count ||
                memcmp(plain.data, with_other.data, plain.count * sizeof(uint32_t)) != 0);
    pm_words_finish(&plain);
    pm_words_finish(&with_default);
    pm_words_finish(&with_other);
}

/* ---- floats ---- */

static void test_floats_are_left_alone(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("float.spvasm", NULL, 0);
    /* Every multiplication, division and function is there still, and nothing was combined. */
    assert_int_equal(pm_test_count(&out, "OpFMul"), 4);
    assert_int_equal(pm_test_count(&out, "OpFSub"), 1);
    assert_int_equal(pm_test_count(&out, "OpFDiv"), 1);
    assert_int_equal(pm_test_count(&out, "OpFAdd"), 6);
    assert_int_equal(pm_test_count(&out, "FMix"), 1);
    assert_int_equal(pm_test_count(&out, "Sin"), 1);
    assert_int_equal(pm_test_count(&out, "OpFunctionCall"), 0);
    /* The precise addition was inlined twice and stays precise; our decorations are gone. */
    assert_int_equal(pm_test_count(&out, "NoContraction"), 2);
    assert_int_equal(pm_test_count(&out, "UserSemantic"), 0);
    assert_int_equal(pm_test_count(&out, "SignedZeroInfNanPreserve"), 0);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* What a function that is not inlined leaves in it is there in the next call. */
static void test_private_variables_of_callees_stay(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("private_of_callee.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&out, "OpFunctionCall"), 2);
    assert_int_equal(pm_test_count(&out, "OpVariable %_ptr_Private_uint Private"), 1);
    assert_int_equal(pm_test_count(&out, "OpIAdd"), 1);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* ---- what does not change the key ---- */

/* What was loaded before a loop is not loaded again in it or behind it; what was loaded in it is.
 */
static void test_loads_of_loops_stay_in_them(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("loads.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&out, "OpFunctionCall"), 0);
    /* The pointer that the loop makes is made again behind it. */
    assert_int_equal(pm_test_count(&out, "OpAccessChain"), 5);
    assert_int_equal(pm_test_count(&out, "OpLoad"), 4); /* the index, and three of the buffer */
    assert_int_equal(pm_test_count(&out, "UserSemantic"), 0);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* In a loop some lanes of a quad may have gone, so that what is read behind it has another level of
 * detail. */
static void test_samples_of_loops_stay_in_them(void **state)
{
    (void)state;
    struct pm_words out = canonical_in(PM_STAGE_FRAGMENT, "samples_of_loops.spvasm", 3, NULL);
    assert_int_equal(pm_test_count(&out, "OpImageSampleImplicitLod"), 2);
    assert_int_equal(pm_test_count(&out, "UserSemantic"), 0);
    pm_words_finish(&out);
}

/* An input and a buffer that are said not to be written, but are volatile or have another name. */
static void test_volatile_loads_stay(void **state)
{
    (void)state;
    struct pm_words out = canonical_in(PM_STAGE_FRAGMENT, "volatile_loads.spvasm", 6, NULL);
    assert_int_equal(pm_test_count(&out, "OpLoad"), 6);
    assert_int_equal(pm_test_count(&out, "UserSemantic"), 0);
    pm_words_finish(&out);
}

/* A loop that waits for another invocation stays, in a shader that is not simplified. */
static void test_loops_that_wait_stay(void **state)
{
    (void)state;
    struct pm_error kept;
    struct pm_words out = canonical_in(PM_STAGE_COMPUTE, "waits.spvasm", 3, &kept);
    assert_int_equal(kept.code, PM_ERROR_UNSUPPORTED);
    assert_int_equal(pm_test_count(&out, "OpLoopMerge"), 1);
    pm_words_finish(&out);
}

/* What is made again behind a loop stands before what needs it, and never behind a merge
 * instruction. */
static void test_behind_loops(void **state)
{
    (void)state;
    struct pm_error kept;
    struct pm_words out = canonical_in(PM_STAGE_COMPUTE, "behind_loops.spvasm", 3, &kept);
    assert_string_equal(kept.message, "");
    assert_int_equal(pm_test_count(&out, "OpSwitch"), 1);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

static void test_debug_information_is_no_part(void **state)
{
    (void)state;
    struct pm_words plain = canonical_of("plain.spvasm", NULL, 0);
    struct pm_words decorated = canonical_of("decorated.spvasm", NULL, 0);
    assert_int_equal(plain.data[2], 0);
    assert_same_words(&plain, &decorated);
    pm_words_finish(&plain);
    pm_words_finish(&decorated);
}

/* Nor which of two equal constants is used. */
static void test_equal_constants_are_one(void **state)
{
    (void)state;
    struct pm_words plain = canonical_of("plain.spvasm", NULL, 0);
    static const char *const twice[] = {"constant_twice.spvasm", "frozen_twice.spvasm"};
    for (size_t i = 0; i < 2; i++) {
        struct pm_words words = canonical_of(twice[i], NULL, 0);
        assert_same_words(&plain, &words);
        pm_words_finish(&words);
    }
    pm_words_finish(&plain);
}

/* Pointers that are declared ahead stay so only where a type leads back to itself; a list's element
 * does, and what holds it. The optimizer crashes where one is declared behind what it declares. */
static void test_forward_pointers(void **state)
{
    (void)state;
    struct pm_words plain = canonical_of("references.spvasm", NULL, 0);
    struct pm_words ahead = canonical_of("references_ahead.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&ahead, "OpTypeForwardPointer"), 0);
    assert_same_words(&plain, &ahead);
    pm_words_finish(&plain);
    pm_words_finish(&ahead);
    static const char *const themselves[] = {"reference_list.spvasm", "reference_tree.spvasm"};
    for (size_t i = 0; i < 2; i++) {
        struct pm_words words = canonical_of(themselves[i], NULL, 0);
        assert_int_equal(pm_test_count(&words, "OpTypeForwardPointer"), 1);
        assert_idempotent(&words);
        pm_words_finish(&words);
    }
}

/* And where one is of bytes or halves that are only stored and SPIRV-Tools would refuse what holds
 * it. That of a word goes. */
static void test_references_to_bytes(void **state)
{
    (void)state;
    static const char *const small[] = {"references_bytes.spvasm", "references_matrix.spvasm"};
    for (size_t i = 0; i < 2; i++) {
        struct pm_words words = canonical_of(small[i], NULL, 0);
        assert_int_equal(pm_test_count(&words, "OpTypeForwardPointer"), 1);
        assert_idempotent(&words);
        pm_words_finish(&words);
    }
}

/* Where it would not, whether the compiler declared it ahead is no part of the shader: its key is
 * that of the one that is not. */
static void test_references_to_bytes_that_may_be_held(void **state)
{
    (void)state;
    static const char name[] = "OpTypeForwardPointer ";
    struct pm_words module = pm_test_assemble_file("references_stored.spvasm", 3);
    char *text = pm_test_disassemble(&module), *line = strstr(text, name);
    assert_non_null(line);
    line[0] = ';';
    struct pm_words plain_module = pm_test_assemble(text, 3), plain;
    struct pm_error error = {0};
    assert_int_equal(pm_test_count(&plain_module, name), 0);
    if (!canonicalize(&plain_module, PM_STAGE_COMPUTE, "main", NULL, 0, &plain, &error))
        fail_msg("%s", error.message);
    struct pm_words ahead = canonical_of("references_stored.spvasm", NULL, 0);
    assert_same_words(&plain, &ahead);
    pm_words_finish(&ahead);
    pm_words_finish(&plain);
    pm_words_finish(&plain_module);
    pm_words_finish(&module);
    free(text);
}

/* Assembled from a module's text with the instructions of this name in reverse order. */
static struct pm_words with_reversed(const struct pm_words *module, const char *name)
{
    char *text = pm_test_disassemble(module), *reversed = calloc(strlen(text) + 1, 1);
    const char *lines[64], *from = text;
    size_t count = 0;
    assert_non_null(reversed);
    for (const char *at = text; (at = strstr(at, name)); at += strlen(name)) {
        assert_true(count < 64);
        lines[count++] = at;
    }
    assert_true(count > 1);
    for (size_t i = 0; i < count; i++) {
        const char *other = lines[count - 1 - i];
        strncat(reversed, from, (size_t)(lines[i] - from));
        strncat(reversed, other, strcspn(other, "\n"));
        from = lines[i] + strcspn(lines[i], "\n");
    }
    strcat(reversed, from);
    struct pm_words words = pm_test_assemble(reversed, 3);
    free(text);
    free(reversed);
    return words;
}

/* Declared in another order it is the same shader. */
static void test_order_is_no_part(void **state)
{
    (void)state;
    static const char *const names[] = {"OpCapability ", "OpDecorate %"};
    struct pm_words out = canonical_of("spec.spvasm", NULL, 0);
    struct pm_words module = pm_test_assemble_file("spec.spvasm", 3);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct pm_words reversed = with_reversed(&module, names[i]), other;
        struct pm_error error = {0};
        if (!canonicalize(&reversed, PM_STAGE_COMPUTE, "main", NULL, 0, &other, &error))
            fail_msg("%s", error.message);
        assert_same_words(&out, &other);
        pm_words_finish(&other);
        pm_words_finish(&reversed);
    }
    pm_words_finish(&module);
    pm_words_finish(&out);
}

static void test_entry_points(void **state)
{
    (void)state;
    struct pm_words module = pm_test_assemble_file("decorated.spvasm", 3);
    struct pm_words out;
    struct pm_error error = {0};
    assert_true(canonicalize(&module, PM_STAGE_COMPUTE, "other", NULL, 0, &out, &error));
    assert_int_equal(pm_test_count(&out, "OpEntryPoint"), 1);
    assert_int_equal(pm_test_count(&out, "LocalSize 16 1 1"), 1);
    assert_int_equal(pm_test_count(&out, "OpVariable"), 0);
    pm_words_finish(&out);
    assert_false(canonicalize(&module, PM_STAGE_COMPUTE, "nobody", NULL, 0, &out, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_non_null(strstr(error.message, "nobody"));
    assert_false(canonicalize(&module, PM_STAGE_FRAGMENT, "main", NULL, 0, &out, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    pm_words_finish(&module);
}

/* ---- control flow ---- */

static void test_early_returns(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("return.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&out, "OpFunctionCall"), 0);
    assert_int_equal(pm_test_count(&out, "OpFunctionEnd"), 1);
    assert_int_equal(pm_test_count(&out, "OpReturn"), 2);
    assert_int_equal(pm_test_count(&out, "OpVariable %_ptr_Function"), 0);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* ---- the corpus ---- */

/* What people read is the same shader: its blocks and candidates have the same numbers. */
static void assert_named_is_the_same(const struct pm_canonicalize_info *info, const char *name,
                                     const struct pm_words *canonical)
{
    struct pm_canonicalize_info with_names = *info;
    struct pm_words named;
    struct pm_error error = {0};
    struct pm_block_points blocks[2];
    struct pm_zero_points zeros[2];
    with_names.keep_names = true;
    if (!pm_canonicalize(&with_names, &named, &error))
        fail_msg("%s, with names: %s", name, error.message);
    assert_int_equal(pm_test_count(&named, "OpLine"), 0);
    assert_int_equal(pm_test_count(&named, "OpString"), 0);
    const struct pm_words *modules[2] = {canonical, &named};
    for (int i = 0; i < 2; i++)
        if (!pm_points_blocks(modules[i]->data, modules[i]->count, &blocks[i], &error) ||
            !pm_zero_candidates(modules[i]->data, modules[i]->count, &zeros[i], &error))
            fail_msg("%s: %s", name, error.message);
    assert_int_equal(blocks[0].count, blocks[1].count);
    assert_int_equal(zeros[0].count, zeros[1].count);
    for (uint32_t i = 0; i < zeros[0].count; i++) {
        assert_int_equal(zeros[0].candidates[i].block, zeros[1].candidates[i].block);
        assert_int_equal(zeros[0].candidates[i].components, zeros[1].candidates[i].components);
    }
    for (int i = 0; i < 2; i++) {
        pm_block_points_finish(&blocks[i]);
        pm_zero_points_finish(&zeros[i]);
    }
    pm_words_finish(&named);
}

static struct pm_words canonical_of_file(const struct corpus_file *file)
{
    const bool nested = strstr(file->name, "nested.spvasm") != NULL;
    const bool fragment = nested || strstr(file->name, ".frag.");
    const struct pm_canonicalize_info info = {
        .words = file->words,
        .word_count = file->count,
        .stage = fragment ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
        .entry_point = nested ? "shade" : "main",
        .target = {.vulkan_minor = file->vulkan_minor, .spirv_1_4 = file->spirv_1_4}};
    struct pm_words out, again;
    struct pm_error error = {0};
    if (!pm_canonicalize(&info, &out, &error))
        fail_msg("%s: %s", file->name, error.message);
    struct pm_canonicalize_info second = info;
    second.words = out.data;
    second.word_count = out.count;
    if (!pm_canonicalize(&second, &again, &error))
        fail_msg("%s, canonicalized: %s", file->name, error.message);
    assert_same_words(&out, &again);
    pm_words_finish(&again);
    assert_named_is_the_same(&info, file->name, &out);
    return out;
}

/* Every module stays valid and is stable, and the same shader compiled with debug information is
 * the same one. */
static void test_corpus(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    size_t pairs = 0;
    for (size_t i = 0; i < corpus.count; i++) {
        const struct corpus_file *file = &corpus.files[i];
        if (strstr(file->name, ".vert."))
            continue;
        struct pm_words out = canonical_of_file(file);
        assert_int_equal(pm_test_count(&out, "OpFunctionCall"), 0);
        char plain[256];
        snprintf(plain, sizeof plain, "%s", file->name);
        char *variant = strstr(plain, ".g.spv");
        if (variant) {
            strcpy(variant, ".plain.");
            struct pm_words other = canonical_of_file(corpus_find(&corpus, plain));
            assert_same_words(&out, &other);
            pm_words_finish(&other);
            pairs++;
        }
        pm_words_finish(&out);
    }
    assert_true(pairs > 20);
    corpus_finish(&corpus);
}

/* ---- casts and back ---- */

static void test_bitcasts(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("bitcasts.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&out, "OpBitcast"), 0);
    assert_int_equal(pm_test_count(&out, "OpPhi %float"), 1);
    assert_int_equal(pm_test_count(&out, "OpPhi %uint"), 1);
    assert_int_equal(pm_test_count(&out, "OpSelect %float"), 1);
    assert_int_equal(pm_test_count(&out, "OpCompositeConstruct %v4float"), 1);
    assert_int_equal(pm_test_count(&out, "%v4uint"), 0);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* Execution modes of extensions that translation layers and engines declare today: the shader is
 * taken, and says so still. */
static void test_newer_modes(void **state)
{
    (void)state;
    static const struct {
        const char *capability, *extension, *mode;
    } newer[] = {
        {"Shader", "SPV_KHR_maximal_reconvergence", "MaximallyReconvergesKHR"},
        {"Shader", "SPV_KHR_subgroup_uniform_control_flow", "SubgroupUniformControlFlowKHR"},
        {"FloatControls2", "SPV_KHR_float_controls2", NULL},
        {"ComputeDerivativeGroupQuadsKHR", "SPV_KHR_compute_shader_derivatives",
         "DerivativeGroupQuadsKHR"},
    };
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        char text[2048], mode[96] = "";
        if (newer[i].mode)
            snprintf(mode, sizeof mode, "OpExecutionMode %%main %s\n", newer[i].mode);
        snprintf(text, sizeof text,
                 "OpCapability Shader\nOpCapability %s\nOpExtension \"%s\"\n"
                 "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\"\n"
                 "OpExecutionMode %%main LocalSize 2 2 1\n%s"
                 "%%void = OpTypeVoid\n%%function = OpTypeFunction %%void\n"
                 "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
                 "OpReturn\nOpFunctionEnd\n",
                 newer[i].capability, newer[i].extension, mode);
        struct pm_words module = pm_test_assemble(text, 3), out;
        struct pm_error error = {0};
        if (!canonicalize(&module, PM_STAGE_COMPUTE, "main", NULL, 0, &out, &error))
            fail_msg("%s: %s", newer[i].extension, error.message);
        assert_int_equal(pm_test_count(&out, newer[i].extension), 1);
        if (newer[i].mode)
            assert_true(pm_test_count(&out, newer[i].mode) >= 1);
        pm_words_finish(&out);
        pm_words_finish(&module);
    }
}

/* Buffers that are addressed by bytes: each address stays what it is. */
static void test_raw_chains(void **state)
{
    (void)state;
    struct pm_words out = canonical_of("raw_chains.spvasm", NULL, 0);
    assert_int_equal(pm_test_count(&out, "OpFunctionCall"), 0);
    assert_int_equal(pm_test_count(&out, "OpRawAccessChainNV"), 3);
    assert_int_equal(pm_test_count(&out, "RobustnessPerComponentNV"), 2);
    assert_int_equal(pm_test_count(&out, "RobustnessPerElementNV"), 1);
    assert_int_equal(pm_test_count(&out, "Aligned 4"), 3);
    assert_idempotent(&out);
    pm_words_finish(&out);
}

/* What says whether a shader's tests may come before it. */
static void test_facts(void **state)
{
    (void)state;
    static const struct {
        const char *capability, *type, *body;
        bool kills, reads;
    } shaders[] = {
        {"Shader", "", "OpReturn\n", false, false},
        {"Shader", "", "OpKill\n", true, false},
        {"InputAttachment",
         "%float = OpTypeFloat 32\n%image = OpTypeImage %float SubpassData 0 0 0 2 Unknown\n",
         "OpReturn\n", false, true},
    };
    for (size_t i = 0; i < sizeof shaders / sizeof shaders[0]; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "OpCapability Shader\nOpCapability %s\nOpMemoryModel Logical GLSL450\n"
                 "OpEntryPoint Fragment %%main \"main\"\nOpExecutionMode %%main OriginUpperLeft\n"
                 "%s%%void = OpTypeVoid\n%%function = OpTypeFunction %%void\n"
                 "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
                 "%sOpFunctionEnd\n",
                 shaders[i].capability, shaders[i].type, shaders[i].body);
        struct pm_words words = pm_test_assemble(text, 3);
        struct pm_error error = {0};
        struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
        assert_non_null(module);
        struct pm_shader_facts facts;
        assert_true(pm_shader_facts(module, "main", PM_STAGE_FRAGMENT, &facts, &error));
        assert_int_equal(facts.uses_kill, shaders[i].kills);
        assert_int_equal(facts.reads_attachments, shaders[i].reads);
        pm_ir_module_destroy(module);
        pm_words_finish(&words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec_defaults),
        cmocka_unit_test(test_spec_values),
        cmocka_unit_test(test_spec_values_in_words),
        cmocka_unit_test(test_floats_are_left_alone),
        cmocka_unit_test(test_private_variables_of_callees_stay),
        cmocka_unit_test(test_loads_of_loops_stay_in_them),
        cmocka_unit_test(test_samples_of_loops_stay_in_them),
        cmocka_unit_test(test_volatile_loads_stay),
        cmocka_unit_test(test_loops_that_wait_stay),
        cmocka_unit_test(test_behind_loops),
        cmocka_unit_test(test_debug_information_is_no_part),
        cmocka_unit_test(test_equal_constants_are_one),
        cmocka_unit_test(test_forward_pointers),
        cmocka_unit_test(test_references_to_bytes),
        cmocka_unit_test(test_references_to_bytes_that_may_be_held),
        cmocka_unit_test(test_order_is_no_part),
        cmocka_unit_test(test_entry_points),
        cmocka_unit_test(test_early_returns),
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_bitcasts),
        cmocka_unit_test(test_newer_modes),
        cmocka_unit_test(test_raw_chains),
        cmocka_unit_test(test_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
