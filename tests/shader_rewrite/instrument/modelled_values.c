/* Counts of values that may be zero, and of words of uniform buffers. */
#include "profile/profile.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/constants/constant_words.h"
#include "tests/shader_rewrite/instrument/exact_run.h"
#include "tests/shader_rewrite/instrument/modelled_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- zeros ---- */

void modelled_check_zeros(struct modelled *call, bool wide, bool copies, struct modelled_seen *seen)
{
    struct exact_shader *shader = &call->shader;
    const struct exact_modelled modelled = {.run = modelled_run_together, .user = call};
    uint32_t *all = calloc(shader->zeros.count + 1u, sizeof *all);
    assert_non_null(all);
    for (uint32_t p = 0; p < shader->zeros.count; p++)
        all[p] = p;
    const struct exact_variant variant = {.points = all,
                                          .point_count = shader->zeros.count,
                                          .slot_count = wide ? 1 : 16,
                                          .wide = wide,
                                          .first_value = wide ? 0 : 0xfffffff3};
    struct model *model = model_create(shader->canonical.data, shader->canonical.count);
    exact_watch_zeros(shader, model);
    modelled_give(call, model);
    model_dispatch(model, &call->dispatch);
    for (uint32_t p = 0; p < shader->zeros.count; p++) {
        const struct model_writes writes = model_writes(model, p);
        seen->points++;
        seen->quads += shader->zeros.candidates[p].quad;
        seen->writes += writes.writes;
        seen->zero_writes += writes.zero_writes;
        seen->undecided += writes.undecided;
    }
    exact_check_zeros_modelled(
        &modelled, shader, &variant, model,
        call->dispatch.ways.apart ? EXACT_SUBGROUPS_UNKNOWN : EXACT_SUBGROUPS_KNOWN, copies);
    model_destroy(model);
    free(all);
}

/* ---- words ---- */

struct word {
    struct pm_constant_point point;
    uint32_t first, count; /* of the reads */
    /* In the order in which they came up. */
    uint32_t values[16], value_count;
    uint64_t loads[16];
};

struct words {
    struct word *words;
    uint32_t count;
    struct model_watched *reads;
    uint32_t read_count;
    uint64_t entry_lanes, entry_subgroups;
    bool demotes; /* subgroups that are helpers by then, where words are counted, are not counted */
};

static void find_words(const struct exact_shader *shader, struct words *words)
{
    enum pm_stage stage;
    struct pm_error error = {0};
    struct pm_constant_words found;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_ir_module *module =
        pm_ir_parse(shader->canonical.data, shader->canonical.count, &error);
    struct pm_ir_function *function = module ? pm_entry_function(module, &stage, &error) : NULL;
    if (!function ||
        !pm_analysis_require(function, PM_ANALYSIS_CFG | PM_ANALYSIS_POSTDOMINATORS, &error) ||
        !pm_constant_words_find(module, function, arena, &found, &error))
        fail_msg("%s: %s", shader->name, error.message);
    uint32_t most = 0;
    for (uint32_t w = 0; w < found.count; w++)
        most += found.words[w].read_count;
    *words = (struct words){.words = calloc(found.count + 1u, sizeof *words->words),
                            .reads = calloc(most + 1u, sizeof *words->reads)};
    assert_true(words->words && words->reads);
    for (uint32_t w = 0; w < found.count; w++) {
        const struct pm_constant_word *word = &found.words[w];
        if (word->point.source != PM_CONSTANT_UNIFORM)
            continue;
        words->words[words->count++] = (struct word){
            .point = word->point, .first = words->read_count, .count = word->read_count};
        for (uint32_t r = 0; r < word->read_count; r++)
            words->reads[words->read_count++] = (struct model_watched){
                .values = {word->reads[r].value->result->id}, .count = 1, .components = 1};
    }
    pm_ir_module_destroy(module);
    pm_arena_destroy(arena);
}

static void add_loads(struct word *word, uint32_t value, uint64_t loads)
{
    uint32_t v = 0;
    while (v < word->value_count && word->values[v] != value)
        v++;
    if (loads == 0)
        return;
    if (v == word->value_count) {
        assert_true(v < 16);
        word->values[word->value_count++] = value;
    }
    word->loads[v] += loads;
}

/* What the canonical module loads with one content, and what it writes. */
static void find_loads(struct modelled *call, struct words *words)
{
    const struct exact_shader *shader = &call->shader;
    const size_t bytes = call->words[call->output] * sizeof(uint32_t);
    struct model *model = model_create(shader->canonical.data, shader->canonical.count);
    model_watch(model, words->reads, words->read_count);
    modelled_give(call, model);
    model_dispatch(model, &call->dispatch);
    memcpy(call->expected, call->buffers[call->output], bytes);
    words->entry_lanes += model_entry(model).lanes;
    words->entry_subgroups += model_entry(model).subgroups;
    words->demotes = model_may_demote(model);
    for (uint32_t w = 0; w < words->count; w++) {
        struct word *word = &words->words[w];
        uint64_t loads = 0;
        bool once = false;
        for (uint32_t r = word->first; r < word->first + word->count && !once; r++) {
            const uint64_t writes = model_writes(model, r).writes;
            once = model_is_computed_once(model, words->reads[r].values[0]);
            loads = once ? writes : loads + writes;
        }
        assert_true(word->point.binding == call->uniform_binding &&
                    word->point.offset / 4 < call->uniform_words);
        add_loads(word, call->uniform[word->point.offset / 4], loads);
    }
    model_destroy(model);
}

static uint64_t sum(const struct pm_instrumented *out, const uint64_t *counters, uint32_t slots,
                    uint32_t unit, uint64_t first)
{
    uint64_t found = 0;
    for (uint32_t s = 0; s < slots; s++)
        found += counters[s * out->slot_stride + unit] - first;
    return found;
}

/* Loads of a value, over the tables of all slots. */
static uint64_t loads_of(const struct pm_instrumented *out, const uint64_t *counters,
                         uint32_t slots, uint32_t unit, uint32_t value, uint64_t first)
{
    if (value == 0)
        return sum(out, counters, slots, unit + PM_CONSTANT_COUNT_ZERO, first);
    uint64_t found = 0;
    for (uint32_t s = 0; s < slots; s++) {
        const uint64_t *table = counters + s * (size_t)out->slot_stride + unit;
        for (uint32_t v = 0; v < PM_CONSTANT_VALUES; v++)
            if (table[PM_CONSTANT_VALUE + v] == value)
                found += table[PM_CONSTANT_COUNTS + v] - first;
    }
    return found;
}

static void expect_loads(const struct modelled *call, const struct words *words, uint32_t w,
                         uint32_t value, uint64_t counted, uint64_t truth)
{
    if (counted == truth || (words->demotes && counted < truth))
        return;
    fail_msg("%s: %llu loads of 0x%08x counted of the word at %u, truth %llu", call->shader.name,
             (unsigned long long)counted, value, words->words[w].point.offset,
             (unsigned long long)truth);
}

static void compare(const struct modelled *call, const struct words *words,
                    const struct pm_instrumented *out, const uint64_t *counters, uint32_t slots,
                    uint64_t first)
{
    if (sum(out, counters, slots, 0, first) != words->entry_lanes ||
        sum(out, counters, slots, 1, first) != words->entry_subgroups)
        fail_msg("%s: with words its entries are counted wrongly", call->shader.name);
    for (uint32_t w = 0; w < words->count; w++) {
        const struct word *word = &words->words[w];
        const uint32_t unit = pm_constant_unit(w);
        uint64_t other = 0;
        uint32_t places = PM_CONSTANT_VALUES;
        for (uint32_t v = 0; v < word->value_count; v++) {
            const uint32_t value = word->values[v];
            if (value == 0 || places > 0) {
                places -= value != 0;
                expect_loads(call, words, w, value,
                             loads_of(out, counters, slots, unit, value, first), word->loads[v]);
            } else {
                assert_int_equal(slots, 1); /* else who came first is another one in each */
                other += word->loads[v];
            }
        }
        expect_loads(call, words, w, 0xffffffff,
                     sum(out, counters, slots, unit + PM_CONSTANT_COUNT_OTHER, first), other);
    }
}

/* Counters begin so that they carry; the tables' values with none. */
static void begin_counters(struct pm_gpu_buffer *counters, const struct pm_instrumented *out,
                           uint32_t slots, uint32_t words, uint64_t first)
{
    uint64_t *at = counters->data;
    memset(at, 0, counters->size);
    for (uint32_t s = 0; s < slots; s++, at += out->slot_stride) {
        at[0] = at[1] = first;
        for (uint32_t w = 0; w < words; w++)
            for (uint32_t u = 0; u < PM_CONSTANT_VALUE; u++)
                at[pm_constant_unit(w) + u] = first;
    }
}

void modelled_check_words(struct modelled *call, const uint32_t *const *contents, uint32_t count,
                          uint32_t slots, bool wide, struct modelled_seen *seen)
{
    const struct exact_modelled modelled = {.run = modelled_run_together, .user = call};
    const struct exact_machine machine = exact_model(&modelled);
    const struct exact_shader *shader = &call->shader;
    const uint64_t first = wide ? 0 : 0xfffffff3;
    struct words words;
    struct pm_error error = {0};
    struct pm_instrumented out;
    struct pm_gpu_buffer counters;
    find_words(shader, &words);
    struct pm_constant_point *points = calloc(words.count + 1u, sizeof *points);
    call->expected = malloc(call->words[call->output] * sizeof(uint32_t));
    assert_true(points && call->expected);
    for (uint32_t w = 0; w < words.count; w++)
        points[w] = words.words[w].point;
    const struct pm_instrument_info info = {
        .slot_count = slots, .int64_atomics = wide, .target = shader->target};
    if (!pm_instrument_constants(shader->canonical.data, shader->canonical.count, points,
                                 words.count, &info, &out, &error))
        fail_msg("%s: %s", shader->name, error.message);
    exact_create_counters(&machine, out.counter_bytes, &counters);
    begin_counters(&counters, &out, slots, words.count, first);
    for (uint32_t c = 0; c < count; c++) {
        call->uniform = contents[c];
        find_loads(call, &words);
        exact_run_instrumented(&machine, &out, &counters);
    }
    compare(call, &words, &out, counters.data, slots, first);
    for (uint32_t w = 0; w < words.count; w++) {
        seen->points++;
        for (uint32_t v = 0; v < words.words[w].value_count; v++) {
            seen->writes += words.words[w].loads[v];
            seen->zero_writes += words.words[w].values[v] == 0 ? words.words[w].loads[v] : 0;
        }
    }
    exact_destroy_counters(&machine, &counters);
    pm_instrumented_finish(&out);
    free(points);
    free(words.words);
    free(words.reads);
    free(call->expected);
}
