#include "tools/db/db_races.h"

#include "aggregator/curation/publish_races.h"
#include "base/file.h"
#include "profile/variant_point.h"
#include "tools/export/export.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool load_beside(const char *database, struct pm_arena *arena, struct pm_races *races,
                        struct pm_error *error)
{
    static const char suffix[] = ".pmdb";
    const size_t length = strlen(database), tail = sizeof(suffix) - 1;
    char *path = NULL;
    struct pm_buffer body;
    if (length <= tail || strcmp(database + length - tail, suffix) != 0)
        return true;
    if (asprintf(&path, "%.*s.pmraces", (int)(length - tail), database) < 0)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_buffer_init(&body, PM_RACES_BODY_BYTES);
    const bool done = access(path, F_OK) != 0 ||
                      (pm_file_read(path, &body, error) &&
                       pm_races_body_decode(body.data, body.size, arena, races, error));
    pm_buffer_finish(&body);
    free(path);
    return done;
}

bool pm_db_races_load(const struct pm_estimates *estimates, const char *database,
                      struct pm_races *races, struct pm_error *error)
{
    struct pm_error why = {0};
    char etag[PM_ETAG_TEXT];
    *races = (struct pm_races){.game = estimates->database.game};
    if (!estimates->aggregator)
        return !database || load_beside(database, estimates->arena, races, error);
    if (pm_races_published(pm_aggregator_storage(estimates->aggregator), estimates->database.game,
                           estimates->arena, races, etag, &why) ||
        why.code == PM_ERROR_STATE)
        return true;
    if (error)
        *error = why;
    return false;
}

static void print_variants(const struct pm_race *race, FILE *out)
{
    fprintf(out, "    %-32s %7s %9s %9s\n", "variant", "share", "time", "clusters");
    for (size_t i = 0; i < race->variant_count; i++) {
        const struct pm_race_variant *variant = &race->variants[i];
        char name[PM_VARIANT_POINT_NAME], time[16] = "–";
        pm_variant_point_name(variant->point, name);
        if (variant->clusters > 0)
            snprintf(time, sizeof(time), "%.1f %%", 100 * exp(variant->log_time));
        fprintf(out, "    %-32s %5.1f %% %9s %9u%s\n", name, 100 * variant->share, time,
                variant->clusters, variant->lost ? "  lost" : "");
    }
}

static void print_race(const struct pm_race *race, bool whole, FILE *out)
{
    const struct pm_environment *environment = &race->environment;
    char key[PM_SHADER_KEY_TEXT], name[PM_VARIANT_POINT_NAME];
    size_t lost = 0;
    for (size_t i = 0; i < race->variant_count; i++)
        lost += race->variants[i].lost;
    pm_shader_key_format(&race->key, key);
    fprintf(out, "%.12s  device %04x:%04x, driver %u, version %x: ", key, environment->vendor_id,
            environment->device_id, environment->driver_id, environment->driver_version);
    if (race->winner != 0) {
        pm_variant_point_name(race->winner, name);
        fprintf(out, "%s wins with %.1f %% of the time (%.1f to %.1f)", name, 100 * exp(race->mean),
                100 * exp(race->low), 100 * exp(race->high));
    } else {
        fputs("no winner yet", out);
    }
    fprintf(out, ", %zu of %zu variants lost\n", lost, race->variant_count);
    if (whole)
        print_variants(race, out);
}

void pm_db_races_print(const struct pm_races *races, const char *prefix, bool whole, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < races->race_count; i++) {
        if (!pm_export_selected_race(&races->races[i], prefix))
            continue;
        if (!any)
            fputs("\nraces of variants (times over the original's):\n", out);
        any = true;
        print_race(&races->races[i], whole, out);
    }
}
