#include "shader_rewrite/blocks/block_worth.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_folded.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/points/points_blocks.h"
#include "shader_rewrite/points/points_turns.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double paper_cold_share = 0.01; /* 4.1: "infrequently executed (< 1 %)" */

enum { REPORT_CAP = 16 << 20 }; /* bytes */

static const struct pm_pass *const passes[PM_BLOCK_PASSES] = {
    [PM_BLOCK_FLATTEN] = &pm_pass_optimize_flatten, [PM_BLOCK_SINK] = &pm_pass_optimize_sink,
    [PM_BLOCK_VERSION] = &pm_pass_optimize_version, [PM_BLOCK_UNROLL] = &pm_pass_optimize_unroll,
    [PM_BLOCK_PEEL] = &pm_pass_optimize_peel,       [PM_BLOCK_LAYOUT] = &pm_pass_optimize_layout,
};

const char *pm_block_pass_name(enum pm_block_pass pass)
{
    return passes[pass]->name;
}

const char *pm_block_pass_short(enum pm_block_pass pass)
{
    return pm_block_pass_name(pass) + strlen("optimize_");
}

void pm_block_passes_format(uint32_t bits, char text[static PM_BLOCK_PASSES_TEXT])
{
    text[0] = '\0';
    for (uint32_t p = 0; p < PM_BLOCK_PASSES; p++) {
        if (bits & 1u << p) {
            const size_t used = strlen(text);
            snprintf(text + used, PM_BLOCK_PASSES_TEXT - used, "%s%s", used ? "," : "",
                     pm_block_pass_short((enum pm_block_pass)p));
        }
    }
}

uint32_t pm_block_passes_named(const char *name)
{
    for (uint32_t p = 0; p < PM_BLOCK_PASSES; p++)
        if (!strcmp(passes[p]->name, name))
            return 1u << p;
    return strcmp(name, "optimize_blocks") ? 0 : PM_BLOCK_ALL;
}

/* ---- the profile, by label ---- */

static double number_of(const double *list, uint32_t point, double none)
{
    return list ? list[point] : none;
}

static bool take_profile(struct pm_blocks *blocks, const struct pm_block_points *points,
                         struct pm_error *error)
{
    const struct pm_block_profile none = {.block_count = points->count};
    const struct pm_block_profile *profile = blocks->info->profile ? blocks->info->profile : &none;
    const double unknown = (double)NAN;
    if (profile->block_count != points->count)
        return pm_fail(error, PM_ERROR_INPUT, "the profile has %u blocks, the module %u",
                       profile->block_count, points->count);
    blocks->label_bound = blocks->module->bound;
    blocks->numbers = pm_arena_zalloc(blocks->arena, blocks->label_bound, sizeof(*blocks->numbers));
    blocks->points = pm_arena_zalloc(blocks->arena, blocks->label_bound, sizeof(*blocks->points));
    blocks->turns = pm_arena_zalloc(blocks->arena, blocks->label_bound, sizeof(*blocks->turns));
    if (!blocks->numbers || !blocks->points || !blocks->turns)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t id = 0; id < blocks->label_bound; id++) {
        blocks->numbers[id] =
            (struct pm_block_numbers){unknown, unknown, unknown, unknown, unknown};
        blocks->points[id] = blocks->turns[id] = UINT32_MAX;
    }
    for (uint32_t p = 0; p < points->count; p++) {
        const uint32_t label = points->points[p].label;
        if (label >= blocks->label_bound)
            continue;
        const double frequency = number_of(profile->frequency, p, unknown);
        blocks->points[label] = p;
        blocks->numbers[label] =
            (struct pm_block_numbers){.frequency = frequency,
                                      .low = number_of(profile->low, p, frequency),
                                      .high = number_of(profile->high, p, frequency),
                                      .uniform = number_of(profile->uniform, p, unknown),
                                      .subgroups = number_of(profile->subgroups, p, unknown)};
    }
    return true;
}

static bool take_turns(struct pm_blocks *blocks, const struct pm_turn_points *turns,
                       struct pm_error *error)
{
    if (blocks->info->profile->turn_count != turns->count)
        return pm_fail(error, PM_ERROR_INPUT, "the profile has %u turns of loops, the module %u",
                       blocks->info->profile->turn_count, turns->count);
    for (uint32_t l = 0; l < turns->loop_count; l++)
        if (turns->loops[l].header < blocks->label_bound)
            blocks->turns[turns->loops[l].header] = l * PM_TURN_POINTS;
    return true;
}

static bool find_turns(struct pm_blocks *blocks, struct pm_pass_runner *runner,
                       struct pm_error *error)
{
    const struct pm_turn_points *given = blocks->info->turns;
    struct pm_turn_points turns = {0};
    if (!blocks->info->profile || !blocks->info->profile->reached)
        return true;
    const bool ok = (given || pm_pass_apply(runner, &pm_pass_points_turns, &turns, error)) &&
                    take_turns(blocks, given ? given : &turns, error);
    pm_turn_points_finish(&turns);
    return ok;
}

/* ---- the passes ---- */

static bool prepare(struct pm_blocks *blocks, struct pm_pass_runner *runner, struct pm_error *error)
{
    struct pm_block_points points = {0};
    blocks->arena = pm_arena_create(0);
    blocks->function = pm_entry_function(blocks->module, &blocks->stage, error);
    if (!blocks->arena && blocks->function)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    const struct pm_block_points *given = blocks->info->points;
    const bool ok = blocks->function &&
                    (given || pm_pass_apply(runner, &pm_pass_points_blocks, &points, error)) &&
                    take_profile(blocks, given ? given : &points, error) &&
                    find_turns(blocks, runner, error) && pm_blocks_cost(blocks, error);
    pm_block_points_finish(&points);
    return ok;
}

static bool run_passes(struct pm_blocks *blocks, struct pm_pass_runner *runner,
                       struct pm_optimized_blocks *out, struct pm_error *error)
{
    for (uint32_t p = 0; p < PM_BLOCK_PASSES; p++) {
        const uint32_t before = blocks->changes;
        if ((blocks->info->passes & 1u << p) && !pm_pass_apply(runner, passes[p], blocks, error))
            return false;
        out->changes_by[p] = blocks->changes - before;
    }
    return true;
}

static bool finish_report(struct pm_blocks *blocks, struct pm_optimized_blocks *out,
                          struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, REPORT_CAP);
    out->cycles = pm_blocks_cycles(blocks);
    out->saved = pm_blocks_saved(blocks);
    if (blocks->info->weigh && !pm_blocks_are_worth_it(out->cycles, out->saved)) {
        blocks->changes = 0;
        memset(out->changes_by, 0, sizeof out->changes_by);
    }
    const bool ok = !blocks->report_failed &&
                    pm_buffer_printf(&text,
                                     "{\"changes\":%u,\"cycles\":%.1f,\"saved\":%.1f,"
                                     "\"decisions\":[",
                                     blocks->changes, out->cycles, out->saved) &&
                    (!blocks->report.size ||
                     pm_buffer_append(&text, blocks->report.data, blocks->report.size)) &&
                    pm_buffer_append_string(&text, "]}");
    if (!ok) {
        pm_buffer_finish(&text);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    out->report = (char *)text.data;
    out->changes = blocks->changes;
    return true;
}

static bool write_out(struct pm_blocks *blocks, const uint32_t *words, size_t count,
                      struct pm_optimized_blocks *out, struct pm_error *error)
{
    struct pm_target target = blocks->info->target;
    if (!blocks->changes)
        return true;
    /* Votes are of SPIR-V 1.3, so of Vulkan 1.1. */
    if (blocks->module->version >= PM_SPIRV_1_3 && target.vulkan_minor < 1)
        target.vulkan_minor = 1;
    bool refused = false;
    const bool ok = pm_ir_emit(blocks->module, &out->words, error) &&
                    (pm_validate_made(&out->words, words, count, &target, error) ||
                     pm_fail_prefix(error, "optimized shader is not valid")) &&
                    pm_refuse_folded(words, count, &out->words, &out->report, &refused, error);
    if (refused) {
        out->changes = 0;
        memset(out->changes_by, 0, sizeof out->changes_by);
    }
    return ok;
}

bool pm_optimize_blocks(const uint32_t *words, size_t count,
                        const struct pm_optimize_blocks_info *info, struct pm_optimized_blocks *out,
                        struct pm_error *error)
{
    *out = (struct pm_optimized_blocks){0};
    struct pm_blocks blocks = {.info = info,
                               .costs = info->costs ? info->costs : pm_costs_of(0),
                               .cold_share =
                                   info->cold_share > 0 ? info->cold_share : paper_cold_share,
                               .uniform_share = info->uniform_share,
                               .module = pm_ir_parse(words, count, error)};
    if (!blocks.module)
        return false;
    struct pm_pass_runner runner = pm_pass_runner_of(blocks.module, info->times);
    pm_buffer_init(&blocks.report, REPORT_CAP);
    const bool ok = prepare(&blocks, &runner, error) && run_passes(&blocks, &runner, out, error) &&
                    finish_report(&blocks, out, error) &&
                    write_out(&blocks, words, count, out, error);
    pm_buffer_finish(&blocks.report);
    pm_arena_destroy(blocks.arena);
    pm_ir_module_destroy(blocks.module);
    if (!ok)
        pm_optimized_blocks_finish(out);
    return ok;
}

void pm_optimized_blocks_finish(struct pm_optimized_blocks *optimized)
{
    if (!optimized)
        return;
    pm_words_finish(&optimized->words);
    free(optimized->report);
    *optimized = (struct pm_optimized_blocks){0};
}
