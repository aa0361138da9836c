/* Of each product's matrix as much is known in whatever is made of a shader as in the shader itself
 * (analysis_transposes.h), and the bits are the same on every driver: the canonical module, what
 * every recipe makes, every pass over blocks, and what is specialized for zeros and known words.
 * What is made of a shader in several passes is test_partition.c's.
 *
 * Every float is NoContraction, so that no driver does it otherwise for another reason (HAZARDS 3).
 */
#include "base/buffer.h"
#include "shader_rewrite/analysis/analysis_transposes.h"
#include "shader_rewrite/ir/ir_walk.h"
#include "tests/shader_rewrite/differential/adversary.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/differential/adversary_constants.h"
#include "tests/shader_rewrite/differential/differential.h"
#include "tests/shader_rewrite/gpu_driver.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static struct differential differential;
static const struct pm_target target = {.vulkan_minor = 3, .uniform_buffer_standard_layout = true};

enum { SEED = 5 };

/* A body has %at, the invocation's number, %m, a matrix, %v and %w, vectors, and %x, a float, of
 * its own; %p is a matrix and %u an integer that are in the push constants. It begins in %entry and
 * gives %result, a vector. All of its products are of matrices that are known to be transposed
 * ones, or none is. */
static const struct subject {
    const char *name, *functions, *body;
    bool known;
    const char *made; /* by this way something is made of it; NULL: canonical alone */
} subjects[] = {
    /* The loop's matrix is an OpPhi behind it once the return leads there, too. */
    {"a loop that returns", "",
     "OpBranch %h\n%h = OpLabel\n%i = OpPhi %uint %u0 %entry %next %c\nOpLoopMerge %b %c None\n"
     "OpBranch %s\n%s = OpLabel\n%f = OpConvertUToF %float %i\n%sum = OpFAdd %float %x %f\n"
     "%stop = OpFOrdGreaterThan %bool %sum %f9\nOpSelectionMerge %g None\n"
     "OpBranchConditional %stop %r %g\n%r = OpLabel\nOpReturn\n%g = OpLabel\n"
     "%n = OpCompositeInsert %m4 %sum %m 0 1\n%t = OpTranspose %m4 %n\nOpBranch %c\n"
     "%c = OpLabel\n%next = OpIAdd %uint %i %u1\n%more = OpULessThan %bool %next %u3\n"
     "OpBranchConditional %more %h %b\n%b = OpLabel\n"
     "%result = OpMatrixTimesVector %v4 %t %v\n",
     true, "one-return"},
    /* Where the check's sides meet, in the loop. */
    {"zeros in a loop", "",
     "OpBranch %h\n%h = OpLabel\n%i = OpPhi %uint %u0 %entry %next %c\n"
     "%k = OpPhi %float %f0 %entry %k2 %c\nOpLoopMerge %b %c None\n"
     "OpBranch %s\n%s = OpLabel\n%f = OpConvertUToF %float %i\n%sum = OpFAdd %float %x %f\n"
     "%zero = OpExtInst %float %glsl FMax %sum %f0\n"
     "%n = OpCompositeInsert %m4 %sum %m 0 1\n%t = OpTranspose %m4 %n\n"
     "%x1 = OpExtInst %float %glsl Sin %sum\n%x2 = OpExtInst %float %glsl Cos %x1\n"
     "%x3 = OpExtInst %float %glsl Sin %x2\n%x4 = OpFMul %float %x3 %zero\n"
     "%k2 = OpFAdd %float %k %x4\nOpBranch %c\n"
     "%c = OpLabel\n%next = OpIAdd %uint %i %u1\n%more = OpULessThan %bool %next %u3\n"
     "OpBranchConditional %more %h %b\n%b = OpLabel\n"
     "%y1 = OpVectorTimesMatrix %v4 %w %t\n%y2 = OpMatrixTimesVector %v4 %t %v\n"
     "%y = OpFAdd %v4 %y1 %y2\n%kk = OpCompositeConstruct %v4 %k2 %k2 %k2 %k2\n"
     "%result = OpFAdd %v4 %y %kk\n",
     true, "zeros"},
    /* Turns that are peeled off have what the loop leaves, too. */
    {"turns that are always made", "",
     "OpBranch %h\n%h = OpLabel\n%i = OpPhi %uint %u0 %entry %next %c\n"
     "%k = OpPhi %float %x %entry %k2 %c\nOpLoopMerge %b %c None\n"
     "OpBranch %s\n%s = OpLabel\n%n = OpCompositeInsert %m4 %k %m 2 1\n"
     "%t = OpTranspose %m4 %n\n%y = OpMatrixTimesVector %v4 %t %v\n"
     "%y0 = OpCompositeExtract %float %y 0\n%k2 = OpExtInst %float %glsl Sin %y0\nOpBranch %c\n"
     "%c = OpLabel\n%next = OpIAdd %uint %i %u1\n%more = OpULessThan %bool %next %u3\n"
     "OpBranchConditional %more %h %b\n%b = OpLabel\n"
     "%result = OpMatrixTimesVector %v4 %t %w\n",
     true, "optimize_peel"},
    /* In the first turn, where it is peeled off, the OpPhi is a transposed matrix. */
    {"a loop's first matrix", "",
     "%t = OpTranspose %m4 %m\nOpBranch %h\n%h = OpLabel\n"
     "%i = OpPhi %uint %u0 %entry %next %c\n%q = OpPhi %m4 %t %entry %q2 %c\n"
     "%sum = OpPhi %v4 %w %entry %sum2 %c\nOpLoopMerge %b %c None\n"
     "OpBranch %s\n%s = OpLabel\n%y = OpMatrixTimesVector %v4 %q %v\n"
     "%sum2 = OpFAdd %v4 %sum %y\n%y0 = OpCompositeExtract %float %y 0\n"
     "%q2 = OpCompositeInsert %m4 %y0 %m 1 2\nOpBranch %c\n"
     "%c = OpLabel\n%next = OpIAdd %uint %i %u1\n%more = OpULessThan %bool %next %u3\n"
     "OpBranchConditional %more %h %b\n%b = OpLabel\n"
     "%result = OpCopyObject %v4 %sum2\n",
     false, "optimize_peel"},
    /* A matrix of known words is a constant. */
    {"a known matrix", "",
     "%t = OpTranspose %m4 %p\n%y1 = OpVectorTimesMatrix %v4 %w %t\n"
     "%y2 = OpMatrixTimesVector %v4 %t %v\n%result = OpFAdd %v4 %y1 %y2\n",
     true, "words"},
    /* A side that is known to be taken. */
    {"a known side", "",
     "%t = OpTranspose %m4 %m\n%is = OpULessThan %bool %u %u9\nOpSelectionMerge %b None\n"
     "OpBranchConditional %is %s %b\n%s = OpLabel\nOpBranch %b\n%b = OpLabel\n"
     "%q = OpPhi %m4 %m %entry %t %s\n%result = OpMatrixTimesVector %v4 %q %v\n",
     false, "words"},
    /* A function's returns are one before it is inlined. */
    {"a function that returns in a loop",
     "%f = OpFunction %v4 None %turned_type\n%fm = OpFunctionParameter %m4\n"
     "%fv = OpFunctionParameter %v4\n%fx = OpFunctionParameter %float\n%fe = OpLabel\n"
     "OpBranch %h\n%h = OpLabel\n%i = OpPhi %uint %u0 %fe %next %c\nOpLoopMerge %b %c None\n"
     "OpBranch %s\n%s = OpLabel\n%fi = OpConvertUToF %float %i\n%sum = OpFAdd %float %fx %fi\n"
     "%stop = OpFOrdGreaterThan %bool %sum %f9\nOpSelectionMerge %g None\n"
     "OpBranchConditional %stop %r %g\n%r = OpLabel\nOpReturnValue %fv\n%g = OpLabel\n"
     "%n = OpCompositeInsert %m4 %sum %fm 0 1\n%t = OpTranspose %m4 %n\nOpBranch %c\n"
     "%c = OpLabel\n%next = OpIAdd %uint %i %u1\n%more = OpULessThan %bool %next %u3\n"
     "OpBranchConditional %more %h %b\n%b = OpLabel\n"
     "%fr = OpMatrixTimesVector %v4 %t %fv\nOpReturnValue %fr\nOpFunctionEnd\n",
     "%result = OpFunctionCall %v4 %f %m %v %x\n", true, NULL},
};

static const char frame[] =
    "%void = OpTypeVoid\n%function = OpTypeFunction %void\n%bool = OpTypeBool\n"
    "%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n"
    "%uint3 = OpTypeVector %uint 3\n%m4 = OpTypeMatrix %v4 4\n"
    "%turned_type = OpTypeFunction %v4 %m4 %v4 %float\n"
    "%f0 = OpConstant %float 0\n%f9 = OpConstant %float 9\n"
    "%float_array = OpTypeRuntimeArray %float\n%floats = OpTypeStruct %float_array\n"
    "%vector_array = OpTypeRuntimeArray %v4\n%vectors = OpTypeStruct %vector_array\n"
    "%outs = OpTypeStruct %float_array\n%push_array = OpTypeArray %float %u16\n"
    "%pushed = OpTypeStruct %push_array %uint\n"
    "%to_floats = OpTypePointer StorageBuffer %floats\n"
    "%to_vectors = OpTypePointer StorageBuffer %vectors\n"
    "%to_outs = OpTypePointer StorageBuffer %outs\n"
    "%to_pushed = OpTypePointer PushConstant %pushed\n"
    "%to_float = OpTypePointer StorageBuffer %float\n"
    "%to_vector = OpTypePointer StorageBuffer %v4\n"
    "%push_float = OpTypePointer PushConstant %float\n"
    "%push_uint = OpTypePointer PushConstant %uint\n"
    "%to_id = OpTypePointer Input %uint3\n%in_id = OpVariable %to_id Input\n"
    "%in_floats = OpVariable %to_floats StorageBuffer\n"
    "%in_vectors = OpVariable %to_vectors StorageBuffer\n"
    "%out = OpVariable %to_outs StorageBuffer\n%push = OpVariable %to_pushed PushConstant\n";

/* How the buffers of the random shaders' interface are laid out. */
static void put_decorations(struct pm_buffer *text)
{
    static const struct {
        const char *variable, *type;
        uint32_t binding, offset;
    } buffers[] = {{"in_floats", "floats", 0, 0},
                   {"in_vectors", "vectors", 2, 0},
                   {"out", "outs", 3, RANDOM_SHADER_PLACES * 4}};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        pm_buffer_printf(text,
                         "OpDecorate %%%s Block\nOpMemberDecorate %%%s 0 Offset %u\n"
                         "OpDecorate %%%s DescriptorSet 0\nOpDecorate %%%s Binding %u\n",
                         buffers[i].type, buffers[i].type, buffers[i].offset, buffers[i].variable,
                         buffers[i].variable, buffers[i].binding);
    pm_buffer_append_string(
        text, "OpDecorate %in_id BuiltIn GlobalInvocationId\nOpDecorate %in_floats NonWritable\n"
              "OpDecorate %in_vectors NonWritable\nOpDecorate %float_array ArrayStride 4\n"
              "OpDecorate %vector_array ArrayStride 16\nOpDecorate %pushed Block\n"
              "OpMemberDecorate %pushed 0 Offset 0\nOpMemberDecorate %pushed 1 Offset 64\n"
              "OpDecorate %push_array ArrayStride 4\n");
}

/* Six vectors from the invocation's number on, of which four are a matrix; the words pushed. */
static void put_inputs(struct pm_buffer *text)
{
    static const char *const names[] = {"v", "w", "m0", "m1", "m2", "m3"};
    for (int i = 0; i < 6; i++)
        pm_buffer_printf(text,
                         "%%a%d = OpIAdd %%uint %%at %%u%d\n"
                         "%%b%d = OpAccessChain %%to_vector %%in_vectors %%u0 %%a%d\n"
                         "%%%s = OpLoad %%v4 %%b%d\n",
                         i, i, i, i, names[i], i);
    for (int i = 0; i < 16; i++)
        pm_buffer_printf(text,
                         "%%d%d = OpAccessChain %%push_float %%push %%u0 %%u%d\n"
                         "%%e%d = OpLoad %%float %%d%d\n",
                         i, i, i, i);
    for (int i = 0; i < 4; i++)
        pm_buffer_printf(text, "%%p%d = OpCompositeConstruct %%v4 %%e%d %%e%d %%e%d %%e%d\n", i,
                         4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    pm_buffer_append_string(text, "%m = OpCompositeConstruct %m4 %m0 %m1 %m2 %m3\n"
                                  "%p = OpCompositeConstruct %m4 %p0 %p1 %p2 %p3\n"
                                  "%to_u = OpAccessChain %push_uint %push %u1\n"
                                  "%u = OpLoad %uint %to_u\n"
                                  "%to_x = OpAccessChain %to_float %in_floats %u0 %at\n"
                                  "%x = OpLoad %float %to_x\n");
}

static struct pm_words module_of(const struct subject *subject)
{
    struct pm_buffer text;
    pm_buffer_init(&text, 1 << 16);
    pm_buffer_append_string(&text, "OpCapability Shader\n"
                                   "OpExtension \"SPV_KHR_storage_buffer_storage_class\"\n"
                                   "%glsl = OpExtInstImport \"GLSL.std.450\"\n"
                                   "OpMemoryModel Logical GLSL450\n"
                                   "OpEntryPoint GLCompute %main \"main\" %in_id\n"
                                   "OpExecutionMode %main LocalSize 64 1 1\n");
    put_decorations(&text);
    pm_buffer_append_string(&text, "%uint = OpTypeInt 32 0\n");
    for (int i = 0; i <= 16; i++)
        pm_buffer_printf(&text, "%%u%d = OpConstant %%uint %d\n", i, i);
    pm_buffer_append_string(&text, frame);
    pm_buffer_append_string(&text, subject->functions);
    pm_buffer_append_string(&text, "%main = OpFunction %void None %function\n%entry = OpLabel\n"
                                   "%id = OpLoad %uint3 %in_id\n"
                                   "%at = OpCompositeExtract %uint %id 0\n");
    put_inputs(&text);
    pm_buffer_append_string(&text, subject->body);
    pm_buffer_append_string(&text, "%first = OpIMul %uint %at %u4\n");
    for (int i = 0; i < 4; i++)
        pm_buffer_printf(&text,
                         "%%g%d = OpIAdd %%uint %%first %%u%d\n"
                         "%%j%d = OpAccessChain %%to_float %%out %%u0 %%g%d\n"
                         "%%l%d = OpCompositeExtract %%float %%result %d\nOpStore %%j%d %%l%d\n",
                         i, i, i, i, i, i, i, i);
    assert_true(
        pm_buffer_append(&text, "OpReturn\nOpFunctionEnd\n", sizeof "OpReturn\nOpFunctionEnd\n"));
    struct pm_words words = pm_test_assemble((const char *)text.data, 3);
    pm_buffer_finish(&text);
    return words;
}

/* ---- what is made of one ---- */

enum { MOST_RUN = 64 };

struct checking {
    const struct subject *subject;
    struct pm_words ran[MOST_RUN]; /* what was run, since several ways come to the same */
    uint32_t ran_count;
    struct pm_words canonical;
    struct differential_output expected;
    bool made; /* by the way that its subject names */
};

static void assert_known(const struct checking *c, const char *way, const struct pm_words *words)
{
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    if (!module)
        fail_msg("%s", error.message);
    pm_transposes_find(module);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        const struct pm_ir_instr *instr = walk.instr;
        if (pm_takes_matrices(instr->opcode) && instr->opcode != SpvOpTranspose &&
            c->subject->known != (pm_plain_matrices(instr) == 0))
            fail_msg("%s, %s: a matrix is %s to be transposed:\n%s", c->subject->name, way,
                     c->subject->known ? "not known any more" : "known",
                     pm_test_disassemble(words));
    }
    pm_ir_module_destroy(module);
}

static void assert_same_bits(const struct checking *c, const char *way,
                             const struct pm_words *words)
{
    static struct differential_output output;
    size_t first = 0;
    struct pm_words precise = differential_precise(words);
    differential_run(&differential, &precise, PM_STAGE_COMPUTE, NULL, &output);
    const size_t different = differential_compare(&c->expected, &output, &first);
    if (different)
        fail_msg("%s, %s on %s: %zu words differ, from word %zu on: 0x%08x, not 0x%08x",
                 c->subject->name, way, differential.gpu.name, different, first,
                 output.words[first], c->expected.words[first]);
    pm_words_finish(&precise);
}

static bool was_run(const struct checking *c, const struct pm_words *words)
{
    for (uint32_t i = 0; i < c->ran_count; i++)
        if (c->ran[i].count == words->count &&
            memcmp(c->ran[i].data, words->data, words->count * sizeof *words->data) == 0)
            return true;
    return false;
}

/* Takes the words. */
static void check(struct checking *c, const char *way, struct pm_words *words)
{
    c->made |= words->count && c->subject->made && strcmp(c->subject->made, way) == 0;
    if (words->count == 0 || was_run(c, words))
        return;
    assert_known(c, way, words);
    assert_same_bits(c, way, words);
    assert_true(c->ran_count < MOST_RUN);
    c->ran[c->ran_count++] = *words;
    *words = (struct pm_words){0};
}

static void check_recipes(struct checking *c, const struct pm_driver *driver)
{
    struct adversary_block_profile blocks;
    struct pm_error error = {0};
    if (!adversary_block_profile(0, SEED, &c->canonical, &blocks, &error))
        fail_msg("%s", error.message);
    const struct pm_optimize_blocks_info by_blocks = {.profile = &blocks.profile,
                                                      .points = &blocks.points,
                                                      .turns = &blocks.turns,
                                                      .passes = PM_BLOCK_ALL,
                                                      .uniform_share = 0.9};
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const struct pm_recipe *recipe = pm_recipe_at(r);
        const struct pm_variant_info info = {.choice = {.recipe = recipe},
                                             .target = target,
                                             .driver = driver,
                                             .blocks = &by_blocks,
                                             .subgroup_vote = differential.gpu.quad};
        struct pm_words made;
        if (!pm_make_variant(c->canonical.data, c->canonical.count, &info, &made, &error))
            fail_msg("%s, %s: %s", c->subject->name, recipe->name, error.message);
        check(c, recipe->name, &made);
        pm_words_finish(&made);
    }
    adversary_block_profile_finish(&blocks);
}

static void check_blocks(struct checking *c, const struct pm_driver *driver)
{
    for (uint32_t pass = 0; pass < PM_BLOCK_PASSES; pass++)
        for (uint32_t way = 0; way < ADVERSARY_BLOCK_WAYS; way++) {
            struct pm_optimized_blocks made;
            struct pm_error error = {0};
            if (!adversary_blocks(1u << pass, way, SEED, &c->canonical, differential.gpu.quad,
                                  &target, driver, &made, &error))
                fail_msg("%s, %s: %s", c->subject->name,
                         pm_block_pass_name((enum pm_block_pass)pass), error.message);
            check(c, pm_block_pass_name((enum pm_block_pass)pass), &made.words);
            pm_optimized_blocks_finish(&made);
        }
}

static void check_zeros(struct checking *c, const struct pm_driver *driver)
{
    for (uint32_t way = 0; way < ADVERSARY_WAYS; way++) {
        const struct pm_zero_beyond beyond = adversary_beyond(2 * way);
        struct pm_specialized made;
        struct pm_error error = {0};
        if (!adversary_specialize(&adversary_ways[way], SEED, &beyond, &c->canonical, false,
                                  differential.gpu.quad, &target, driver, &made, &error))
            fail_msg("%s, %s: %s", c->subject->name, adversary_ways[way].name, error.message);
        check(c, "zeros", &made.words);
        pm_specialized_finish(&made);
    }
}

static void check_words(struct checking *c, const struct pm_driver *driver)
{
    for (uint32_t way = 0; way < ADVERSARY_CONSTANT_WAYS; way++) {
        struct pm_specialized_constants made;
        struct pm_error error = {0};
        if (!adversary_constants(way, SEED, &c->canonical, differential.inputs.push, false,
                                 differential.gpu.quad, &target, driver, &made, &error))
            fail_msg("%s, %s: %s", c->subject->name, adversary_constant_ways[way], error.message);
        check(c, "words", &made.words);
        pm_specialized_constants_finish(&made);
    }
}

static void check_subject(const struct subject *subject)
{
    struct checking c = {.subject = subject};
    struct pm_error error = {0};
    const struct pm_driver driver = gpu_driver(&differential.gpu);
    struct pm_words original = module_of(subject), precise = differential_precise(&original);
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = target};
    differential_run(&differential, &precise, PM_STAGE_COMPUTE, NULL, &c.expected);
    if (!pm_canonicalize(&info, &c.canonical, &error))
        fail_msg("%s: %s", subject->name, error.message);
    assert_known(&c, "canonical", &c.canonical);
    assert_same_bits(&c, "canonical", &c.canonical);
    check_recipes(&c, &driver);
    check_blocks(&c, &driver);
    check_zeros(&c, &driver);
    check_words(&c, &driver);
    if (subject->made && !c.made)
        fail_msg("%s: nothing is made by %s:\n%s", subject->name, subject->made,
                 pm_test_disassemble(&c.canonical));
    while (c.ran_count > 0)
        pm_words_finish(&c.ran[--c.ran_count]);
    pm_words_finish(&original);
    pm_words_finish(&precise);
    pm_words_finish(&c.canonical);
}

static void as_much_is_known(void **state)
{
    (void)state;
    differential_create(&differential);
    differential_inputs(&differential, SEED, false);
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        check_subject(&subjects[i]);
    differential_destroy(&differential);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_much_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
