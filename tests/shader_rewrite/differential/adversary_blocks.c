#include "tests/shader_rewrite/differential/adversary_blocks.h"

#include "base/random.h"
#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_entry.h"

#include <math.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

const char *const adversary_block_ways[ADVERSARY_BLOCK_WAYS] = {"blocks, steady and rare",
                                                                "blocks, absurd"};

static double absurd(struct pm_random *random)
{
    static const double values[] = {NAN, INFINITY, -INFINITY, -1, 0, 1e300, -0.0, 1, 1e-9, 5};
    return values[pm_random_below(random, sizeof(values) / sizeof(values[0]))];
}

/* The latch of a loop turns n times, its header once more. */
static void make_steady(struct pm_random *random, struct pm_ir_function *function,
                        const uint32_t *point_of, struct adversary_block_profile *lists)
{
    const struct pm_loops *loops = pm_loops(function);
    for (uint32_t l = 0; l < loops->count; l++) {
        const uint32_t header = point_of[loops->loops[l].header];
        const uint32_t latch = point_of[loops->loops[l].continue_target];
        if (header == UINT32_MAX || latch == UINT32_MAX)
            continue;
        const double turns = 2 + pm_random_below(random, 2);
        lists->frequency[latch] = lists->subgroups[latch] = turns;
        lists->frequency[header] = lists->subgroups[header] = turns + (latch != header);
    }
}

static void find(struct pm_random *random, const struct pm_words *canonical,
                 struct adversary_block_profile *lists)
{
    struct pm_error error = {0};
    enum pm_stage stage;
    struct pm_ir_module *module = pm_ir_parse(canonical->data, canonical->count, &error);
    struct pm_ir_function *function = module ? pm_entry_function(module, &stage, &error) : NULL;
    if (!function || !pm_analysis_require(function, PM_ANALYSIS_LOOPS, &error))
        fail_msg("%s", error.message);
    const struct pm_cfg *cfg = pm_cfg(function);
    uint32_t *point_of = calloc(cfg->count, sizeof(*point_of));
    assert_non_null(point_of);
    for (uint32_t b = 0, point = 0; b < cfg->count; b++)
        point_of[b] = pm_cfg_reachable(cfg, b) ? point++ : UINT32_MAX;
    make_steady(random, function, point_of, lists);
    free(point_of);
    pm_ir_module_destroy(module);
}

static void fill(uint32_t way, struct pm_random *random, const struct pm_words *canonical,
                 struct adversary_block_profile *lists)
{
    static const double shares[] = {1, 1, 1e-3, 1e-6, 0};
    for (uint32_t i = 0; i < lists->points.count; i++) {
        const double share = i ? shares[pm_random_below(random, 5)] : 1;
        lists->frequency[i] = way ? absurd(random) : share;
        lists->subgroups[i] = way ? absurd(random) : share;
        lists->uniform[i] = way ? absurd(random) : pm_random_below(random, 5) ? 1 : 0.5;
    }
    if (!way)
        find(random, canonical, lists);
    for (uint32_t i = 0; i < lists->turns.count; i++) {
        const uint32_t turn = i % PM_TURN_POINTS;
        const bool goes_on = turn < 3 || (turn < 8 && pm_random_below(random, 4));
        lists->reached[i] = way         ? absurd(random)
                            : turn == 0 ? 1
                                        : (goes_on ? 1 : 0.5) * lists->reached[i - 1];
    }
}

bool adversary_block_profile(uint32_t way, uint64_t seed, const struct pm_words *canonical,
                             struct adversary_block_profile *out, struct pm_error *error)
{
    struct pm_random random;
    *out = (struct adversary_block_profile){0};
    if (!pm_points_blocks(canonical->data, canonical->count, &out->points, error) ||
        !pm_points_turns(canonical->data, canonical->count, &out->turns, error))
        return false;
    out->frequency = calloc(out->points.count, sizeof(double));
    out->uniform = calloc(out->points.count, sizeof(double));
    out->subgroups = calloc(out->points.count, sizeof(double));
    out->reached = calloc(out->turns.count + 1u, sizeof(double));
    assert_true(out->frequency && out->uniform && out->subgroups && out->reached);
    pm_random_init(&random, seed * ADVERSARY_BLOCK_WAYS + way);
    fill(way, &random, canonical, out);
    out->profile = (struct pm_block_profile){.frequency = out->frequency,
                                             .uniform = out->uniform,
                                             .subgroups = out->subgroups,
                                             .block_count = out->points.count,
                                             .reached = seed % 2 ? out->reached : NULL,
                                             .reached_uniform = way ? out->reached : NULL,
                                             .turn_count = out->turns.count};
    return true;
}

void adversary_block_profile_finish(struct adversary_block_profile *made)
{
    free(made->frequency);
    free(made->uniform);
    free(made->subgroups);
    free(made->reached);
    pm_block_points_finish(&made->points);
    pm_turn_points_finish(&made->turns);
    *made = (struct adversary_block_profile){0};
}

bool adversary_blocks(uint32_t passes, uint32_t way, uint64_t seed,
                      const struct pm_words *canonical, bool vote, const struct pm_target *target,
                      const struct pm_driver *driver, struct pm_optimized_blocks *out,
                      struct pm_error *error)
{
    struct adversary_block_profile made;
    *out = (struct pm_optimized_blocks){0};
    bool ok = adversary_block_profile(way, seed, canonical, &made, error);
    const struct pm_optimize_blocks_info info = {.profile = &made.profile,
                                                 .passes = passes,
                                                 .uniform_share = 0.9,
                                                 .subgroup_vote = vote,
                                                 .target = *target,
                                                 .driver = driver};
    ok = ok && pm_optimize_blocks(canonical->data, canonical->count, &info, out, error);
    adversary_block_profile_finish(&made);
    return ok;
}
