#include "tests/shader_rewrite/instrument/counting.h"

#include "profile/profile.h"
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/points/points_blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/shader_rewrite/instrument/sums.h"

#include "tests/cmocka_includes.h"

void counting_load(struct counting *c, const char *name, enum pm_stage stage)
{
    *c = (struct counting){.name = name, .stage = stage};
    struct pm_words original;
    pm_gpu_load(PM_TEST_COUNTS, name, &original.data, &original.count);
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = stage,
                                              .entry_point = "main",
                                              .target = {.vulkan_minor = 1}};
    struct pm_error error = {0};
    if (!pm_canonicalize(&info, &c->canonical, &error))
        fail_msg("%s: %s", name, error.message);
    pm_words_finish(&original);
    c->module = pm_ir_parse(c->canonical.data, c->canonical.count, &error);
    assert_non_null(c->module);
    assert_true(pm_points_blocks(c->canonical.data, c->canonical.count, &c->points, &error));
}

void counting_finish(struct counting *c)
{
    pm_words_finish(&c->canonical);
    pm_ir_module_destroy(c->module);
    pm_block_points_finish(&c->points);
}

void counting_run_begin(struct counting_run *run, struct pm_gpu *gpu, const struct counting *c,
                        const struct counting_way *way)
{
    *run = (struct counting_run){.way = *way};
    const struct pm_instrument_info info = {
        .points = way->points,
        .point_count = way->point_count,
        .slot_count = way->slot_count,
        .subgroup_size = gpu->subgroup_size,
        .most_lanes = gpu->most_lanes,
        .subgroup_arithmetic = gpu->arithmetic,
        .sums_outlive_loops = pm_gpu_sums_outlive_loops(gpu),
        .int64_atomics = way->int64_atomics,
        .memory_model_device_scope = gpu->memory_model_device_scope,
        .may_force_early_tests = way->may_force_early_tests,
        .target = {.vulkan_minor = 1},
    };
    struct pm_error error = {0};
    struct pm_instrumented *out = &run->instrumented;
    if (!pm_instrument_blocks(c->canonical.data, c->canonical.count, &info, out, &error))
        fail_msg("%s: %s", c->name, error.message);
    pm_gpu_buffer_create(gpu, out->counter_bytes, &run->counters);
    assert_int_equal(run->counters.address % 64, 0);
    for (size_t i = 0; i < out->counter_bytes / 8; i++)
        memcpy((char *)run->counters.data + 8 * i, &way->preload, 8);
    run->address[0] = (uint32_t)run->counters.address;
    run->address[1] = (uint32_t)(run->counters.address >> 32);
    run->entries[0] = (VkSpecializationMapEntry){out->spec_id_low, 0, 4};
    run->entries[1] = (VkSpecializationMapEntry){out->spec_id_high, 4, 4};
    run->specialization = (VkSpecializationInfo){2, run->entries, 8, run->address};
}

void counting_run_read(const struct counting_run *run, uint64_t *totals)
{
    const struct pm_instrumented *out = &run->instrumented;
    const uint32_t used = pm_block_units(&out->blocks);
    uint64_t *sums = calloc(used, sizeof(*sums));
    assert_non_null(sums);
    for (uint32_t slot = 0; slot < run->way.slot_count; slot++)
        for (uint32_t i = 0; i < out->slot_stride; i++) {
            uint64_t value;
            memcpy(&value, (char *)run->counters.data + 8 * (slot * out->slot_stride + i), 8);
            value -= run->way.preload;
            if (i < used)
                sums[i] += value;
            else
                assert_int_equal(value, 0); /* padding is left alone */
        }
    pm_block_totals(&out->blocks, sums, totals);
    free(sums);
}

void counting_run_finish(struct counting_run *run, struct pm_gpu *gpu)
{
    pm_gpu_buffer_destroy(gpu, &run->counters);
    pm_instrumented_finish(&run->instrumented);
}

static bool is_mark(const struct pm_ir_instr *instr, uint32_t mark)
{
    const struct pm_ir_instr *chain =
        instr->opcode == SpvOpAtomicIAdd ? pm_ir_operand_instr(instr, 0) : NULL;
    if (!chain || chain->opcode != SpvOpAccessChain || chain->operand_count != 3)
        return false;
    const struct pm_ir_instr *index = pm_ir_operand_instr(chain, 2);
    return index->opcode == SpvOpConstant && pm_ir_operand_word(&index->operands[0]) == mark;
}

uint32_t counting_points_of_mark(const struct counting *c, uint32_t mark, uint32_t points[8])
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < c->points.count; p++) {
        const struct pm_ir_block *block = pm_ir_find(c->module, c->points.points[p].label)->block;
        for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
            if (is_mark(i, mark) && count < 8) {
                points[count++] = p;
                break;
            }
    }
    return count;
}

static uint64_t lanes_of(const uint64_t *totals, const uint32_t *point_of, uint32_t block)
{
    return totals[2 + PM_COUNTS * point_of[block] + PM_BLOCK_LANES];
}

void counting_assert_flow(const struct counting *c, uint32_t subgroup_size, const uint64_t *totals)
{
    enum pm_stage stage;
    struct pm_error error = {0};
    struct pm_ir_function *function = pm_entry_function(c->module, &stage, &error);
    assert_true(pm_analysis_require(function, PM_ANALYSIS_CFG, &error));
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_graph *g = &cfg->flow;
    uint32_t *point_of = calloc(cfg->count, sizeof(*point_of));
    assert_non_null(point_of);
    for (uint32_t p = 0; p < c->points.count; p++)
        point_of[pm_ir_find(c->module, c->points.points[p].label)->block->index] = p;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!pm_cfg_reachable(cfg, b))
            continue;
        uint64_t in = 0, out = 0, lanes = lanes_of(totals, point_of, b);
        bool all_in = b > 0, all_out = g->successor_start[b + 1] > g->successor_start[b];
        for (uint32_t i = g->predecessor_start[b]; i < g->predecessor_start[b + 1]; i++) {
            uint32_t p = g->predecessors[i];
            if (!pm_cfg_reachable(cfg, p))
                continue;
            all_in = all_in && g->successor_start[p + 1] - g->successor_start[p] == 1;
            in += lanes_of(totals, point_of, p);
        }
        for (uint32_t i = g->successor_start[b]; i < g->successor_start[b + 1]; i++) {
            uint32_t s = g->successors[i];
            all_out = all_out && g->predecessor_start[s + 1] - g->predecessor_start[s] == 1;
            out += lanes_of(totals, point_of, s);
        }
        if ((all_in && in != lanes) || (all_out && out != lanes))
            fail_msg("%s: block %u: %" PRIu64 " lanes in, %" PRIu64 " counted, %" PRIu64 " out",
                     c->name, b, in, lanes, out);
    }
    free(point_of);
    for (uint32_t p = 0; p < c->points.count; p++) {
        const uint64_t *counts = totals + 2 + PM_COUNTS * p;
        assert_true(counts[PM_BLOCK_UNIFORM_LANES] <= counts[PM_BLOCK_LANES]);
        assert_true(counts[PM_BLOCK_SUBGROUPS] <= counts[PM_BLOCK_LANES]);
        assert_true(counts[PM_BLOCK_LANES] <= counts[PM_BLOCK_SUBGROUPS] * subgroup_size);
        if (c->points.points[p].at_most_once)
            assert_true(counts[PM_BLOCK_LANES] <= totals[0]);
    }
    assert_int_equal(totals[2 + PM_BLOCK_LANES], totals[0]);
    assert_int_equal(totals[2 + PM_BLOCK_UNIFORM_LANES], totals[0]);
    assert_int_equal(totals[2 + PM_BLOCK_SUBGROUPS], totals[1]);
}
