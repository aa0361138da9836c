#include "tools/report/report_shader.h"
#include "shader_rewrite/ir/ir_module.h"
#include "tools/report/report_costs.h"
#include "tools/report/report_globals.h"
#include "tools/report/report_original.h"
#include "tools/report/report_places.h"
#include "tools/report/report_source.h"
#include "tools/report/report_spirv.h"
#include "tools/report/report_zero.h"
#include <string.h>

/* A label's block number by its id. */
static uint32_t *number_labels(const struct pm_block_points *points, uint32_t bound,
                               struct pm_arena *arena)
{
    uint32_t *numbers = pm_arena_alloc(arena, (size_t)bound * sizeof(*numbers));
    if (!numbers)
        return NULL;
    memset(numbers, 0xff, (size_t)bound * sizeof(*numbers)); /* PM_NO_BLOCK */
    for (uint32_t i = 0; i < points->count; i++)
        if (points->points[i].label < bound)
            numbers[points->points[i].label] = i;
    return numbers;
}

static bool fill_block(const struct pm_ir_block *from, const uint32_t *numbers,
                       struct pm_arena *arena, struct pm_report_block *block)
{
    for (const struct pm_ir_instr *instr = from->body.first; instr; instr = instr->next)
        block->instructions++;
    const struct pm_ir_instr *end = pm_ir_terminator(from);
    if (!end)
        return true;
    block->successors = pm_arena_zalloc(arena, end->operand_count + 1u, sizeof(*block->successors));
    if (!block->successors)
        return false;
    for (uint32_t i = 0; i < end->operand_count; i++) {
        uint32_t id = pm_ir_operand_id(&end->operands[i]);
        uint32_t to = id ? numbers[id] : PM_NO_BLOCK;
        bool known = to == PM_NO_BLOCK;
        for (uint32_t j = 0; j < block->successor_count; j++)
            known = known || block->successors[j] == to;
        if (!known)
            block->successors[block->successor_count++] = to;
    }
    return true;
}

static bool fill_blocks(const struct pm_report_source *source, const struct pm_block_points *points,
                        struct pm_arena *arena, struct pm_report_shader *shader,
                        struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(source->canonical, source->canonical_count, error);
    if (!module)
        return false;
    uint32_t *numbers = number_labels(points, module->bound, arena);
    shader->blocks = pm_arena_zalloc(arena, points->count + 1u, sizeof(*shader->blocks));
    bool ok = numbers && shader->blocks;
    for (const struct pm_ir_function *function = module->first_function; ok && function;
         function = function->next)
        for (const struct pm_ir_block *block = function->first_block; ok && block;
             block = block->next) {
            uint32_t number = numbers[block->label->result->id];
            if (number != PM_NO_BLOCK)
                ok = fill_block(block, numbers, arena, &shader->blocks[number]);
        }
    pm_ir_module_destroy(module);
    return ok || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static void fill_estimates(const struct pm_block_points *points, struct pm_report_shader *shader)
{
    for (uint32_t i = 0; i < shader->block_count; i++) {
        struct pm_report_block *block = &shader->blocks[i];
        block->at_most_once = points->points[i].at_most_once;
        block->is_whole = points->points[i].is_whole;
        if (!shader->estimates->points)
            continue;
        const struct pm_point_estimate *estimate = &shader->estimates->points[i];
        block->calls = estimate->calls;
        block->frequency = estimate->measures[PM_MEASURE_FREQUENCY];
        block->uniform = estimate->measures[PM_MEASURE_UNIFORM];
        block->sampled = block->frequency.clusters > 0;
    }
}

/* Each instruction's cost goes to the line that it went into. */
static bool cost_lines(const struct pm_report_costs *costs, struct pm_arena *arena,
                       struct pm_report_shader *shader)
{
    struct pm_report_places places;
    if (!pm_report_places_build(shader, arena, &places))
        return false;
    for (size_t place = 0; place < costs->word_count; place++) {
        if (costs->block[place] == PM_NO_BLOCK)
            continue;
        const uint32_t line = pm_report_places_find(&places, costs->block[place], place);
        if (line != UINT32_MAX)
            shader->lines[line].cost += pm_report_cost_share(costs, place);
    }
    return true;
}

/* The canonical module with the original's names, for people; false: it is not to be had. */
static bool name_module(const struct pm_report_source *source, uint32_t block_count,
                        struct pm_words *named, struct pm_block_points *points)
{
    const struct pm_canonicalize_info info = {
        .words = source->original,
        .word_count = source->original_count,
        .stage = source->stage,
        .entry_point = source->entry_point,
        .spec_values = source->spec_values,
        .spec_value_count = source->spec_value_count,
        .target = source->target,
        .keep_names = true,
    };
    if (source->original && pm_canonicalize(&info, named, NULL) &&
        pm_points_blocks(named->data, named->count, points, NULL) && points->count == block_count)
        return true;
    pm_block_points_finish(points);
    pm_words_finish(named);
    return false;
}

static bool fill_lines(const struct pm_report_source *source, struct pm_arena *arena,
                       struct pm_report_shader *shader, struct pm_error *error)
{
    struct pm_words named = {0};
    struct pm_block_points points = {0};
    struct pm_words words = {(uint32_t *)source->canonical, source->canonical_count};
    bool ok = true;
    if (name_module(source, shader->block_count, &named, &points))
        words = named;
    else
        ok = pm_points_blocks(words.data, words.count, &points, error);
    struct pm_report_costs costs;
    ok = ok && pm_report_globals(&words, arena, shader, error) &&
         pm_report_costs_build(words.data, words.count, &points, shader->estimates, source->vendor,
                               arena, &costs, error);
    if (ok)
        (void)pm_report_spirv_build(words.data, words.count, &costs, arena, &shader->spirv, NULL);
    ok = ok &&
         pm_report_source_lines(words.data, words.count, &points, arena, &shader->lines,
                                &shader->line_count, error) &&
         (cost_lines(&costs, arena, shader) || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
         pm_report_zero_build(&words, &source->target, arena, shader, error);
    pm_block_points_finish(&points);
    pm_words_finish(&named);
    return ok;
}

bool pm_report_shader_build(const struct pm_report_source *source,
                            const struct pm_shader_estimates *estimates,
                            const struct pm_shader_estimates *zeros, struct pm_arena *arena,
                            struct pm_report_shader *shader, struct pm_error *error)
{
    struct pm_block_points points = {0};
    *shader = (struct pm_report_shader){.estimates = estimates,
                                        .zero_estimates = zeros,
                                        .stage = source->stage,
                                        .name = source->name};
    struct pm_report_costs costs;
    if (!pm_points_blocks(source->canonical, source->canonical_count, &points, error))
        return false;
    shader->block_count = points.count;
    bool ok = points.count == estimates->space ||
              pm_fail(error, PM_ERROR_INPUT, "the stored shader has %u blocks, its profile %u",
                      points.count, estimates->space);
    ok = ok && fill_blocks(source, &points, arena, shader, error) &&
         pm_report_costs_build(source->canonical, source->canonical_count, &points, estimates,
                               source->vendor, arena, &costs, error);
    if (ok) {
        fill_estimates(&points, shader);
        pm_report_costs_blocks(&costs, shader);
    }
    pm_block_points_finish(&points);
    struct pm_error why = {0};
    if (ok && !fill_lines(source, arena, shader, &why)) {
        shader->why_no_lines = pm_arena_strdup(arena, why.message);
        ok = shader->why_no_lines || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    return ok && pm_report_original_build(source, arena, shader, error);
}
