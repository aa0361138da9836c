/* CSV (RFC 4180), one row per point and measure. A name that a spreadsheet would take for a formula
 * has an apostrophe before it. */
#include "tools/export/export.h"

#include "tools/common/estimates.h"
#include <string.h>

static void print_text(const char *text, FILE *out)
{
    fputc('"', out);
    if (*text && strchr("=+-@", *text))
        fputc('\'', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_measure(const struct pm_ratio *ratio, FILE *out)
{
    fprintf(out, ",%u", ratio->clusters);
    if (ratio->clusters == 0)
        fputs(",,,,,,", out);
    else
        fprintf(out, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g", ratio->ratio, ratio->ratio_low,
                ratio->ratio_high, ratio->mean, ratio->mean_low, ratio->mean_high);
    fputs("\r\n", out);
}

static void print_shader(const char *game, const struct pm_shader_estimates *shader, FILE *out)
{
    const struct pm_environment *environment = &shader->environment;
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, key);
    for (uint32_t i = 0; shader->points && i < shader->space; i++) {
        const struct pm_point_estimate *point = &shader->points[i];
        for (unsigned measure = 0; measure < pm_measure_count(shader->kind); measure++) {
            print_text(game, out);
            fprintf(out, ",%s,%s,%u,%u,%u,%u,%u,%u,%d,%llu,%u,%u,%u,%s", key,
                    pm_kind_name(shader->kind), environment->subgroup_size, environment->vendor_id,
                    environment->device_id, environment->driver_id, environment->driver_version,
                    shader->flags, shader->published, (unsigned long long)shader->entry_lanes, i,
                    point->calls, point->sessions, pm_measure_name(shader->kind, measure));
            print_measure(&point->measures[measure], out);
        }
    }
}

bool pm_export_csv(const struct pm_export *export, FILE *out, struct pm_error *error)
{
    const struct pm_database *database = export->database;
    (void)error;
    fputs("game,shader,kind,subgroup_size,vendor_id,device_id,driver_id,driver_version,flags,"
          "published,entry_lanes,point,calls,sessions,measure,clusters,ratio_of_sums,"
          "ratio_of_sums_low,ratio_of_sums_high,mean_of_ratios,mean_of_ratios_low,"
          "mean_of_ratios_high\r\n",
          out);
    for (size_t i = 0; i < database->shader_count; i++)
        if (pm_export_selected(&database->shaders[i], export->shader))
            print_shader(database->game, &database->shaders[i], out);
    return true;
}
