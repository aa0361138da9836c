#include "tools/shader/zero_profile_file.h"

#include "tools/shader/profile_source.h"

static bool read_json(const struct pm_profile_source *source, uint32_t candidates, uint32_t blocks,
                      struct pm_zero_profile *profile, struct pm_error *error)
{
    bool ok = pm_profile_source_list(source, "zero", candidates, &profile->zero, error) &&
              pm_profile_source_list(source, "writes", candidates, &profile->writes, error) &&
              pm_profile_source_list(source, "blocks", blocks, &profile->blocks, error);
    if (ok && !profile->zero)
        ok = pm_fail(error, PM_ERROR_INPUT, "%s: there is no \"zero\" in it", source->name);
    profile->candidate_count = candidates;
    profile->block_count = profile->blocks ? blocks : 0;
    return ok;
}

static bool read_database(const struct pm_profile_source *source, const struct pm_shader_key *key,
                          uint32_t candidates, uint32_t blocks, struct pm_zero_profile *profile,
                          struct pm_error *error)
{
    const struct pm_shader_estimates *zero = pm_profile_source_find(source, key, PM_KIND_ZERO);
    const struct pm_shader_estimates *block = pm_profile_source_find(source, key, PM_KIND_BLOCK);
    if (!zero || zero->space != candidates)
        return pm_profile_source_lacks(source, key, PM_KIND_ZERO, error);
    return pm_zero_profile_init(profile, zero, block && block->space == blocks ? block : NULL) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

bool pm_zero_profile_load(const char *path, const char *game, const struct pm_shader_key *key,
                          uint32_t candidates, uint32_t blocks, struct pm_zero_profile *profile,
                          struct pm_error *error)
{
    struct pm_profile_source source;
    *profile = (struct pm_zero_profile){0};
    if (!pm_profile_source_open(path, game, &source, error))
        return false;
    const bool ok = source.json ? read_json(&source, candidates, blocks, profile, error)
                                : read_database(&source, key, candidates, blocks, profile, error);
    pm_profile_source_finish(&source);
    if (!ok)
        pm_zero_profile_finish(profile);
    return ok;
}
