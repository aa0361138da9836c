#include "bench/cost/opportunity_guards.h"

#include "shader_rewrite/quirks/hiding_casts.h"
#include "shader_rewrite/quirks/quirks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of VkDriverId. */
enum { MESA_LLVMPIPE = 13, GOOGLE_SWIFTSHADER = 10 };

/* A quirk, or a driver by what it says of itself. */
static const struct {
    const char *name;
    uint32_t quirks;
    uint32_t driver;
    const char *driver_info;
} rows[PM_GUARD_ROWS] = {
    {.name = "no guard"},
    {.name = "chooses again", .quirks = PM_QUIRK_CHOOSES_AGAIN},
    {.name = "loads again", .quirks = PM_QUIRK_LOADS_AGAIN},
    {.name = "joined levels", .quirks = PM_QUIRK_JOINED_LEVELS},
    {.name = "folds uncast", .quirks = PM_QUIRK_FOLDS_UNCAST},
    {.name = "joined loads", .quirks = PM_QUIRK_JOINED_LOADS},
    {"lavapipe 22.3", 0, MESA_LLVMPIPE, "Mesa 22.3.6"},
    {"lavapipe 25.0", 0, MESA_LLVMPIPE, "Mesa 25.0.7"},
    {"SwiftShader", 0, GOOGLE_SWIFTSHADER, ""},
    {.name = "all guards", .quirks = PM_QUIRKS_ALL},
};

static uint32_t quirks_of(size_t row)
{
    if (!rows[row].driver)
        return rows[row].quirks;
    const struct pm_driver driver = pm_driver_of(rows[row].driver, 0, rows[row].driver_info);
    return pm_quirks_of(&driver);
}

/* The report where so many transforms may be made. */
static cJSON *specialize(const struct pm_words *words, const struct pm_zero_points *points,
                         const double *zero, uint32_t quirks, uint32_t transforms,
                         struct pm_error *error)
{
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = points->count};
    const struct pm_specialize_zero_info info = {.profile = &profile,
                                                 .zeros = points,
                                                 .subgroup_quad = true,
                                                 .target = pm_dumped_target,
                                                 .unguarded = PM_QUIRKS_ALL & ~quirks,
                                                 .most_transforms = transforms};
    struct pm_specialized out;
    if (!pm_specialize_zero(words->data, words->count, &info, &out, error))
        return NULL;
    cJSON *report = cJSON_Parse(out.report);
    pm_specialized_finish(&out);
    if (!report)
        pm_fail(error, PM_ERROR_MEMORY, "no report");
    return report;
}

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* The points that one transform could be made for, whatever is better. */
static uint32_t qualified(const cJSON *one)
{
    uint32_t count = 0;
    const cJSON *point;
    cJSON_ArrayForEach(point, cJSON_GetObjectItemCaseSensitive(one, "candidates"))
    {
        const char *reason =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(point, "reason"));
        if (cJSON_GetObjectItemCaseSensitive(point, "copy_of") || !reason)
            continue;
        count += strcmp(reason, "taken") == 0 || strncmp(reason, "others were", 11) == 0 ||
                 strncmp(reason, "all that is taken", 17) == 0;
    }
    return count;
}

static bool look_by(size_t row, const struct pm_words *words, const struct pm_zero_points *points,
                    const double *zero, struct pm_guard_sums *sums, struct pm_error *error)
{
    cJSON *one = specialize(words, points, zero, quirks_of(row), 1, error);
    cJSON *more = one ? specialize(words, points, zero, quirks_of(row), 0, error) : NULL;
    if (more) {
        const uint32_t transforms = (uint32_t)number(more, "transforms");
        sums->shaders += transforms > 0;
        sums->transforms += transforms;
        sums->points += qualified(one);
        sums->saved += transforms > 0 ? number(more, "saved") : 0;
    }
    const bool ok = more != NULL;
    cJSON_Delete(one);
    cJSON_Delete(more);
    return ok;
}

bool pm_guards_look(const struct pm_dumped *shader, const struct pm_words *canonical,
                    const struct pm_zero_points *points, struct pm_guard_sums sums[PM_GUARD_ROWS],
                    struct pm_error *error)
{
    struct pm_ir_module *original = pm_ir_parse(shader->info.words, shader->info.word_count, error);
    if (!original)
        return false;
    const bool casts = pm_has_hiding_casts(original);
    pm_ir_module_destroy(original);
    double *zero = malloc((points->count + 1u) * sizeof(*zero));
    bool ok = zero || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; ok && i < points->count; i++)
        zero[i] = 1;
    for (size_t row = 0; ok && row < PM_GUARD_ROWS; row++)
        if (!casts || !(quirks_of(row) & PM_QUIRK_FOLDS_UNCAST)) /* else it gets no variant */
            ok = look_by(row, canonical, points, zero, &sums[row], error);
    free(zero);
    return ok;
}

void pm_guards_print(const struct pm_guard_sums sums[PM_GUARD_ROWS])
{
    const struct pm_guard_sums *none = &sums[0];
    for (size_t row = 0; row < PM_GUARD_ROWS; row++) {
        const struct pm_guard_sums *s = &sums[row];
        printf("    %-14s shaders %4u, transforms %4u, points that qualify %5u, %10.0f cycles "
               "saved; lost: %u, %u, %u, %.1f %%\n",
               rows[row].name, s->shaders, s->transforms, s->points, s->saved,
               none->shaders - s->shaders, none->transforms - s->transforms,
               none->points - s->points,
               none->saved > 0 ? 100 * (1 - s->saved / none->saved) : 0.0);
    }
}
