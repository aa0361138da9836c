/* What modules look like that count zeros; what they count is tested on drivers (test_zeros_*). */
#include "base/random.h"
#include "profile/profile.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/all.h"
#include "tests/shader_rewrite/corpus_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

struct subject {
    const char *name;
    const uint32_t *words;
    size_t count;
    struct pm_target target;
    uint32_t space; /* candidates */
};

static void subject_init(struct subject *subject)
{
    struct pm_zero_points points;
    struct pm_error error = {0};
    if (!pm_zero_candidates(subject->words, subject->count, &points, &error))
        fail_msg("%s: %s", subject->name, error.message);
    subject->space = points.count;
    pm_zero_points_finish(&points);
}

/* Validated by the pass itself. The caller finishes the result. */
static struct pm_instrumented instrument(const struct subject *subject, const uint32_t *points,
                                         uint32_t count, unsigned way)
{
    const struct pm_instrument_info info = {
        .all_candidates = true,
        .points = points,
        .point_count = count,
        .slot_count = way & 1 ? 1 : 16,
        .subgroup_size = way & 64 ? 32 : 0,
        .int64_atomics = way & 2,
        .subgroup_quad = !(way & 4),
        .memory_model_device_scope = way & 8,
        .may_force_early_tests = way & 16,
        .count_copies = way & 32,
        .target = subject->target,
    };
    struct pm_instrumented out;
    struct pm_error error = {0};
    if (!pm_instrument_zero(subject->words, subject->count, &info, &out, &error))
        fail_msg("%s, %u points, first %u, way %u: %s", subject->name, count, count ? points[0] : 0,
                 way, error.message);
    const struct pm_zero_layout most = pm_zero_layout(&info);
    assert_true(out.slot_stride >= pm_zero_units(&out.zeros));
    assert_true(pm_zero_units(&out.zeros) <= pm_zero_units(&most));
    assert_int_equal(out.slot_stride % 8, 0);
    assert_int_equal(out.counter_bytes, (uint64_t)info.slot_count * out.slot_stride * 8);
    return out;
}

/* No candidate, all, and random subsets, in the ways a device may ask for. Quickly half of them, by
 * `turn`: a shader is in the corpus several times. */
static void instrument_many(const struct subject *subject, struct pm_random *random, size_t turn)
{
    enum { SUBSETS = 8 };
    uint32_t *points = malloc((subject->space + 1) * sizeof(*points));
    assert_non_null(points);
    for (unsigned way = 0; way < SUBSETS; way++) {
        uint32_t count = 0, share = way == 0 ? 0 : way <= 4 ? 100 : 20 * way - 60;
        for (uint32_t i = 0; i < subject->space; i++)
            if (pm_random_below(random, 100) < share)
                points[count++] = i;
        unsigned bits = way <= 4 ? way * 7 + way % 2 * 96 : (unsigned)pm_random_below(random, 128);
        if (!pm_test_all() && (way + turn) % 2)
            continue;
        struct pm_instrumented out = instrument(subject, points, count, bits);
        pm_instrumented_finish(&out);
    }
    free(points);
}

static bool is_stage(const char *name)
{
    return !strstr(name, ".vert.");
}

static struct subject subject_of(const struct corpus_file *file)
{
    struct subject subject = {
        .name = file->name,
        .words = file->words,
        .count = file->count,
        .target = {.vulkan_minor = file->vulkan_minor, .spirv_1_4 = file->spirv_1_4},
    };
    subject_init(&subject);
    return subject;
}

static void test_corpus(void **state)
{
    (void)state;
    struct corpus corpus;
    struct pm_random random;
    pm_random_init(&random, 1);
    corpus_load(&corpus);
    size_t done = 0;
    for (size_t i = 0; i < corpus.count; i++) {
        if (!is_stage(corpus.files[i].name))
            continue;
        struct subject subject = subject_of(&corpus.files[i]);
        instrument_many(&subject, &random, done);
        done++;
    }
    assert_true(done > 100);
    corpus_finish(&corpus);
}

/* The shaders of the other tests, in canonical form. */
static void instrument_file(const char *folder, const char *name, struct pm_random *random,
                            size_t turn)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    static uint32_t words[1 << 18];
    size_t count = fread(words, 4, sizeof(words) / 4, stream);
    fclose(stream);
    const struct pm_canonicalize_info info = {
        .words = words,
        .word_count = count,
        .stage = strstr(name, ".frag") ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE,
        .entry_point = "main",
        .target = {.vulkan_minor = 3},
    };
    struct pm_words canonical;
    struct pm_error error = {0};
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s: %s", name, error.message);
    struct subject subject = {.name = name,
                              .words = canonical.data,
                              .count = canonical.count,
                              .target = {.vulkan_minor = 3}};
    subject_init(&subject);
    instrument_many(&subject, random, turn);
    pm_words_finish(&canonical);
}

static void test_other_shaders(void **state)
{
    (void)state;
    static const char *const folders[] = {PM_TEST_VALUES, PM_TEST_COUNTS, PM_TEST_EXACT};
    struct pm_random random;
    pm_random_init(&random, 2);
    size_t done = 0;
    for (size_t f = 0; f < sizeof(folders) / sizeof(folders[0]); f++) {
        DIR *directory = opendir(folders[f]);
        assert_non_null(directory);
        for (struct dirent *entry; (entry = readdir(directory));) {
            if (!strstr(entry->d_name, ".spv"))
                continue;
            instrument_file(folders[f], entry->d_name, &random, done);
            done++;
        }
        closedir(directory);
    }
    assert_true(done > 40);
}

/* An instrumented module of the corpus, read again. */
struct result {
    struct subject subject;
    struct pm_instrumented out;
    struct pm_ir_module *original, *module;
};

static struct result all_of(const struct corpus_file *file, unsigned way)
{
    struct result r = {.subject = subject_of(file)};
    uint32_t *all = malloc((r.subject.space + 1) * sizeof(*all));
    assert_non_null(all);
    for (uint32_t i = 0; i < r.subject.space; i++)
        all[i] = i;
    r.out = instrument(&r.subject, all, r.subject.space, way);
    free(all);
    r.original = pm_ir_parse(file->words, file->count, NULL);
    r.module = pm_ir_parse(r.out.words.data, r.out.words.count, NULL);
    assert_true(r.original && r.module);
    return r;
}

static void finish(struct result *r)
{
    pm_ir_module_destroy(r->original);
    pm_ir_module_destroy(r->module);
    pm_instrumented_finish(&r->out);
}

static size_t count_opcode(const struct pm_ir_module *module, uint16_t opcode)
{
    size_t count = 0;
    for (const struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (const struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
                count += i->opcode == opcode;
    return count;
}

/* The loops in which lanes share what is to be added, each with two stores of its own, and no other
 * instruction of these kinds. */
static void assert_added(const struct result *r)
{
    static const uint16_t kept[] = {SpvOpControlBarrier, SpvOpKill,       SpvOpSwitch,
                                    SpvOpReturn,         SpvOpImageWrite, SpvOpMemoryBarrier};
    for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
        assert_int_equal(count_opcode(r->original, kept[k]), count_opcode(r->module, kept[k]));
    const size_t loops =
        count_opcode(r->module, SpvOpLoopMerge) - count_opcode(r->original, SpvOpLoopMerge);
    assert_int_equal(count_opcode(r->original, SpvOpStore) + 2 * loops,
                     count_opcode(r->module, SpvOpStore));
}

/* Every instruction of the original is there, with the same operands, but that an OpPhi's
 * predecessor, a loop's continue target or the OpSampledImage that is used may be another. */
static void assert_kept(const struct result *r, uint32_t id)
{
    const struct pm_ir_instr *was = pm_ir_find(r->original, id), *is = pm_ir_find(r->module, id);
    if (!was)
        return;
    bool same = is && is->opcode == was->opcode && is->operand_count == was->operand_count &&
                pm_ir_operand_id(&is->type) == pm_ir_operand_id(&was->type);
    for (uint32_t i = 0; same && i < was->operand_count; i++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(was, i);
        if ((was->opcode == SpvOpPhi && i % 2) || (operand && operand->opcode == SpvOpSampledImage))
            continue;
        same = was->operands[i].word_count == is->operands[i].word_count &&
               pm_ir_operand_word(&was->operands[i]) == pm_ir_operand_word(&is->operands[i]);
    }
    if (!same)
        fail_msg("%s: id %u changed", r->subject.name, id);
}

static void test_original_is_kept(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    for (size_t i = 0; i < corpus.count; i++) {
        if (!is_stage(corpus.files[i].name))
            continue;
        struct result r = all_of(&corpus.files[i], 0);
        for (uint32_t id = 1; id < r.original->bound; id++)
            assert_kept(&r, id);
        assert_added(&r);
        finish(&r);
    }
    corpus_finish(&corpus);
}

/* As many points as may be counted at once about double a module that is not small. */
static void test_most_points(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    uint32_t tried = 0, chosen[128];
    for (size_t f = 0; f < corpus.count; f++) {
        const struct corpus_file *file = &corpus.files[f];
        const uint32_t most = pm_instrument_most_points(file->count);
        assert_in_range(most, 64, 128);
        struct subject subject = {file->name, file->words, file->count,
                                  .target = {.vulkan_minor = file->vulkan_minor}};
        struct pm_zero_points points;
        if (!pm_zero_candidates(file->words, file->count, &points, NULL))
            continue;
        subject.space = points.count;
        pm_zero_points_finish(&points);
        if (subject.space < most)
            continue;
        for (uint32_t i = 0; i < most; i++)
            chosen[i] = i;
        struct pm_instrumented out = instrument(&subject, chosen, most, 2);
        const size_t room = file->count > 64 * 170 ? file->count : 64 * 170;
        assert_true(out.words.count < file->count + 3 * room / 2);
        pm_instrumented_finish(&out);
        tried++;
    }
    assert_true(tried > 0);
    corpus_finish(&corpus);
}

static uint32_t uses_in_functions(const struct pm_ir_module *module, uint32_t id)
{
    uint32_t uses = 0;
    const struct pm_ir_instr *instr = pm_ir_find(module, id);
    for (const struct pm_ir_operand *use = instr->result->first_use; use; use = use->next_use)
        uses += use->user->block != NULL;
    return uses;
}

static bool is_float_arithmetic(const struct pm_ir_instr *instr)
{
    return instr && (instr->opcode == SpvOpFAdd || instr->opcode == SpvOpFSub ||
                     instr->opcode == SpvOpFMul || instr->opcode == SpvOpFDiv ||
                     instr->opcode == SpvOpDot || instr->opcode == SpvOpVectorTimesScalar);
}

/* Where copies are looked at nothing more uses a sum or product than in the original, but where it
 * begins with nothing that a zero could be mixed into. */
static void test_uses_are_kept(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    uint32_t seen = 0, more = 0;
    for (size_t i = 0; i < corpus.count; i++) {
        if (!is_stage(corpus.files[i].name))
            continue;
        struct result r = all_of(&corpus.files[i], 32);
        for (uint32_t id = 1; id < r.original->bound; id++) {
            if (!is_float_arithmetic(pm_ir_find(r.original, id)))
                continue;
            seen++;
            if (uses_in_functions(r.module, id) != uses_in_functions(r.original, id)) {
                more++;
                print_message("%s: %%%u\n", corpus.files[i].name, id);
            }
        }
        finish(&r);
    }
    print_message("%u sums and products, %u used otherwise\n", seen, more);
    assert_true(seen > 400);
    assert_int_equal(more, 0);
    corpus_finish(&corpus);
}

static void test_quad(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    const struct corpus_file *file = corpus_find(&corpus, "material.frag.vulkan1.1.O");
    struct pm_zero_points points;
    struct pm_error error = {0};
    assert_true(pm_zero_candidates(file->words, file->count, &points, &error));
    size_t quads = 0;
    for (uint32_t i = 0; i < points.count; i++)
        quads += points.candidates[i].quad;
    assert_true(quads > 10 && quads < points.count);
    /* Two swaps each; without quad operations those candidates are not looked at. */
    struct result r = all_of(file, 0);
    assert_int_equal(count_opcode(r.module, SpvOpGroupNonUniformQuadSwap), 2 * quads);
    assert_int_equal(count_opcode(r.module, SpvOpGroupNonUniformAll), points.count);
    assert_true(pm_ir_has_capability(r.module, SpvCapabilityGroupNonUniformQuad));
    finish(&r);
    r = all_of(file, 4);
    assert_int_equal(count_opcode(r.module, SpvOpGroupNonUniformQuadSwap), 0);
    assert_int_equal(count_opcode(r.module, SpvOpGroupNonUniformAll), points.count - quads);
    assert_false(pm_ir_has_capability(r.module, SpvCapabilityGroupNonUniformQuad));
    assert_true(pm_ir_has_capability(r.module, SpvCapabilityGroupNonUniformVote));
    finish(&r);
    pm_zero_points_finish(&points);
    corpus_finish(&corpus);
}

/* OpSampledImage and its use with a value between them, decorated as it may be. */
static const char sampled_text[] = "OpCapability Shader\n"
                                   "OpMemoryModel Logical GLSL450\n"
                                   "OpEntryPoint Fragment %100 \"main\" %70 %71\n"
                                   "OpExecutionMode %100 OriginUpperLeft\n"
                                   "OpDecorate %70 Location 0\n"
                                   "OpDecorate %71 Location 0\n"
                                   "OpDecorate %72 DescriptorSet 0\n"
                                   "OpDecorate %72 Binding 0\n"
                                   "OpDecorate %73 DescriptorSet 0\n"
                                   "OpDecorate %73 Binding 1\n"
                                   "OpDecorate %112 RelaxedPrecision\n"
                                   "%1 = OpTypeVoid\n"
                                   "%2 = OpTypeFunction %1\n"
                                   "%6 = OpTypeFloat 32\n"
                                   "%7 = OpTypeVector %6 2\n"
                                   "%9 = OpTypeVector %6 4\n"
                                   "%10 = OpTypePointer Input %7\n"
                                   "%11 = OpTypePointer Output %9\n"
                                   "%15 = OpTypeImage %6 2D 0 0 0 1 Unknown\n"
                                   "%16 = OpTypeSampler\n"
                                   "%17 = OpTypePointer UniformConstant %15\n"
                                   "%18 = OpTypePointer UniformConstant %16\n"
                                   "%19 = OpTypeSampledImage %15\n"
                                   "%70 = OpVariable %10 Input\n"
                                   "%71 = OpVariable %11 Output\n"
                                   "%72 = OpVariable %17 UniformConstant\n"
                                   "%73 = OpVariable %18 UniformConstant\n"
                                   "%100 = OpFunction %1 None %2\n"
                                   "%101 = OpLabel\n"
                                   "%110 = OpLoad %15 %72\n"
                                   "%111 = OpLoad %16 %73\n"
                                   "%112 = OpSampledImage %19 %110 %111\n"
                                   "%113 = OpLoad %7 %70\n"
                                   "%114 = OpImageSampleImplicitLod %9 %112 %113\n"
                                   "%115 = OpFAdd %7 %113 %113\n"
                                   "%116 = OpImageSampleImplicitLod %9 %112 %115\n"
                                   "%117 = OpFAdd %9 %114 %116\n"
                                   "OpStore %71 %117\n"
                                   "OpReturn\n"
                                   "OpFunctionEnd\n";

/* Counts the first points, and expects so many OpSampledImage. */
static void expect_sampled_images(const struct subject *subject, uint32_t points, size_t expected)
{
    static const uint32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    assert_true(points <= sizeof(all) / sizeof(all[0]));
    struct pm_instrumented out = instrument(subject, all, points, 0);
    struct pm_ir_module *module = pm_ir_parse(out.words.data, out.words.count, NULL);
    assert_non_null(module);
    assert_int_equal(count_opcode(module, SpvOpSampledImage), expected);
    size_t relaxed = 0;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        relaxed += i->opcode == SpvOpDecorate &&
                   pm_ir_operand_word(&i->operands[1]) == SpvDecorationRelaxedPrecision;
    assert_int_equal(relaxed, expected);
    pm_ir_module_destroy(module);
    pm_instrumented_finish(&out);
}

/* What is counted with the entry opens a block where the last of it is written alone: before both
 * uses of the image, between them, or behind them. */
static void test_sampled_images(void **state)
{
    (void)state;
    uint32_t *words;
    size_t count;
    corpus_assemble(sampled_text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    struct subject subject = {
        .name = "sampled", .words = words, .count = count, .target = {.vulkan_minor = 1}};
    subject_init(&subject);
    assert_int_equal(subject.space, 11);
    expect_sampled_images(&subject, 1, 3);
    expect_sampled_images(&subject, 5, 2);
    expect_sampled_images(&subject, 11, 1);
    free(words);
}

static void test_refusals(void **state)
{
    (void)state;
    struct corpus corpus;
    corpus_load(&corpus);
    struct subject subject = subject_of(corpus_find(&corpus, "loops.comp.vulkan1.1.O"));
    const uint32_t wrong[][2] = {{1, 1}, {3, 2}, {0, subject.space}};
    struct pm_instrumented out;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pm_error error = {0};
        const struct pm_instrument_info info = {.all_candidates = true,
                                                .points = wrong[i],
                                                .point_count = 2,
                                                .slot_count = 1,
                                                .target = subject.target};
        assert_false(pm_instrument_zero(subject.words, subject.count, &info, &out, &error));
        assert_int_equal(error.code, PM_ERROR_INPUT);
        assert_null(out.words.data);
    }
    const struct corpus_file *file = corpus_find(&corpus, "transform.vert.vulkan1.1.O");
    const struct pm_instrument_info info = {.slot_count = 1, .target = {.vulkan_minor = 1}};
    struct pm_error error = {0};
    assert_false(pm_instrument_zero(file->words, file->count, &info, &out, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    corpus_finish(&corpus);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_other_shaders),
        cmocka_unit_test(test_original_is_kept),
        cmocka_unit_test(test_uses_are_kept),
        cmocka_unit_test(test_quad),
        cmocka_unit_test(test_most_points),
        cmocka_unit_test(test_sampled_images),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
