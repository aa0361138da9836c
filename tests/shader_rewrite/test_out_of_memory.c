/* Each allocation of a rewrite is failed in turn: it must end in an error, leak nothing and leave
 * nothing half made. So is each piece that counting blocks takes of an arena, where a chunk of it
 * may have ended. */
#include "base/arena.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/corpus_ways.h"

#include <stdlib.h>

#include "tests/cmocka_includes.h"

#ifdef FAIL_STEP
#define NOTICED false /* C++'s algorithms go on with less */
#else
#define FAIL_STEP 1
#define NOTICED true
#endif

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_pm_arena_zalloc(struct pm_arena *arena, size_t count, size_t size);
void *__wrap_pm_arena_zalloc(struct pm_arena *arena, size_t count, size_t size);

static bool armed;
static bool in_arenas;       /* those are failed that arenas are asked for, not libc */
static size_t until_failure; /* allocations that still succeed */
static bool failed;

static bool fails(bool in_arena)
{
    if (!armed || in_arena != in_arenas || until_failure-- > 0)
        return false;
    armed = false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return fails(false) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails(false) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails(false) ? NULL : __real_realloc(old, size);
}

void *__wrap_pm_arena_zalloc(struct pm_arena *arena, size_t count, size_t size)
{
    return fails(true) ? NULL : __real_pm_arena_zalloc(arena, count, size);
}

static void arm(size_t after)
{
    armed = true;
    failed = false;
    until_failure = after;
}

typedef bool (*attempt)(const struct corpus_file *file, struct pm_error *error);

static bool round_trip(const struct corpus_file *file, struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(file->words, file->count, error);
    struct pm_words out = {0};
    bool ok = module && pm_ir_emit(module, &out, error);
    pm_words_finish(&out);
    pm_ir_module_destroy(module);
    return ok;
}

static bool find_points(const struct corpus_file *file, struct pm_error *error)
{
    struct pm_block_points points;
    bool ok = pm_points_blocks(file->words, file->count, &points, error);
    pm_block_points_finish(&points);
    return ok;
}

static bool find_zeros(const struct corpus_file *file, struct pm_error *error)
{
    struct pm_zero_points points;
    bool ok = pm_zero_candidates(file->words, file->count, &points, error);
    pm_zero_points_finish(&points);
    return ok;
}

static bool instrument(const struct corpus_file *file, corpus_instrument pass,
                       const struct pm_turn_points *turns, struct pm_error *error)
{
    const struct pm_instrument_info info =
        corpus_counting((struct pm_target){.vulkan_minor = file->vulkan_minor}, turns);
    struct pm_instrumented out;
    bool ok = pass(file->words, file->count, &info, &out, error);
    if (!ok)
        assert_true(!out.words.data && !out.blocks.units);
    pm_instrumented_finish(&out);
    return ok;
}

static bool instrument_blocks(const struct corpus_file *file, struct pm_error *error)
{
    return instrument(file, pm_instrument_blocks, NULL, error);
}

static bool instrument_zero(const struct corpus_file *file, struct pm_error *error)
{
    return instrument(file, pm_instrument_zero, NULL, error);
}

/* Of shaders without a loop that counts there is nothing to count. */
static bool instrument_turns(const struct corpus_file *file, struct pm_error *error)
{
    struct pm_turn_points turns;
    bool ok = pm_points_turns(file->words, file->count, &turns, error);
    ok = ok && (turns.count == 0 || instrument(file, pm_instrument_turns, &turns, error));
    pm_turn_points_finish(&turns);
    return ok;
}

static bool specialize_zero(const struct corpus_file *file, struct pm_error *error)
{
    enum { MOST = 1024 };
    static double zero[MOST]; /* by candidate; how many there are is found out undisturbed */
    bool was_armed = armed;
    armed = false;
    struct pm_zero_points points;
    struct pm_error none = {0};
    assert_true(pm_zero_candidates(file->words, file->count, &points, &none));
    assert_true(points.count < MOST);
    for (uint32_t i = 0; i < points.count; i++)
        zero[i] = 1 - (double)i / MOST;
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = points.count};
    pm_zero_points_finish(&points);
    const struct pm_specialize_zero_info info = {
        .profile = &profile,
        .all_candidates = true,
        .subgroup_quad = true,
        .target = {.vulkan_minor = file->vulkan_minor},
        .take_all = true,
    };
    armed = was_armed;
    struct pm_specialized out;
    bool ok = pm_specialize_zero(file->words, file->count, &info, &out, error);
    if (!ok)
        assert_null(out.words.data);
    pm_specialized_finish(&out);
    return ok;
}

/* Everything in it is rare, and loops are steady. */
static bool optimize_blocks(const struct corpus_file *file, struct pm_error *error)
{
    enum { MOST = 64 };
    static double frequency[MOST], subgroups[MOST], uniform[MOST], reached[MOST * PM_TURN_POINTS];
    const bool was_armed = armed;
    struct pm_block_points points;
    struct pm_error none = {0};
    armed = false;
    assert_true(pm_points_blocks(file->words, file->count, &points, &none));
    const uint32_t count = points.count;
    assert_true(count < MOST);
    for (uint32_t i = 0; i < count; i++) {
        frequency[i] =
            points.points[i].at_most_once ? 1 : 2 + (i > 0 && points.points[i - 1].at_most_once);
        subgroups[i] = i % 3 == 1 ? 0.001 : 1;
        uniform[i] = 1;
    }
    pm_block_points_finish(&points);
    struct pm_turn_points turns;
    assert_true(pm_points_turns(file->words, file->count, &turns, &none));
    const uint32_t turn_count = turns.count;
    pm_turn_points_finish(&turns);
    assert_true(turn_count < MOST * PM_TURN_POINTS);
    for (uint32_t i = 0; i < turn_count; i++)
        reached[i] = i % PM_TURN_POINTS < 4;
    armed = was_armed;
    const struct pm_block_profile profile = {.frequency = frequency,
                                             .uniform = uniform,
                                             .subgroups = subgroups,
                                             .block_count = count,
                                             .reached = reached,
                                             .turn_count = turn_count};
    const struct pm_optimize_blocks_info info = {.profile = &profile,
                                                 .passes = PM_BLOCK_ALL,
                                                 .uniform_share = 0.9,
                                                 .subgroup_vote = true,
                                                 .target = {.vulkan_minor = file->vulkan_minor}};
    struct pm_optimized_blocks out;
    bool ok = pm_optimize_blocks(file->words, file->count, &info, &out, error);
    if (!ok)
        assert_null(out.words.data);
    pm_optimized_blocks_finish(&out);
    return ok;
}

static bool find_constants(const struct corpus_file *file, struct pm_error *error)
{
    struct pm_constant_points points;
    bool ok = pm_points_constant(file->words, file->count, false, &points, error);
    pm_constant_points_finish(&points);
    return ok;
}

/* Points of it, found undisturbed. */
static uint32_t points_of(const struct corpus_file *file, struct pm_constant_point *points,
                          uint32_t most)
{
    const bool was_armed = armed;
    struct pm_constant_points found;
    struct pm_error none = {0};
    armed = false;
    assert_true(pm_points_constant(file->words, file->count, false, &found, &none));
    const uint32_t count = found.count < most ? found.count : most;
    assert_true(count > 0);
    for (uint32_t i = 0; i < count; i++)
        points[i] = found.points[i];
    pm_constant_points_finish(&found);
    armed = was_armed;
    return count;
}

static bool instrument_constants(const struct corpus_file *file, struct pm_error *error)
{
    struct pm_constant_point points[2];
    const uint32_t count = points_of(file, points, 2);
    const struct pm_instrument_info info = {.slot_count = 2,
                                            .target = {.vulkan_minor = file->vulkan_minor}};
    struct pm_instrumented out;
    bool ok = pm_instrument_constants(file->words, file->count, points, count, &info, &out, error);
    if (!ok)
        assert_true(!out.words.data && !out.blocks.units);
    pm_instrumented_finish(&out);
    return ok;
}

static bool specialize_constants(const struct corpus_file *file, struct pm_error *error)
{
    struct pm_constant_known known = {.value = 2};
    points_of(file, &known.point, 1);
    const struct pm_specialize_constants_info info = {
        .known = &known,
        .known_count = 1,
        .target = {.vulkan_minor = file->vulkan_minor},
        .take_all = true,
    };
    struct pm_specialized_constants out;
    bool ok = pm_specialize_constants(file->words, file->count, &info, &out, error);
    if (!ok)
        assert_null(out.words.data);
    pm_specialized_constants_finish(&out);
    return ok;
}

/* own: variables of the shader's own are spilled for it. */
static bool cut(const struct corpus_file *file, uint32_t alu, bool own, struct pm_error *error)
{
    const struct pm_pass_limits limits = corpus_pass_limits(alu);
    const struct pm_partition_info info = {
        .limits = &limits, .target = {.vulkan_minor = file->vulkan_minor}, .regions = alu < 100};
    struct pm_partitioned out;
    bool ok = pm_partition(file->words, file->count, &info, &out, error);
    if (!ok)
        assert_null(out.passes);
    else
        assert_int_equal(out.own_words > 0, own);
    pm_partitioned_finish(&out);
    return ok;
}

static bool cut_finely(const struct corpus_file *file, struct pm_error *error)
{
    return cut(file, 12, false, error);
}

static void fail_each_in(attempt try, const struct corpus_file *file)
{
    size_t after = 0;
    for (;; after += FAIL_STEP) {
        struct pm_error error = {0};
        arm(after);
        bool ok = try(file, &error);
        armed = false;
        if (!failed) {
            assert_true(ok);
            break;
        }
        if (ok && NOTICED)
            fail_msg("%s: allocation %zu failed and nobody noticed", file->name, after);
        assert_int_equal(error.code, ok ? PM_OK : PM_ERROR_MEMORY);
    }
    assert_true(after > 2);
}

static void fail_each_of(attempt try, const char *const *names, size_t count)
{
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t n = 0; n < count; n++)
        fail_each_in(try, corpus_find(&corpus, names[n]));
    corpus_finish(&corpus);
}

static void fail_each(attempt try)
{
    static const char *const names[] = {"nested.spvasm.vulkan1.1.", "demote.frag.vulkan1.1.O",
                                        "loops.comp.vulkan1.1.g"};
    fail_each_of(try, names, sizeof(names) / sizeof(names[0]));
}

static void test_constants(void **state)
{
    (void)state;
    static const char *const pushes[] = {"physical_pointers.comp.vulkan1.2.O"};
    static const char *const uniforms[] = {"material.frag.vulkan1.1.O"};
    fail_each_of(find_constants, pushes, 1);
    fail_each_of(find_constants, uniforms, 1);
    fail_each_of(instrument_constants, uniforms, 1);
    fail_each_of(specialize_constants, pushes, 1);
}

static void test_optimize_blocks(void **state)
{
    (void)state;
    fail_each(optimize_blocks);
}

/* A fragment shader of which each pass has a part. */
static const char shades[] =
    "OpCapability Shader\n%e = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %m \"main\" %in %out\n"
    "OpExecutionMode %m OriginUpperLeft\nOpDecorate %in Location 0\nOpDecorate %out Location 0\n"
    "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%f = OpTypeFloat 32\n"
    "%v = OpTypeVector %f 4\n%pi = OpTypePointer Input %v\n%po = OpTypePointer Output %v\n"
    "%in = OpVariable %pi Input\n%out = OpVariable %po Output\n"
    "%m = OpFunction %void None %fn\n%l = OpLabel\n%x = OpLoad %v %in\n"
    "%a = OpExtInst %v %e Sin %x\n%b = OpExtInst %v %e Cos %x\n%c = OpFMul %v %a %b\n"
    "%d = OpExtInst %v %e Exp2 %c\n%g = OpFAdd %v %d %a\n%h = OpFMul %v %g %b\n"
    "%i = OpExtInst %v %e Log2 %h\n%j = OpFAdd %v %i %c\nOpStore %out %j\n"
    "OpReturn\nOpFunctionEnd\n";

/* A loop's worth of loads and stores of an array of the shader's own, which fit no pass. */
static const char own_array[] = "OpCapability Shader\n"
                                "OpMemoryModel Logical GLSL450\n"
                                "OpEntryPoint GLCompute %main \"main\" %id\n"
                                "OpExecutionMode %main LocalSize 4 1 1\n"
                                "OpDecorate %id BuiltIn GlobalInvocationId\n"
                                "OpDecorate %words ArrayStride 4\n"
                                "OpDecorate %block Block\n"
                                "OpMemberDecorate %block 0 Offset 0\n"
                                "OpDecorate %out DescriptorSet 0\n"
                                "OpDecorate %out Binding 0\n"
                                "%void = OpTypeVoid\n"
                                "%uint = OpTypeInt 32 0\n"
                                "%uvec3 = OpTypeVector %uint 3\n"
                                "%four = OpConstant %uint 4\n"
                                "%zero = OpConstant %uint 0\n"
                                "%array = OpTypeArray %uint %four\n"
                                "%words = OpTypeRuntimeArray %uint\n"
                                "%block = OpTypeStruct %words\n"
                                "%to_block = OpTypePointer StorageBuffer %block\n"
                                "%to_word = OpTypePointer StorageBuffer %uint\n"
                                "%to_id = OpTypePointer Input %uvec3\n"
                                "%to_array = OpTypePointer Function %array\n"
                                "%to_own = OpTypePointer Function %uint\n"
                                "%id = OpVariable %to_id Input\n"
                                "%out = OpVariable %to_block StorageBuffer\n"
                                "%function = OpTypeFunction %void\n"
                                "%main = OpFunction %void None %function\n"
                                "%entry = OpLabel\n"
                                "%own = OpVariable %to_array Function\n"
                                "%ids = OpLoad %uvec3 %id\n"
                                "%x = OpCompositeExtract %uint %ids 0\n"
                                "%i = OpUMod %uint %x %four\n"
                                "%p = OpAccessChain %to_own %own %i\n"
                                "%q = OpAccessChain %to_own %own %zero\n"
                                "%a = OpIMul %uint %x %x\n"
                                "OpStore %p %a\n"
                                "%b = OpIAdd %uint %a %four\n"
                                "OpStore %q %b\n"
                                "%c = OpLoad %uint %p\n"
                                "%d = OpIMul %uint %c %b\n"
                                "OpStore %p %d\n"
                                "%e = OpLoad %uint %q\n"
                                "%f = OpIAdd %uint %e %d\n"
                                "%r = OpAccessChain %to_word %out %zero %x\n"
                                "OpStore %r %f\n"
                                "OpReturn\n"
                                "OpFunctionEnd\n";

/* A switch that fits no pass, of cases that are apart. */
static const char switching[] = "OpCapability Shader\n"
                                "OpMemoryModel Logical GLSL450\n"
                                "OpEntryPoint GLCompute %main \"main\" %id\n"
                                "OpExecutionMode %main LocalSize 4 1 1\n"
                                "OpDecorate %id BuiltIn GlobalInvocationId\n"
                                "OpDecorate %words ArrayStride 4\n"
                                "OpDecorate %block Block\n"
                                "OpMemberDecorate %block 0 Offset 0\n"
                                "OpDecorate %out DescriptorSet 0\n"
                                "OpDecorate %out Binding 0\n"
                                "%void = OpTypeVoid\n"
                                "%uint = OpTypeInt 32 0\n"
                                "%uvec3 = OpTypeVector %uint 3\n"
                                "%zero = OpConstant %uint 0\n"
                                "%words = OpTypeRuntimeArray %uint\n"
                                "%block = OpTypeStruct %words\n"
                                "%to_block = OpTypePointer StorageBuffer %block\n"
                                "%to_word = OpTypePointer StorageBuffer %uint\n"
                                "%to_id = OpTypePointer Input %uvec3\n"
                                "%id = OpVariable %to_id Input\n"
                                "%out = OpVariable %to_block StorageBuffer\n"
                                "%function = OpTypeFunction %void\n"
                                "%main = OpFunction %void None %function\n"
                                "%entry = OpLabel\n"
                                "%ids = OpLoad %uvec3 %id\n"
                                "%x = OpCompositeExtract %uint %ids 0\n"
                                "OpSelectionMerge %behind None\n"
                                "OpSwitch %x %other 1 %one 2 %behind\n"
                                "%one = OpLabel\n"
                                "%a = OpIMul %uint %x %x\n"
                                "%b = OpIAdd %uint %a %x\n"
                                "%c = OpIMul %uint %b %a\n"
                                "OpBranch %behind\n"
                                "%other = OpLabel\n"
                                "%d = OpIAdd %uint %x %x\n"
                                "%e = OpIMul %uint %d %x\n"
                                "%f = OpIAdd %uint %e %d\n"
                                "OpBranch %behind\n"
                                "%behind = OpLabel\n"
                                "%g = OpPhi %uint %c %one %f %other %x %entry\n"
                                "%r = OpAccessChain %to_word %out %zero %x\n"
                                "OpStore %r %g\n"
                                "OpReturn\n"
                                "OpFunctionEnd\n";

static bool cut_switch(const struct corpus_file *file, struct pm_error *error)
{
    return cut(file, 4, false, error);
}

static bool cut_own(const struct corpus_file *file, struct pm_error *error)
{
    return cut(file, 2, true, error);
}

static void test_partition(void **state)
{
    (void)state;
    struct corpus_file file = {.name = "own_array", .vulkan_minor = 1};
    struct corpus_file lowered = {.name = "switching", .vulkan_minor = 1};
    struct corpus_file fragment = {.name = "shades", .vulkan_minor = 1};
    corpus_assemble(own_array, SPV_ENV_UNIVERSAL_1_3, &file.words, &file.count);
    fail_each_in(cut_own, &file);
    free(file.words);
    corpus_assemble(switching, SPV_ENV_UNIVERSAL_1_3, &lowered.words, &lowered.count);
    fail_each_in(cut_switch, &lowered);
    free(lowered.words);
    corpus_assemble(shades, SPV_ENV_UNIVERSAL_1_3, &fragment.words, &fragment.count);
    fail_each_in(cut_finely, &fragment);
    free(fragment.words);
    static const char *const compute[] = {"storage_types.comp.vulkan1.3.O"};
    fail_each_of(cut_finely, compute, 1);
}

static void test_round_trip(void **state)
{
    (void)state;
    fail_each(round_trip);
}

static void test_points(void **state)
{
    (void)state;
    fail_each(find_points);
}

static void test_points_zero(void **state)
{
    (void)state;
    fail_each(find_zeros);
}

static void test_instrument(void **state)
{
    (void)state;
    fail_each(instrument_blocks);
}

static void test_instrument_pieces(void **state)
{
    (void)state;
    static const char *const loops[] = {"loops.comp.vulkan1.1.g"};
    in_arenas = true;
    fail_each_of(instrument_blocks, loops, 1);
    in_arenas = false;
}

static void test_instrument_turns(void **state)
{
    (void)state;
    fail_each(instrument_turns);
}

static void test_instrument_zero(void **state)
{
    (void)state;
    fail_each(instrument_zero);
}

static void test_specialize_zero(void **state)
{
    (void)state;
    fail_each(specialize_zero);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),        cmocka_unit_test(test_optimize_blocks),
        cmocka_unit_test(test_constants),         cmocka_unit_test(test_points),
        cmocka_unit_test(test_instrument),        cmocka_unit_test(test_points_zero),
        cmocka_unit_test(test_instrument_zero),   cmocka_unit_test(test_specialize_zero),
        cmocka_unit_test(test_partition),         cmocka_unit_test(test_instrument_turns),
        cmocka_unit_test(test_instrument_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
