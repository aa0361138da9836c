#include "tools/shader/block_passes.h"

#include "shader_rewrite/blocks/block_profile.h"
#include "tools/common/out_file.h"
#include "tools/shader/profile_source.h"
#include <stdio.h>

/* {"frequency": […], "uniform": […], "blocks": […], "low": […], "high": […]}, by block point, and
 * {"reached": […], "reached_uniform": […]}, by point of turns: as struct pm_block_profile has them,
 * "blocks" its subgroups. */
static bool read_json(const struct pm_profile_source *source, uint32_t count, uint32_t turns,
                      struct pm_block_profile *profile, struct pm_error *error)
{
    profile->block_count = count;
    profile->turn_count = turns;
    return pm_profile_source_list(source, "frequency", count, &profile->frequency, error) &&
           pm_profile_source_list(source, "low", count, &profile->low, error) &&
           pm_profile_source_list(source, "high", count, &profile->high, error) &&
           pm_profile_source_list(source, "uniform", count, &profile->uniform, error) &&
           pm_profile_source_list(source, "blocks", count, &profile->subgroups, error) &&
           pm_profile_source_list(source, "reached", turns, &profile->reached, error) &&
           pm_profile_source_list(source, "reached_uniform", turns, &profile->reached_uniform,
                                  error);
}

static bool count_points(const struct pm_words *in, uint32_t *blocks, uint32_t *turns,
                         struct pm_error *error)
{
    struct pm_block_points of_blocks;
    struct pm_turn_points of_turns = {0};
    const bool ok = pm_points_blocks(in->data, in->count, &of_blocks, error) &&
                    pm_points_turns(in->data, in->count, &of_turns, error);
    *blocks = of_blocks.count;
    *turns = of_turns.count;
    pm_block_points_finish(&of_blocks);
    pm_turn_points_finish(&of_turns);
    return ok;
}

static bool read_profile(const struct pm_profile_source *source, const struct pm_words *in,
                         struct pm_block_profile *profile, struct pm_error *error)
{
    uint32_t count, turn_count;
    if (!count_points(in, &count, &turn_count, error))
        return false;
    if (source->json)
        return read_json(source, count, turn_count, profile, error);
    const struct pm_shader_key key =
        pm_shader_key_compute(pm_canonicalize_recipe(), in->data, in->count);
    const struct pm_shader_estimates *block = pm_profile_source_find(source, &key, PM_KIND_BLOCK);
    if (!block || block->space != count)
        return pm_profile_source_lacks(source, &key, PM_KIND_BLOCK, error);
    const struct pm_shader_estimates *turns = pm_profile_source_find(source, &key, PM_KIND_TURNS);
    const bool has_turns = turns && turns->space == turn_count;
    return (pm_block_profile_init(profile, block) &&
            (!has_turns || pm_block_profile_add_turns(profile, turns))) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

bool pm_shader_block_profile(const struct pm_shader_options *options, const struct pm_words *in,
                             struct pm_block_profile *profile, struct pm_error *error)
{
    struct pm_profile_source source;
    *profile = (struct pm_block_profile){0};
    if (!pm_profile_source_open(options->profile, options->game, &source, error))
        return false;
    const bool ok = read_profile(&source, in, profile, error);
    pm_profile_source_finish(&source);
    if (!ok)
        pm_block_profile_finish(profile);
    return ok;
}

bool pm_shader_optimize_blocks(struct pm_shader_options *options, const struct pm_words *in,
                               struct pm_error *error)
{
    struct pm_block_profile profile;
    struct pm_optimized_blocks out;
    if (!pm_shader_block_profile(options, in, &profile, error))
        return false;
    const uint32_t named = pm_block_passes_named(options->pass);
    const uint32_t passes = named == PM_BLOCK_ALL ? options->block_passes : named;
    const struct pm_optimize_blocks_info info = {.profile = &profile,
                                                 .passes = passes,
                                                 .uniform_share = options->uniform_share,
                                                 .ignore_uniformity = options->ignore_uniformity,
                                                 .subgroup_vote = !options->no_vote,
                                                 .costs = options->specialize.costs,
                                                 .target = options->target,
                                                 .driver = options->specialize.driver,
                                                 .times = options->times};
    bool ok = pm_optimize_blocks(in->data, in->count, &info, &out, error);
    pm_block_profile_finish(&profile);
    if (!ok)
        return false;
    if (options->json)
        puts(out.report);
    else if (out.changes)
        printf("%u changes, %zu words for %zu\n", out.changes, out.words.count, in->count);
    else
        puts("nothing to optimize");
    const struct pm_words *words = out.changes ? &out.words : in;
    ok = !options->out || pm_out_bytes(options->out, words->data, words->count * 4, error);
    pm_optimized_blocks_finish(&out);
    return ok;
}
