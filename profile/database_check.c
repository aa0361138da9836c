#include "profile/database_check.h"

#include "base/name.h"
#include "profile/wire.h"
#include <inttypes.h>
#include <math.h>

static bool all_finite(const struct pm_ratio *ratio)
{
    return isfinite((float)ratio->mean) && isfinite((float)ratio->mean_low) &&
           isfinite((float)ratio->mean_high) && isfinite((float)ratio->ratio) &&
           isfinite((float)ratio->ratio_low) && isfinite((float)ratio->ratio_high);
}

static bool check_provisional(const struct pm_shader_estimates *shader, size_t index,
                              struct pm_error *error)
{
    if (shader->published)
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: is published and provisional", index);
    for (uint32_t i = 0; i < shader->space; i++) {
        if (shader->provisional[i] > PM_PROVISIONAL_UNLIKELY)
            return pm_fail(error, PM_ERROR_INPUT,
                           "shader %zu: point %" PRIu32 ": field provisional is %u, more than %u",
                           index, i, shader->provisional[i], (unsigned)PM_PROVISIONAL_UNLIKELY);
    }
    return true;
}

bool pm_shader_estimates_check(const struct pm_shader_estimates *shader, size_t index,
                               struct pm_error *error)
{
    const char *wrong = pm_identity_wrong(&shader->environment, shader->kind, shader->flags,
                                          shader->space, &shader->original);
    if (wrong)
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: %s", index, wrong);
    if (shader->kind == PM_KIND_VARIANT)
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: field kind: what is known of variants is no part of a database",
                       index);
    if (shader->space > pm_profile_limits_default.space)
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: field space is %" PRIu32 ", more than %zu", index,
                       shader->space, pm_profile_limits_default.space);
    if ((wrong = pm_candidates_wrong(shader->candidates, shader->kind, shader->space)))
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: %s", index, wrong);
    if (shader->deficit && !pm_bitmap_is_tidy(shader->deficit, shader->space))
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: field deficit has bits outside its space of %" PRIu32, index,
                       shader->space);
    if (shader->published != (shader->points != NULL))
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: is %s, but has %s points", index,
                       shader->published ? "published" : "not published",
                       shader->published ? "no" : "the estimates of its");
    if (!(shader->lying.error >= 0 && shader->lying.error <= 1))
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: field lying_error is not from 0 to 1",
                       index);
    if (shader->provisional && !check_provisional(shader, index, error))
        return false;
    for (uint32_t i = 0; shader->points && i < shader->space; i++) {
        for (size_t m = 0; m < pm_measure_count(shader->kind); m++) {
            if (!all_finite(&shader->points[i].measures[m]))
                return pm_fail(error, PM_ERROR_INPUT,
                               "shader %zu: point %" PRIu32 ": measure %zu is not finite", index, i,
                               m);
        }
    }
    return true;
}

bool pm_database_check(const struct pm_database *database, struct pm_error *error)
{
    if (!pm_game_check(database->game, "field game", pm_profile_limits_default.name_bytes, error))
        return false;
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i], *before = shader - 1;
        if (!pm_shader_estimates_check(shader, i, error))
            return false;
        if (i > 0 && pm_identity_compare(&before->key, &before->environment, before->kind,
                                         before->flags, &shader->key, &shader->environment,
                                         shader->kind, shader->flags) >= 0)
            return pm_fail(error, PM_ERROR_INPUT, "shader %zu: is repeated or out of order", i);
    }
    return true;
}
