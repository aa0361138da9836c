#include "tools/shader/block_passes.h"

#include "shader_rewrite/blocks/block_profile.h"
#include "tools/common/out_file.h"
#include "tools/shader/profile_source.h"
#include <stdio.h>

/* {"frequency": […], "uniform": […], "blocks": […], "low": […], "high": […]}, by block point: as
 * struct pm_block_profile has them, "blocks" its subgroups. */
static bool read_json(const struct pm_profile_source *source, uint32_t count,
                      struct pm_block_profile *profile, struct pm_error *error)
{
    profile->block_count = count;
    return pm_profile_source_list(source, "frequency", count, &profile->frequency, error) &&
           pm_profile_source_list(source, "low", count, &profile->low, error) &&
           pm_profile_source_list(source, "high", count, &profile->high, error) &&
           pm_profile_source_list(source, "uniform", count, &profile->uniform, error) &&
           pm_profile_source_list(source, "blocks", count, &profile->subgroups, error);
}

static bool read_profile(const struct pm_profile_source *source, const struct pm_words *in,
                         struct pm_block_profile *profile, struct pm_error *error)
{
    struct pm_block_points points;
    if (!pm_points_blocks(in->data, in->count, &points, error))
        return false;
    const uint32_t count = points.count;
    pm_block_points_finish(&points);
    if (source->json)
        return read_json(source, count, profile, error);
    const struct pm_shader_key key =
        pm_shader_key_compute(pm_canonicalize_recipe(), in->data, in->count);
    const struct pm_shader_estimates *block = pm_profile_source_find(source, &key, PM_KIND_BLOCK);
    if (!block || block->space != count)
        return pm_profile_source_lacks(source, &key, PM_KIND_BLOCK, error);
    return pm_block_profile_init(profile, block) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static bool load_profile(const struct pm_shader_options *options, const struct pm_words *in,
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
    if (!load_profile(options, in, &profile, error))
        return false;
    const struct pm_optimize_blocks_info info = {.profile = &profile,
                                                 .passes = pm_block_passes_named(options->pass),
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
