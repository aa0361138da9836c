#include "tests/shader_rewrite/instrument/zeros.h"

#include "base/random.h"
#include "profile/profile.h"
#include "tests/all.h"
#include "tests/shader_rewrite/preserving.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const struct pm_target vulkan_1_3 = {.vulkan_minor = 3};

void zeros_load(const char *name, enum pm_stage stage, bool preserves, struct zeros_shader *s)
{
    *s = (struct zeros_shader){.name = name, .stage = stage, .preserves = preserves};
    struct pm_words original;
    pm_gpu_load(PM_TEST_ZEROS, name, &original.data, &original.count);
    if (preserves) {
        struct pm_words plain = original;
        original = pm_test_preserving(&plain);
        pm_words_finish(&plain);
    }
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .target = vulkan_1_3};
    struct pm_error error = {0};
    if (!pm_canonicalize(&info, &s->canonical, &error) ||
        !pm_zero_candidates(s->canonical.data, s->canonical.count, &s->points, &error))
        fail_msg("%s: %s", name, error.message);
    pm_words_finish(&original);
    s->module = pm_ir_parse(s->canonical.data, s->canonical.count, &error);
    assert_non_null(s->module);
}

void zeros_finish(struct zeros_shader *s)
{
    pm_zero_points_finish(&s->points);
    pm_ir_module_destroy(s->module);
    pm_words_finish(&s->canonical);
}

/* ---- candidates by what is written down ---- */

static bool has_binding(const struct pm_ir_module *module, const struct pm_ir_def *variable,
                        uint32_t binding)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (i->opcode == SpvOpDecorate && i->operands[0].def == variable &&
            pm_ir_operand_word(&i->operands[1]) == SpvDecorationBinding)
            return pm_ir_operand_word(&i->operands[2]) == binding;
    return false;
}

static bool is_constant(const struct pm_ir_instr *chain, uint32_t operand, uint32_t value)
{
    const struct pm_ir_instr *constant = pm_ir_operand_instr(chain, operand);
    return constant && constant->opcode == SpvOpConstant &&
           pm_ir_operand_word(&constant->operands[0]) == value;
}

static uint32_t value_logged_as(const struct zeros_shader *s, const struct zeros_logged *logged)
{
    for (const struct pm_ir_block *b = s->module->first_function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            const struct pm_ir_instr *chain =
                i->opcode == SpvOpStore ? pm_ir_operand_instr(i, 0) : NULL;
            if (chain && chain->opcode == SpvOpAccessChain && chain->operand_count == 5 &&
                has_binding(s->module, chain->operands[0].def, logged->binding) &&
                is_constant(chain, 3, logged->member) && is_constant(chain, 4, logged->index))
                return pm_ir_operand_id(&i->operands[1]);
        }
    fail_msg("%s writes nothing down as %u.%u[%u]", s->name, logged->binding, logged->member,
             logged->index);
    return 0;
}

/* Also as what it is cast from: bits that are only looked at as a float are its candidate. */
static bool has_value(const struct zeros_shader *s, const struct pm_zero_candidate *candidate,
                      uint32_t value)
{
    const struct pm_ir_instr *instr = pm_ir_find(s->module, value);
    const uint32_t cast_from =
        instr->opcode == SpvOpBitcast ? pm_ir_operand_id(&instr->operands[0]) : value;
    for (uint32_t i = 0; i < candidate->value_count; i++)
        if (candidate->values[i] == value || candidate->values[i] == cast_from)
            return true;
    return false;
}

static uint32_t components_of(const struct zeros_expected *expected)
{
    if (expected->components)
        return expected->components;
    return expected->count == 1 ? expected->values[0].elements : 1;
}

static uint32_t find_candidate(const struct zeros_shader *s, const struct zeros_expected *expected)
{
    uint32_t values[PM_ZERO_ELEMENTS];
    for (uint32_t i = 0; i < expected->count; i++)
        values[i] = value_logged_as(s, &expected->values[i]);
    for (uint32_t c = 0; c < s->points.count; c++) {
        const struct pm_zero_candidate *candidate = &s->points.candidates[c];
        bool same = candidate->value_count == expected->count &&
                    candidate->components == components_of(expected);
        for (uint32_t i = 0; same && i < expected->count; i++)
            same = has_value(s, candidate, values[i]);
        if (!same)
            continue;
        assert_int_equal(candidate->quad, expected->quad);
        return c;
    }
    fail_msg("%s: %%%u and %u more, %u components: no candidate", s->name, values[0],
             expected->count - 1, components_of(expected));
    return 0;
}

/* ---- runs ---- */

static void run_words(const struct zeros_test *test, const struct pm_words *words,
                      const VkSpecializationInfo *specialization, struct zeros_run *run)
{
    enum { SCALARS = 64, VECTORS = 112 }; /* bytes of the largest record of either binding */
    struct pm_gpu_buffer buffers[4];
    const size_t sizes[4] = {test->input_words * 4, 16 + ZEROS_VISITS * 16u,
                             ZEROS_VISITS * (size_t)SCALARS, ZEROS_VISITS * (size_t)VECTORS};
    struct pm_gpu_shader shader = {
        .words = words->data, .count = words->count, .specialization = specialization};
    for (int i = 0; i < 4; i++) {
        pm_gpu_buffer_create(test->gpu, sizes[i], &buffers[i]);
        shader.buffers[i] = &buffers[i];
    }
    memcpy(buffers[0].data, test->input, sizes[0]);
    *run = (struct zeros_run){0};
    test->call(test, &shader, run);
    run->visits = *(const uint32_t *)buffers[1].data;
    assert_true(run->visits > 0 && run->visits < ZEROS_VISITS);
    run->entries = malloc(sizes[1]);
    run->scalars = malloc(sizes[2]);
    run->vectors = malloc(sizes[3]);
    assert_true(run->entries && run->scalars && run->vectors);
    memcpy(run->entries, (const char *)buffers[1].data + 16, sizes[1] - 16);
    memcpy(run->scalars, buffers[2].data, sizes[2]);
    memcpy(run->vectors, buffers[3].data, sizes[3]);
    for (int i = 0; i < 4; i++)
        pm_gpu_buffer_destroy(test->gpu, &buffers[i]);
}

void zeros_run_plain(const struct zeros_test *test, struct zeros_run *run)
{
    run_words(test, &test->shader.canonical, NULL, run);
}

void zeros_run_finish(struct zeros_run *run)
{
    free(run->entries);
    free(run->scalars);
    free(run->vectors);
    free(run->texels);
}

/* ---- truth ---- */

static bool is_zero(const uint8_t *bytes, uint32_t width, bool is_float, bool flushes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, width);
    if (!is_float)
        return bits == 0;
    if (flushes && width == 4 && (bits & 0x7f800000) == 0)
        return true;
    return (bits & ~((uint64_t)1 << (8 * width - 1))) == 0;
}

static bool visit_is_zero(const struct zeros_test *test, const struct zeros_expected *expected,
                          const struct zeros_run *run, uint32_t visit)
{
    for (uint32_t i = 0; i < expected->count; i++) {
        const struct zeros_logged *logged = &expected->values[i];
        const uint8_t *records = logged->binding == 2 ? run->scalars : run->vectors;
        const uint8_t *at = records + (size_t)visit * logged->record + logged->offset;
        uint32_t elements = expected->components ? expected->components : logged->elements;
        for (uint32_t e = 0; e < elements; e++)
            if (!is_zero(at + e * logged->width, logged->width,
                         logged->is_float && !test->shader.preserves, test->flushes_denormals))
                return false;
    }
    return true;
}

struct truth {
    uint64_t writes, zero_writes;
};

static struct truth find_truth(const struct zeros_test *test, const struct zeros_expected *expected,
                               const struct zeros_run *run)
{
    enum { NONE, ZERO, NOT_ZERO };
    uint8_t *subgroups = calloc(run->visits, 1);
    assert_non_null(subgroups);
    for (uint32_t v = 0; v < run->visits; v++) {
        const uint32_t *entry = run->entries[v];
        if (entry[1] != expected->place)
            continue;
        assert_true(entry[0] < run->visits);
        bool zero = expected->quad ? test->quad_is_zero(test, expected, entry[2])
                                   : visit_is_zero(test, expected, run, v);
        uint8_t *subgroup = &subgroups[entry[0]];
        *subgroup = zero && *subgroup != NOT_ZERO ? ZERO : NOT_ZERO;
    }
    struct truth truth = {0};
    for (uint32_t s = 0; s < run->visits; s++) {
        truth.writes += subgroups[s] != NONE;
        truth.zero_writes += subgroups[s] == ZERO;
    }
    free(subgroups);
    return truth;
}

/* ---- counting ---- */

struct way {
    uint32_t slots;
    bool wide, some; /* some: only every third candidate, and those that are expected */
    bool copies;     /* count_copies */
    bool sized;      /* subgroup_size */
    uint64_t first_value;
};

static uint64_t total(const struct pm_instrumented *out, const struct way *way,
                      const uint64_t *counters, uint32_t index)
{
    uint64_t sum = 0;
    for (uint32_t slot = 0; slot < way->slots; slot++)
        sum += counters[slot * out->slot_stride + index] - way->first_value;
    return sum;
}

static void compare(const struct zeros_test *test, const struct zeros_run *run,
                    const uint32_t *candidates, const uint32_t *points, uint32_t point_count,
                    const uint64_t *totals)
{
    const struct pm_zero_points *all = &test->shader.points;
    uint64_t entry_lanes = totals[0], entry_subgroups = totals[1];
    assert_true(entry_subgroups > 0 && entry_subgroups <= entry_lanes);
    for (uint32_t i = 0; i < point_count; i++) {
        const uint64_t *counts = totals + 2 + PM_COUNTS * i;
        const struct pm_zero_candidate *candidate = &all->candidates[points[i]];
        assert_true(counts[PM_ZERO_ZERO_WRITES] <= counts[PM_ZERO_WRITES]);
        assert_int_equal(counts[2], 0);
        if (candidate->at_most_once)
            assert_true(counts[PM_ZERO_WRITES] <= entry_subgroups);
    }
    for (uint32_t e = 0; e < test->expected_count; e++) {
        uint32_t i = 0;
        while (points[i] != candidates[e])
            i++;
        const uint64_t *counts = totals + 2 + PM_COUNTS * i;
        struct truth truth = find_truth(test, &test->expected[e], run);
        if (counts[PM_ZERO_WRITES] != truth.writes ||
            counts[PM_ZERO_ZERO_WRITES] != truth.zero_writes)
            fail_msg("%s on %s: expectation %u, candidate %u: %" PRIu64 " of %" PRIu64
                     " writes were zero, counted %" PRIu64 " of %" PRIu64,
                     test->shader.name, test->gpu->name, e, candidates[e], truth.zero_writes,
                     truth.writes, counts[PM_ZERO_ZERO_WRITES], counts[PM_ZERO_WRITES]);
    }
}

static uint32_t choose(const struct zeros_test *test, const uint32_t *candidates, bool some,
                       uint32_t *points)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < test->shader.points.count; c++) {
        bool wanted = !some || c % 3 == 0;
        for (uint32_t e = 0; e < test->expected_count; e++)
            wanted = wanted || candidates[e] == c;
        if (wanted)
            points[count++] = c;
    }
    return count;
}

/* Counts, compares, and leaves what the run wrote down. */
static void run_counted(const struct zeros_test *test, const uint32_t *candidates,
                        const struct way *way, struct zeros_run *run)
{
    uint32_t *points = malloc((test->shader.points.count + 1) * sizeof(*points));
    assert_non_null(points);
    const struct pm_instrument_info info = {
        .all_candidates = true,
        .points = points,
        .point_count = choose(test, candidates, way->some, points),
        .slot_count = way->slots,
        .subgroup_size = way->sized ? test->gpu->subgroup_size : 0,
        .int64_atomics = way->wide,
        .memory_model_device_scope = test->gpu->memory_model_device_scope,
        .subgroup_quad = true,
        .count_copies = way->copies,
        .target = vulkan_1_3};
    struct pm_instrumented out;
    struct pm_error error = {0};
    if (!pm_instrument_zero(test->shader.canonical.data, test->shader.canonical.count, &info, &out,
                            &error))
        fail_msg("%s: %s", test->shader.name, error.message);
    struct pm_gpu_buffer counters;
    pm_gpu_buffer_create(test->gpu, out.counter_bytes, &counters);
    uint64_t *values = counters.data;
    for (size_t i = 0; i < out.counter_bytes / 8; i++)
        values[i] = way->first_value;
    const uint32_t address[2] = {(uint32_t)counters.address, (uint32_t)(counters.address >> 32)};
    const VkSpecializationMapEntry entries[2] = {{out.spec_id_low, 0, 4}, {out.spec_id_high, 4, 4}};
    const VkSpecializationInfo specialization = {2, entries, sizeof address, address};
    run_words(test, &out.words, &specialization, run);
    const uint32_t units = pm_zero_units(&out.zeros);
    uint64_t *sums = malloc(units * sizeof(*sums));
    uint64_t *totals = malloc((2 + PM_COUNTS * info.point_count) * sizeof(*totals));
    assert_true(sums && totals);
    for (uint32_t i = 0; i < units; i++)
        sums[i] = total(&out, way, values, i);
    pm_zero_totals(&out.zeros, sums, totals);
    free(sums);
    compare(test, run, candidates, points, info.point_count, totals);
    free(totals);
    free(points);
    pm_gpu_buffer_destroy(test->gpu, &counters);
    pm_instrumented_finish(&out);
}

static uint64_t hash_words(uint64_t hash, const uint8_t *bytes, uint32_t size)
{
    for (uint32_t at = 0; at < size; at += 4) {
        uint32_t word;
        memcpy(&word, bytes + at, 4);
        hash = (hash ^ word) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 29;
    }
    return hash;
}

/* What was written down, but for the order: who was where, and the values there. */
static uint64_t digest(const struct zeros_test *test, const struct zeros_run *run)
{
    uint64_t sum = 0;
    for (size_t v = 0; v < run->visits; v++) {
        uint64_t hash = run->entries[v][1] * 0x9e3779b97f4a7c15u + run->entries[v][2];
        hash = hash_words(hash, run->scalars + v * test->visit_bytes[0], test->visit_bytes[0]);
        sum += hash_words(hash, run->vectors + v * test->visit_bytes[1], test->visit_bytes[1]);
    }
    return sum;
}

static bool same_results(const struct zeros_test *test, const struct zeros_run *a,
                         const struct zeros_run *b)
{
    return a->visits == b->visits && digest(test, a) == digest(test, b) &&
           a->texel_bytes == b->texel_bytes &&
           (a->texel_bytes == 0 || memcmp(a->texels, b->texels, a->texel_bytes) == 0);
}

/* The counts equal the truth, and the results are the plain run's. */
static void check_way(const struct zeros_test *test, const uint32_t *candidates,
                      const struct way *way, const struct zeros_run *plain)
{
    struct zeros_run counted;
    run_counted(test, candidates, way, &counted);
    assert_true(same_results(test, &counted, plain));
    zeros_run_finish(&counted);
}

void zeros_check(const struct zeros_test *test)
{
    const struct way ways[] = {
        {1, false, false, false, false, 0},
        {16, false, true, true, true, 0xfffffff3}, /* carries into the high word */
        {64, true, false, true, true, 0xfffffff3},
    };
    uint32_t *candidates = malloc((test->expected_count + 1) * sizeof(*candidates));
    assert_non_null(candidates);
    for (uint32_t e = 0; e < test->expected_count; e++)
        candidates[e] = find_candidate(&test->shader, &test->expected[e]);
    struct zeros_run plain;
    zeros_run_plain(test, &plain);
    /* How counters are made does not hang on what counts as a zero: quickly that has one way. */
    const bool brief = test->shader.preserves && !pm_test_all();
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
        if ((!ways[w].wide || test->gpu->int64_atomics) && (!brief || ways[w].some))
            check_way(test, candidates, &ways[w], &plain);
    zeros_run_finish(&plain);
    free(candidates);
}
