/* Counts what words of uniform buffers are. One lane of a subgroup looks at what it has loaded, so
 * that nothing is read that the shader does not read, and counts it in a small table of the word: a
 * place in it is claimed by the first that finds it empty, and stays its value's. Words are counted
 * together, behind the last load, where all of them are loaded if one is. */
#include "shader_rewrite/constants/constant_counting.h"
#include "shader_rewrite/constants/constant_words.h"
#include "shader_rewrite/instrument/instrument_module.h"
#include "shader_rewrite/ir/block_open.h"

#include <stdlib.h>

/* A place where a word is counted. */
struct place {
    struct pm_constant_read read;
    uint32_t point; /* in the batch */
    uint32_t group; /* the first of the blocks that run as often as its own */
    uint32_t order; /* of the value, in the function */
};

/* Places that are counted together. */
struct group {
    uint32_t first, end, last; /* places; the last one's order */
};

struct pass {
    struct pm_instrument instrument;
    const struct pm_constant_point *points;
    struct pm_arena *arena;
    struct pm_constant_words words;
    struct place *places; /* by group, and there by order */
    uint32_t place_count;
    struct pm_constant_counting counting;
    struct pm_constant_counted *counted; /* of one group */
    struct pm_instrumented *out;
};

/* ---- where ---- */

/* Of a word that every path loads one load that always runs, if there is one in no loop; else all.
 */
static const struct pm_constant_read *only_read(const struct pass *p,
                                                const struct pm_constant_word *word)
{
    const struct pm_ir_function *function = p->instrument.function;
    for (uint32_t r = 0; r < word->read_count; r++) {
        const uint32_t block = word->reads[r].value->block->index;
        if (pm_constant_always_runs(function, block) &&
            pm_loops(function)->loop_of[block] == PM_NO_LOOP)
            return &word->reads[r];
    }
    return NULL;
}

static void add_places(struct pass *p, const struct pm_constant_word *word, uint32_t point)
{
    const struct pm_constant_read *only = only_read(p, word);
    for (uint32_t r = 0; r < word->read_count; r++)
        if (!only || only == &word->reads[r])
            p->places[p->place_count++] = (struct place){.read = word->reads[r], .point = point};
}

/* By block: the first that runs as often, which is so of blocks in no loop of which whatever runs
 * one runs the other. UINT32_MAX: not found out yet. */
static uint32_t group_of(const struct pm_ir_function *function, uint32_t *groups, uint32_t block)
{
    const struct pm_dominators *before = pm_dominators(function);
    if (groups[block] != UINT32_MAX)
        return groups[block];
    groups[block] = block;
    for (uint32_t at = before->parent[block];
         at != PM_NO_BLOCK && pm_loops(function)->loop_of[block] == PM_NO_LOOP;
         at = before->parent[at]) {
        if (groups[at] == UINT32_MAX || pm_loops(function)->loop_of[at] != PM_NO_LOOP ||
            !pm_dominates(pm_postdominators(function), block, at))
            continue;
        groups[block] = groups[at];
        break;
    }
    return groups[block];
}

static int by_group(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const uint32_t left[] = {x->group, x->order, x->point};
    const uint32_t right[] = {y->group, y->order, y->point};
    for (int i = 0; i < 3; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static bool sort_places(struct pass *p)
{
    const struct pm_ir_function *function = p->instrument.function;
    uint32_t *order = pm_arena_zalloc(p->arena, p->instrument.module->bound, sizeof(*order));
    uint32_t *groups = pm_arena_zalloc(p->arena, pm_cfg(function)->count, sizeof(*groups));
    uint32_t at = 0;
    if (!order || !groups)
        return false;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        groups[b->index] = UINT32_MAX;
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next, at++)
            if (i->result)
                order[i->result->id] = at;
    }
    for (uint32_t i = 0; i < p->place_count; i++)
        p->places[i].order = order[p->places[i].read.value->result->id];
    /* Each block after those that it may be as often as. */
    qsort(p->places, p->place_count, sizeof(*p->places), by_group);
    for (uint32_t i = 0; i < p->place_count; i++)
        p->places[i].group = group_of(function, groups, p->places[i].read.value->block->index);
    qsort(p->places, p->place_count, sizeof(*p->places), by_group);
    return true;
}

static bool find_places(struct pass *p, struct pm_error *error)
{
    uint32_t most = 0;
    if (!pm_constant_words_find(p->instrument.module, p->instrument.function, p->arena, &p->words,
                                error))
        return false;
    for (uint32_t w = 0; w < p->words.count; w++)
        most += p->words.words[w].read_count;
    p->places = pm_arena_zalloc(p->arena, most + 1u, sizeof(*p->places));
    p->counted = pm_arena_zalloc(p->arena, most + 1u, sizeof(*p->counted));
    if (!p->places || !p->counted)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < p->instrument.info->point_count; i++) {
        const struct pm_constant_point *point = &p->points[i];
        const struct pm_constant_word *word = pm_constant_words_of(&p->words, point);
        for (uint32_t k = 0; k < i; k++)
            if (pm_constant_same_word(point, &p->points[k]))
                return pm_fail(error, PM_ERROR_INPUT, "point %u is there twice", i);
        if (point->source != PM_CONSTANT_UNIFORM || !word)
            return pm_fail(error, PM_ERROR_INPUT,
                           "point %u is no word of a uniform buffer that the shader loads", i);
        add_places(p, word, i);
    }
    return sort_places(p) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

/* ---- counting ---- */

/* The word's bits. */
static struct pm_ir_def *build_bits(struct pm_ir_builder *b, const struct pm_constant_read *read)
{
    struct pm_ir_def *value = read->value->result;
    struct pm_ir_def *uint = pm_ir_type_int(b->module, 32, false);
    const struct pm_ir_instr *type = pm_ir_type_of(read->value);
    const bool matrix = type->opcode == SpvOpTypeMatrix;
    if (matrix || type->opcode == SpvOpTypeVector) {
        const struct pm_ir_arg args[] = {pm_ir_id(value),
                                         pm_ir_word(read->component / (matrix ? 4 : 1)),
                                         pm_ir_word(read->component % 4)};
        for (type = pm_ir_operand_instr(type, 0); type->opcode == SpvOpTypeVector;)
            type = pm_ir_operand_instr(type, 0);
        value = pm_ir_build(b, SpvOpCompositeExtract, type->result, args, matrix ? 3 : 2);
    }
    return type->result == uint ? value
                                : pm_ir_build(b, SpvOpBitcast, uint, PM_IR_ARGS(pm_ir_id(value)));
}

/* The places from first up to, not including, end: of one group. */
static void count_group(struct pass *p, uint32_t first, uint32_t end)
{
    struct pm_ir_builder *b = &p->instrument.builder;
    struct pm_ir_instr *last = p->places[end - 1].read.value;
    struct pm_ir_block *rest = pm_block_open_at(b, last->block, pm_block_behind(last));
    struct pm_instrument_place place = pm_instrument_enter(&p->instrument, rest);
    for (uint32_t i = first; i < end; i++)
        p->counted[i - first] = (struct pm_constant_counted){build_bits(b, &p->places[i].read),
                                                             pm_constant_unit(p->places[i].point)};
    pm_constant_count(&p->counting, b, place.slot, p->counted, end - first);
    pm_instrument_leave(&p->instrument, &place);
}

static int by_last(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return (x->last < y->last) - (x->last > y->last);
}

/* From the last to the first, since each place moves what stands behind it in its block. */
static bool rewrite(struct pass *p)
{
    uint32_t count = 0;
    struct group *groups = pm_arena_zalloc(p->arena, p->place_count + 1u, sizeof(*groups));
    if (!groups)
        return false;
    for (uint32_t first = 0, end; first < p->place_count; first = end) {
        for (end = first + 1;
             end < p->place_count && p->places[end].group == p->places[first].group;)
            end++;
        groups[count++] = (struct group){first, end, p->places[end - 1].order};
    }
    qsort(groups, count, sizeof(*groups), by_last);
    pm_instrument_entry(&p->instrument);
    for (uint32_t i = 0; i < count && !p->instrument.module->failed; i++)
        count_group(p, groups[i].first, groups[i].end);
    pm_block_mend_sampled_images(p->instrument.function);
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)module;
    struct pass *p = context;
    if (!find_places(p, error) ||
        !pm_instrument_ready(&p->instrument, p->instrument.info->point_count, p->out, error))
        return PM_PASS_FAILED;
    p->instrument.counting.slot_stride =
        (pm_constant_unit(p->instrument.info->point_count) + 7) & ~7u;
    p->counting = (struct pm_constant_counting){.counters = &p->instrument.counting,
                                                .function = p->instrument.function};
    if (!rewrite(p)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return PM_PASS_FAILED;
    }
    return PM_PASS_CHANGED;
}

static const struct pm_pass instrument_constants = {
    "instrument_constants",
    PM_ANALYSIS_CFG | PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, 0,
    run};

/* Who counts names points by number: all of these. */
static uint32_t *number_points(struct pm_arena *arena, uint32_t count)
{
    uint32_t *numbers = arena ? pm_arena_zalloc(arena, count + 1u, sizeof(*numbers)) : NULL;
    for (uint32_t i = 0; numbers && i < count; i++)
        numbers[i] = i;
    return numbers;
}

bool pm_instrument_constants(const uint32_t *words, size_t count,
                             const struct pm_constant_point *points, uint32_t point_count,
                             const struct pm_instrument_info *info, struct pm_instrumented *out,
                             struct pm_error *error)
{
    *out = (struct pm_instrumented){0};
    struct pass p = {.points = points, .arena = pm_arena_create(0), .out = out};
    struct pm_instrument_info own = *info;
    own.points = number_points(p.arena, point_count);
    own.point_count = point_count;
    own.count_copies = false;
    bool ok = pm_instrument_begin(&p.instrument, words, count, &own, error) &&
              (own.points || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
              pm_pass_run(&p.instrument.passes, &instrument_constants, &p, error) != PM_PASS_FAILED;
    ok = pm_instrument_end(&p.instrument, ok, out, error);
    pm_arena_destroy(p.arena);
    return ok;
}
