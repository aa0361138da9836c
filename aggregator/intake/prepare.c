#include "aggregator/intake/prepare.h"

#include "aggregator/statistics/statistics.h"
#include "aggregator/storage/fail.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Points that one profile's shaders may have in all: a space costs an uploader nothing, but
 * everyone else memory. */
#define PROFILE_SPACE ((uint64_t)1 << 22)
#define SAMPLES_CAP ((size_t)1 << 30) /* bytes; far above what a profile's limits let through */

static int compare_shaders(const void *a, const void *b)
{
    const struct pm_shader_profile *left = *(const struct pm_shader_profile *const *)a;
    const struct pm_shader_profile *right = *(const struct pm_shader_profile *const *)b;
    int order = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    if (order == 0)
        order = (left->kind > right->kind) - (left->kind < right->kind);
    if (order == 0)
        order = memcmp(&left->environment, &right->environment, sizeof(left->environment));
    return order != 0 ? order : (left->flags > right->flags) - (left->flags < right->flags);
}

/* A shader that is there twice would be two clusters; spaces within one profile must agree too. */
static bool check_repeats(const struct pm_profile *profile, struct pm_error *error)
{
    const struct pm_shader_profile **sorted = calloc(profile->shader_count + 1, sizeof(*sorted));
    if (!sorted)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders",
                       profile->shader_count);
    for (size_t i = 0; i < profile->shader_count; i++)
        sorted[i] = &profile->shaders[i];
    qsort(sorted, profile->shader_count, sizeof(*sorted), compare_shaders);
    bool done = true;
    for (size_t i = 1; done && i < profile->shader_count; i++) {
        const struct pm_shader_profile *before = sorted[i - 1], *now = sorted[i];
        if (compare_shaders(&sorted[i - 1], &sorted[i]) == 0) {
            pm_fail(error, PM_ERROR_INPUT, "key: is there twice");
            done = pm_fail_shader(error, &now->key);
        } else if (pm_shader_key_equal(&before->key, &now->key) && before->kind == now->kind &&
                   before->space != now->space) {
            pm_fail(error, PM_ERROR_INPUT, "space: %" PRIu32 " and %" PRIu32 " in one profile",
                    before->space, now->space);
            done = pm_fail_shader(error, &now->key);
        }
    }
    free(sorted);
    return done;
}

/* Everything about a profile that can be told without the storage. */
static bool check_profile(const struct pm_profile *profile, struct pm_error *error)
{
    uint64_t space = 0;
    if (!profile->game || profile->game[0] == 0)
        return pm_fail(error, PM_ERROR_INPUT, "game: is empty");
    for (size_t i = 0; i < profile->shader_count; i++) {
        if (!pm_statistics_check_profile(&profile->shaders[i], error))
            return pm_fail_shader(error, &profile->shaders[i].key);
        /* Nothing is kept of variants but what was measured. */
        space += profile->shaders[i].kind == PM_KIND_VARIANT ? profile->shaders[i].point_count
                                                             : profile->shaders[i].space;
    }
    if (space > PROFILE_SPACE)
        return pm_fail(error, PM_ERROR_INPUT, "space: %" PRIu64 " in all, which is above %" PRIu64,
                       space, PROFILE_SPACE);
    return check_repeats(profile, error);
}

/* Leaves out what has no points. */
static bool keep_measured(struct pm_prepared *prepared, const struct pm_profile *profile,
                          struct pm_error *error)
{
    size_t count = 0;
    prepared->profile = profile;
    for (size_t i = 0; i < profile->shader_count; i++)
        count += profile->shaders[i].point_count > 0;
    if (count == profile->shader_count)
        return true;
    prepared->shaders = calloc(count + 1, sizeof(*prepared->shaders));
    if (!prepared->shaders)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders", count);
    prepared->measured = *profile;
    prepared->measured.shaders = prepared->shaders;
    prepared->measured.shader_count = 0;
    for (size_t i = 0; i < profile->shader_count; i++) {
        if (profile->shaders[i].point_count > 0)
            prepared->shaders[prepared->measured.shader_count++] = profile->shaders[i];
    }
    prepared->profile = &prepared->measured;
    return true;
}

struct pm_prepared *pm_ingest_prepare(struct pm_quarantine *quarantine,
                                      const struct pm_profile *profile, struct pm_error *error)
{
    if (!check_profile(profile, error)) {
        if (error->code == PM_ERROR_INPUT || error->code == PM_ERROR_UNSUPPORTED)
            pm_quarantine_add_profile(quarantine, profile, error->message);
        return NULL;
    }
    struct pm_prepared *prepared = calloc(1, sizeof(*prepared));
    if (!prepared) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a profile");
        return NULL;
    }
    pm_buffer_init(&prepared->samples, SAMPLES_CAP);
    if (!keep_measured(prepared, profile, error)) {
        pm_prepared_destroy(prepared);
        return NULL;
    }
    profile = prepared->profile;
    for (unsigned part = 0; part < PM_SAMPLE_PARTS; part++) {
        const struct pm_shader_profile *before = NULL;
        for (size_t i = 0; i < profile->shader_count; i++) {
            const struct pm_shader_profile *shader = &profile->shaders[i];
            if (pm_sample_part(&shader->key) != part)
                continue;
            if (!pm_sample_append(&prepared->samples, profile->scene ? profile->scene : "", shader,
                                  before)) {
                pm_prepared_destroy(prepared);
                pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders",
                        profile->shader_count);
                return NULL;
            }
            before = shader;
        }
        prepared->ends[part] = prepared->samples.size;
    }
    return prepared;
}

void pm_prepared_destroy(struct pm_prepared *prepared)
{
    if (!prepared)
        return;
    pm_buffer_finish(&prepared->samples);
    free(prepared->shaders);
    free(prepared);
}

size_t pm_prepared_bytes(const struct pm_prepared *prepared)
{
    return sizeof(*prepared) + prepared->samples.allocated;
}

size_t pm_prepared_claims(const struct pm_prepared *prepared)
{
    const struct pm_profile *profile = prepared->profile;
    return profile->shader_count * (profile->scene && *profile->scene ? 2 : 1);
}
