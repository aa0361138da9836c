/* What instrumented modules look like; what they count is tested on drivers, in tests/gpu. */
#include "profile/profile.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/points/points_blocks.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/all.h"
#include "tests/shader_rewrite/corpus_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static spv_target_env environment_of(const struct corpus_file *file)
{
    return file->target == SPV_ENV_VULKAN_1_0 ? SPV_ENV_VULKAN_1_1 : file->target;
}

static struct pm_instrument_info info_for(const struct corpus_file *file, const uint32_t *points,
                                          uint32_t point_count)
{
    return (struct pm_instrument_info){
        .points = points,
        .point_count = point_count,
        .slot_count = 16,
        .subgroup_size = 8,
        .target = {.vulkan_minor = file->vulkan_minor, .spirv_1_4 = file->spirv_1_4},
    };
}

static void assert_instruments(const struct corpus_file *file, const uint32_t *words, size_t count,
                               const struct pm_instrument_info *info)
{
    struct pm_instrumented out;
    struct pm_error error = {0};
    if (!pm_instrument_blocks(words, count, info, &out, &error))
        fail_msg("%s, %u points, first %u: %s", file->name, info->point_count,
                 info->point_count ? info->points[0] : 0, error.message);
    corpus_assert_valid(file->name, out.words.data, out.words.count, environment_of(file));
    assert_true(out.slot_stride >= pm_block_units(&out.blocks));
    assert_int_equal(out.slot_stride % 8, 0);
    assert_int_equal(out.counter_bytes, (uint64_t)info->slot_count * out.slot_stride * 8);
    assert_int_not_equal(out.spec_id_low, out.spec_id_high);
    pm_instrumented_finish(&out);
}

/* Every subset of one point, none, and all, in the ways a device may ask for. Quickly every fourth
 * of one point, from `turn` on: a shader is in the corpus several times. */
static void instrument_all_ways(const struct corpus_file *file, const uint32_t *words, size_t count,
                                uint32_t turn)
{
    struct pm_block_points points;
    struct pm_error error = {0};
    if (!pm_points_blocks(words, count, &points, &error))
        fail_msg("%s: %s", file->name, error.message);
    uint32_t *all = malloc(points.count * sizeof(*all));
    assert_non_null(all);
    for (uint32_t i = 0; i < points.count; i++)
        all[i] = i;
    struct pm_instrument_info info = info_for(file, all, 0);
    assert_instruments(file, words, count, &info);
    const uint32_t step = pm_test_all() ? 1 : 4;
    for (uint32_t i = turn % step; i < points.count; i += step) {
        info = info_for(file, &all[i], 1);
        assert_instruments(file, words, count, &info);
        info.int64_atomics = true;
        info.slot_count = 1;
        assert_instruments(file, words, count, &info);
    }
    for (int way = 0; way < 8; way++) {
        info = info_for(file, all, points.count);
        info.int64_atomics = way & 1;
        info.memory_model_device_scope = way & 2;
        info.may_force_early_tests = way & 4;
        info.sums_outlive_loops = way & 1;
        info.subgroup_arithmetic = way & 2;
        info.lanes_only = way & 4;
        assert_instruments(file, words, count, &info);
    }
    free(all);
    pm_block_points_finish(&points);
}

static bool is_stage(const struct corpus_file *file)
{
    return !strstr(file->name, ".vert.");
}

static void test_corpus(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    uint32_t done = 0;
    for (size_t i = 0; i < corpus.count; i++) {
        const struct corpus_file *file = &corpus.files[i];
        if (!is_stage(file))
            continue;
        instrument_all_ways(file, file->words, file->count, done);
        done++;
    }
    assert_true(done > 100);
    corpus_finish(&corpus);
}

/* An instrumented module of the corpus, read again; all points, or none. */
struct result {
    struct pm_instrumented out;
    struct pm_ir_module *module;
};

static struct result instrument(const struct corpus_file *file, bool all,
                                struct pm_instrument_info info)
{
    struct result result;
    struct pm_error error = {0};
    struct pm_block_points points;
    assert_true(pm_points_blocks(file->words, file->count, &points, &error));
    uint32_t *list = malloc(points.count * sizeof(*list));
    assert_non_null(list);
    for (uint32_t i = 0; i < points.count; i++)
        list[i] = i;
    info.points = list;
    info.point_count = all ? points.count : 0;
    if (!pm_instrument_blocks(file->words, file->count, &info, &result.out, &error))
        fail_msg("%s: %s", file->name, error.message);
    free(list);
    pm_block_points_finish(&points);
    result.module = pm_ir_parse(result.out.words.data, result.out.words.count, &error);
    assert_non_null(result.module);
    return result;
}

static void finish(struct result *result)
{
    pm_ir_module_destroy(result->module);
    pm_instrumented_finish(&result->out);
}

static size_t count_opcode(const struct pm_ir_module *module, uint16_t opcode)
{
    size_t count = 0;
    for (int s = 0; s < PM_IR_SECTIONS; s++)
        for (struct pm_ir_instr *i = module->sections[s].first; i; i = i->next)
            count += i->opcode == opcode;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
                count += i->opcode == opcode;
    return count;
}

/* Of those whose first operand is an id below. */
static size_t count_of(const struct pm_ir_module *module, uint16_t opcode, uint32_t bound)
{
    size_t count = 0;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
                count += i->opcode == opcode && pm_ir_operand_id(&i->operands[0]) < bound;
    return count;
}

static size_t count_builtin(const struct pm_ir_module *module, SpvBuiltIn builtin)
{
    size_t count = 0;
    for (struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i; i = i->next)
        count += i->opcode == SpvOpDecorate && i->operand_count == 3 &&
                 pm_ir_operand_word(&i->operands[1]) == SpvDecorationBuiltIn &&
                 pm_ir_operand_word(&i->operands[2]) == (uint32_t)builtin;
    return count;
}

static bool has_mode(const struct pm_ir_module *module, SpvExecutionMode mode)
{
    for (struct pm_ir_instr *i = module->sections[PM_IR_SECTION_EXECUTION_MODE].first; i;
         i = i->next)
        if (pm_ir_operand_word(&i->operands[1]) == (uint32_t)mode)
            return true;
    return false;
}

/* Every instruction of the original is there, with the same operands; only an OpPhi's predecessor
 * and a loop header's continue target may be other blocks. */
static void assert_kept(const char *name, const struct pm_ir_instr *was,
                        const struct pm_ir_instr *is)
{
    bool same = is && is->opcode == was->opcode && is->operand_count == was->operand_count &&
                pm_ir_operand_id(&is->type) == pm_ir_operand_id(&was->type);
    for (uint32_t i = 0; same && i < was->operand_count; i++) {
        const struct pm_ir_operand *a = &was->operands[i], *b = &is->operands[i];
        if (was->opcode == SpvOpPhi && i % 2)
            continue;
        same = a->word_count == b->word_count && pm_ir_operand_word(a) == pm_ir_operand_word(b);
    }
    if (!same)
        fail_msg("%s: id %u changed", name, was->result->id);
}

static void test_original_is_kept(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t i = 0; i < corpus.count; i++) {
        const struct corpus_file *file = &corpus.files[i];
        if (!is_stage(file))
            continue;
        struct pm_ir_module *original = pm_ir_parse(file->words, file->count, NULL);
        assert_non_null(original);
        struct result r = instrument(file, true, info_for(file, NULL, 0));
        for (uint32_t id = 1; id < original->bound; id++)
            if (pm_ir_find(original, id))
                assert_kept(file->name, pm_ir_find(original, id), pm_ir_find(r.module, id));
        assert_int_equal(count_of(original, SpvOpStore, original->bound),
                         count_of(r.module, SpvOpStore, original->bound));
        assert_int_equal(count_of(original, SpvOpLoopMerge, original->bound),
                         count_of(r.module, SpvOpLoopMerge, original->bound));
        static const uint16_t kept[] = {SpvOpControlBarrier, SpvOpKill,       SpvOpSwitch,
                                        SpvOpReturn,         SpvOpImageWrite, SpvOpMemoryBarrier};
        for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
            assert_int_equal(count_opcode(original, kept[k]), count_opcode(r.module, kept[k]));
        finish(&r);
        pm_ir_module_destroy(original);
    }
    corpus_finish(&corpus);
}

static void test_version_and_addressing(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    static const struct {
        const char *name;
        uint32_t version;
        bool extension;
    } cases[] = {
        {"loops.comp.vulkan1.0.O", 0x10300, true},
        {"loops.comp.vulkan1.1.O", 0x10300, true},
        {"nested.spvasm.vulkan1.1spv1.4", 0x10400, true},
        {"loops.comp.vulkan1.2.O", 0x10500, false},
        {"loops.comp.vulkan1.3.O", 0x10600, false},
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        const struct corpus_file *file = corpus_find(&corpus, cases[c].name);
        struct result r = instrument(file, true, info_for(file, NULL, 0));
        assert_int_equal(r.module->version, cases[c].version);
        assert_int_equal(pm_ir_has_extension(r.module, "SPV_KHR_physical_storage_buffer"),
                         cases[c].extension);
        const struct pm_ir_instr *model = r.module->sections[PM_IR_SECTION_MEMORY_MODEL].first;
        assert_int_equal(pm_ir_operand_word(&model->operands[0]),
                         SpvAddressingModelPhysicalStorageBuffer64);
        assert_false(pm_ir_has_capability(r.module, SpvCapabilityInt64Atomics));
        finish(&r);
    }
    /* Without 64-bit atomics nothing asks for 64-bit integers; with them both are declared. */
    const struct corpus_file *file = corpus_find(&corpus, "loops.comp.vulkan1.0.O");
    struct pm_instrument_info info = info_for(file, NULL, 0);
    info.int64_atomics = true;
    struct result r = instrument(file, true, info);
    assert_true(pm_ir_has_capability(r.module, SpvCapabilityInt64));
    assert_true(pm_ir_has_capability(r.module, SpvCapabilityInt64Atomics));
    finish(&r);
    corpus_finish(&corpus);
}

static void test_helper_lanes(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    /* A module that asks for both built-ins itself keeps one of each. */
    const struct corpus_file *file = corpus_find(&corpus, "terminate.frag.vulkan1.1.plain");
    struct result r = instrument(file, true, info_for(file, NULL, 0));
    assert_int_equal(count_builtin(r.module, SpvBuiltInHelperInvocation), 1);
    assert_int_equal(count_builtin(r.module, SpvBuiltInFragCoord), 1);
    assert_int_equal(count_opcode(r.module, SpvOpIsHelperInvocationEXT), 0);
    finish(&r);
    file = corpus_find(&corpus, "material.frag.vulkan1.0.O");
    r = instrument(file, false, info_for(file, NULL, 0));
    assert_int_equal(count_builtin(r.module, SpvBuiltInHelperInvocation), 1);
    finish(&r);
    /* Once lanes can become helpers, the built-in does not say so. */
    static const char *const demote[] = {"demote.frag.vulkan1.1.O", "demote.frag.vulkan1.3.O"};
    for (size_t i = 0; i < 2; i++) {
        file = corpus_find(&corpus, demote[i]);
        struct pm_ir_module *original = pm_ir_parse(file->words, file->count, NULL);
        r = instrument(file, true, info_for(file, NULL, 0));
        assert_int_equal(count_builtin(r.module, SpvBuiltInHelperInvocation),
                         count_builtin(original, SpvBuiltInHelperInvocation));
        assert_true(count_opcode(r.module, SpvOpIsHelperInvocationEXT) >
                    count_opcode(original, SpvOpIsHelperInvocationEXT));
        finish(&r);
        pm_ir_module_destroy(original);
    }
    /* In a compute shader there are none. */
    file = corpus_find(&corpus, "loops.comp.vulkan1.1.O");
    r = instrument(file, true, info_for(file, NULL, 0));
    assert_int_equal(count_builtin(r.module, SpvBuiltInHelperInvocation), 0);
    assert_int_equal(count_builtin(r.module, SpvBuiltInWorkgroupId), 1);
    finish(&r);
    struct pm_instrument_info info = info_for(file, NULL, 0);
    info.slot_count = 1;
    r = instrument(file, true, info);
    assert_int_equal(count_builtin(r.module, SpvBuiltInWorkgroupId), 0);
    finish(&r);
    corpus_finish(&corpus);
}

static uint32_t scope_of_counters(const struct pm_ir_module *module)
{
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (struct pm_ir_instr *i = b->body.first; i; i = i->next) {
                if (i->opcode != SpvOpAtomicIAdd)
                    continue;
                const struct pm_ir_instr *pointer = pm_ir_operand_instr(i, 0);
                if (pm_ir_operand_word(&pm_ir_type_of(pointer)->operands[0]) !=
                    SpvStorageClassPhysicalStorageBuffer)
                    continue;
                return pm_ir_operand_word(&pm_ir_operand_instr(i, 1)->operands[0]);
            }
    fail_msg("nothing counts");
    return 0;
}

static void test_memory_model(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    const struct corpus_file *file = corpus_find(&corpus, "memory_model.comp.vulkan1.2.O");
    struct pm_instrument_info info = info_for(file, NULL, 0);
    struct result r = instrument(file, true, info);
    assert_int_equal(scope_of_counters(r.module), SpvScopeQueueFamily);
    assert_false(pm_ir_has_capability(r.module, SpvCapabilityVulkanMemoryModelDeviceScope));
    finish(&r);
    info.memory_model_device_scope = true;
    r = instrument(file, true, info);
    assert_int_equal(scope_of_counters(r.module), SpvScopeDevice);
    assert_true(pm_ir_has_capability(r.module, SpvCapabilityVulkanMemoryModelDeviceScope));
    finish(&r);
    file = corpus_find(&corpus, "loops.comp.vulkan1.2.O");
    r = instrument(file, true, info_for(file, NULL, 0));
    assert_int_equal(scope_of_counters(r.module), SpvScopeDevice);
    finish(&r);
    corpus_finish(&corpus);
}

static void test_early_tests(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool may, forced, occluded;
    } cases[] = {
        {"plain.frag.vulkan1.1.O", true, true, false},
        {"plain.frag.vulkan1.1.O", false, false, true},           /* alpha-to-coverage */
        {"input_attachment.frag.vulkan1.1.O", true, false, true}, /* which may be its own depth */
        {"material.frag.vulkan1.1.O", true, false, true},         /* discards */
        {"terminate.frag.vulkan1.3.O", true, false, true},
        {"demote.frag.vulkan1.1.O", true, false, true},
        {"depth_export.frag.vulkan1.1.O", true, false, true},
        {"side_effects.frag.vulkan1.1.O", true, false, false}, /* has them already */
        {"loops.comp.vulkan1.1.O", true, false, false},
    };
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        const struct corpus_file *file = corpus_find(&corpus, cases[c].name);
        struct pm_ir_module *original = pm_ir_parse(file->words, file->count, NULL);
        struct pm_instrument_info info = info_for(file, NULL, 0);
        info.may_force_early_tests = cases[c].may;
        struct result r = instrument(file, true, info);
        if (r.out.forced_early_tests != cases[c].forced ||
            r.out.counts_occluded != cases[c].occluded)
            fail_msg("%s: forced %d, occluded %d", cases[c].name, r.out.forced_early_tests,
                     r.out.counts_occluded);
        bool had = has_mode(original, SpvExecutionModeEarlyFragmentTests);
        assert_int_equal(has_mode(r.module, SpvExecutionModeEarlyFragmentTests),
                         had || cases[c].forced);
        finish(&r);
        pm_ir_module_destroy(original);
    }
    corpus_finish(&corpus);
}

static void test_spec_ids_are_unused(void **state)
{
    (void)state;
    static const char *const text = "OpCapability Shader\n"
                                    "OpMemoryModel Logical GLSL450\n"
                                    "OpEntryPoint GLCompute %1 \"main\"\n"
                                    "OpExecutionMode %1 LocalSize 1 1 1\n"
                                    "OpDecorate %5 SpecId 1347223552\n"
                                    "OpDecorate %6 SpecId 1347223554\n"
                                    "%2 = OpTypeVoid\n"
                                    "%3 = OpTypeFunction %2\n"
                                    "%4 = OpTypeInt 32 0\n"
                                    "%5 = OpSpecConstant %4 5\n"
                                    "%6 = OpSpecConstant %4 5\n"
                                    "%1 = OpFunction %2 None %3\n"
                                    "%7 = OpLabel\n"
                                    "OpReturn\n"
                                    "OpFunctionEnd\n";
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_0, &words, &count);
    struct pm_instrument_info info = {.slot_count = 1, .target = {.vulkan_minor = 1}};
    struct pm_instrumented out;
    struct pm_error error = {0};
    if (!pm_instrument_blocks(words, count, &info, &out, &error))
        fail_msg("%s", error.message);
    assert_int_equal(out.spec_id_low, 1347223553);
    assert_int_equal(out.spec_id_high, 1347223555);
    assert_int_equal(out.slot_stride, 8);
    assert_int_equal(out.counter_bytes, 64);
    pm_instrumented_finish(&out);
    free(words);
}

/* What sums of counters come to, by hand. */
static void test_totals(void **state)
{
    (void)state;
    /* An entry and two points: 5 full subgroups of 8, one of 3; the second point was entered by 4
     * full ones, twice by the whole one of 3, and by 6 lanes in two parts. */
    static const uint64_t sums[] = {5, 0, 4, 1, 0, 4, 3, 0, 6, 0, 0, 6};
    static const uint32_t points[] = {0, 7}, others[] = {3, 7};
    struct pm_instrument_info info = {.points = points, .point_count = 2, .subgroup_size = 8};
    uint64_t totals[8];
    struct pm_block_layout layout = pm_block_layout(&info);
    assert_int_equal(pm_block_units(&layout), sizeof sums / sizeof *sums);
    pm_block_totals(&layout, sums, totals);
    static const uint64_t expected[8] = {43, 6, 43, 43, 6, 44, 38, 8};
    assert_memory_equal(totals, expected, sizeof expected);
    /* Without the entry block each point has its own. */
    info.points = others;
    layout = pm_block_layout(&info);
    pm_block_totals(&layout, sums, totals);
    static const uint64_t apart[8] = {43, 6, 0, 0, 0, 44, 38, 8};
    assert_memory_equal(totals, apart, sizeof apart);
    info.lanes_only = true;
    layout = pm_block_layout(&info);
    static const uint64_t lanes[] = {5, 0, 4, 3, 0, 12};
    assert_int_equal(pm_block_units(&layout), sizeof lanes / sizeof *lanes);
    pm_block_totals(&layout, lanes, totals);
    static const uint64_t only[4] = {43, 0, 0, 44};
    assert_memory_equal(totals, only, sizeof only);
}

/* Points that are entered together have counters in common. Where there is subgroup arithmetic, who
 * enters is asked at fewer blocks, and nobody adds anything there. */
static void test_lanes_note_by_themselves(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    size_t points = 0, units = 0, ballots[2] = {0}, atomics[2] = {0}, reduced[2] = {0};
    for (size_t f = 0; f < corpus.count; f++)
        for (int with = 0; with < 2 && is_stage(&corpus.files[f]); with++) {
            struct pm_instrument_info info = info_for(&corpus.files[f], NULL, 0);
            info.subgroup_arithmetic = with;
            info.sums_outlive_loops = true;
            struct result r = instrument(&corpus.files[f], true, info);
            ballots[with] += count_opcode(r.module, SpvOpGroupNonUniformBallot);
            atomics[with] += count_opcode(r.module, SpvOpAtomicIAdd);
            reduced[with] += count_opcode(r.module, SpvOpGroupNonUniformIAdd);
            points += r.out.blocks.point_count;
            units += r.out.blocks.unit_count - 1;
            finish(&r);
        }
    print_message("%zu points, %zu units; ballots %zu and %zu, atomics %zu and %zu\n", points,
                  units, ballots[0], ballots[1], atomics[0], atomics[1]);
    assert_true(10 * units < 8 * points && reduced[0] < reduced[1]);
    assert_true(10 * ballots[1] < 9 * ballots[0]);
    assert_true(10 * atomics[1] < 8 * atomics[0]);
    corpus_finish(&corpus);
}

/* A compute shader that lanes may leave at so many places. malloc'ed. */
static char *leaving_text(uint32_t places)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs("OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
          "OpEntryPoint GLCompute %main \"main\" %id\nOpExecutionMode %main LocalSize 8 1 1\n"
          "OpDecorate %id BuiltIn LocalInvocationIndex\n"
          "%void = OpTypeVoid\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n"
          "%to_id = OpTypePointer Input %uint\n%id = OpVariable %to_id Input\n"
          "%function = OpTypeFunction %void\n",
          out);
    for (uint32_t i = 0; i < places; i++)
        fprintf(out, "%%n%u = OpConstant %%uint %u\n", i, i);
    fputs("%main = OpFunction %void None %function\n%entry = OpLabel\n%x = OpLoad %uint %id\n",
          out);
    for (uint32_t i = 0; i + 1 < places; i++)
        fprintf(out,
                "%%is%u = OpIEqual %%bool %%x %%n%u\nOpSelectionMerge %%stay%u None\n"
                "OpBranchConditional %%is%u %%leave%u %%stay%u\n%%leave%u = OpLabel\nOpReturn\n"
                "%%stay%u = OpLabel\n",
                i, i, i, i, i, i, i, i);
    fputs("OpReturn\nOpFunctionEnd\n", out);
    fclose(out);
    return text;
}

/* What is added up over lanes where they leave does not grow with the places and the blocks. */
static void test_many_places(void **state)
{
    (void)state;
    static const uint32_t places[] = {2, 4, 16, 64, 128};
    for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++) {
        struct corpus_file file = {.name = "leaving", .vulkan_minor = 1};
        char *text = leaving_text(places[p]);
        corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &file.words, &file.count);
        free(text);
        struct pm_instrument_info info = info_for(&file, NULL, 0);
        info.subgroup_arithmetic = true;
        info.lanes_only = true;
        struct result r = instrument(&file, true, info);
        const size_t reduced = count_opcode(r.module, SpvOpGroupNonUniformIAdd);
        assert_true(reduced <= 64 && (reduced > 0 || places[p] > 64));
        finish(&r);
        free(file.words);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    const struct corpus_file *file = corpus_find(&corpus, "loops.comp.vulkan1.1.O");
    static const uint32_t wrong[][2] = {{1, 1}, {3, 2}, {0, 4096}};
    struct pm_instrumented out;
    struct pm_error error = {0};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pm_instrument_info info = info_for(file, wrong[i], 2);
        assert_false(pm_instrument_blocks(file->words, file->count, &info, &out, &error));
        assert_int_equal(error.code, PM_ERROR_INPUT);
        assert_null(out.words.data);
    }
    static const uint32_t slots[] = {0, 3, 512};
    for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
        struct pm_instrument_info info = info_for(file, NULL, 0);
        info.slot_count = slots[i];
        assert_false(pm_instrument_blocks(file->words, file->count, &info, &out, &error));
        assert_int_equal(error.code, PM_ERROR_INPUT);
    }
    file = corpus_find(&corpus, "transform.vert.vulkan1.1.O");
    struct pm_instrument_info info = info_for(file, NULL, 0);
    assert_false(pm_instrument_blocks(file->words, file->count, &info, &out, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    corpus_finish(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_original_is_kept),
        cmocka_unit_test(test_version_and_addressing),
        cmocka_unit_test(test_helper_lanes),
        cmocka_unit_test(test_memory_model),
        cmocka_unit_test(test_early_tests),
        cmocka_unit_test(test_spec_ids_are_unused),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_lanes_note_by_themselves),
        cmocka_unit_test(test_many_places),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
