#include "tools/estimates.h"
#include "tools/tool.h"
#include <cjson/cJSON.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: piecemeal db show [OPTION…]\n\n"
    "  --game NAME       the game; needed where there are several\n"
    "  --storage FILE    an aggregator's SQLite file (the one of `run --local`)\n"
    "  --database FILE   a PGO database that was pulled\n"
    "  --shader KEY      only the shaders whose key starts so, with every point's estimates\n"
    "  --points          every point's estimates, of every shader\n"
    "  --json            everything, as JSON\n\n"
    "A point is covered once a sample has measured it. FREQ is how often a block runs per "
    "invocation of the shader\n"
    "(ratio of sums, with its 95 % interval), UNIFORM the share of its lanes whose whole subgroup "
    "came along,\n"
    "SUBGROUPS how often it runs per subgroup. P(zero) is the share of a candidate's writes that "
    "were zero in\n"
    "every lane, WRITES how often it is written per subgroup. TIME is a specialized shader's time "
    "over that of\n"
    "the one it stands in for; its points are timed pairs of calls, its key is its own.\n";

enum { LIKELIEST = 5 }; /* zero candidates that a summary names */

/* The measures of each kind: for people, and in JSON. */
static const struct {
    const char *title, *name;
} measures[][PM_MEASURES] = {
    [PM_KIND_BLOCK] = {{"FREQ", "frequency"}, {"UNIFORM", "uniform"}, {"SUBGROUPS", "subgroups"}},
    [PM_KIND_ZERO] = {{"P(zero)", "zero"}, {"WRITES", "writes"}},
    [PM_KIND_TIMING] = {{"TIME", "time"}},
};

struct options {
    struct pm_estimates_source source;
    const char *shader;
    bool points, json;
};

static bool selected(const struct options *options, const struct pm_shader_estimates *shader)
{
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, text);
    return !options->shader || !strncmp(text, options->shader, strlen(options->shader));
}

static void print_ratio(const struct pm_ratio *ratio)
{
    if (ratio->clusters == 0)
        printf("  %27s", "no sample");
    else
        printf("  %8.4f [%7.4f, %7.4f]", ratio->ratio, ratio->ratio_low, ratio->ratio_high);
}

static void print_points(const struct pm_shader_estimates *shader)
{
    if (!shader->points)
        return;
    const unsigned count = pm_measure_count(shader->kind);
    printf("    %5s %7s %8s", "point", "calls", "sessions");
    for (unsigned i = 0; i < count; i++)
        printf("  %-27s", measures[shader->kind][i].title);
    putchar('\n');
    for (uint32_t i = 0; i < shader->space; i++) {
        const struct pm_point_estimate *point = &shader->points[i];
        printf("    %5u %7u %8u", i, point->calls, point->sessions);
        for (unsigned measure = 0; measure < count; measure++)
            print_ratio(&point->measures[measure]);
        putchar('\n');
    }
}

/* The candidates that are zero most often, each time that they are written. */
static void print_likeliest(const struct pm_shader_estimates *shader)
{
    uint32_t best[LIKELIEST], count = 0;
    for (uint32_t i = 0; shader->points && i < shader->space; i++) {
        const double zero = shader->points[i].measures[PM_MEASURE_ZERO].ratio;
        uint32_t at = count;
        while (at > 0 && shader->points[best[at - 1]].measures[PM_MEASURE_ZERO].ratio < zero)
            at--;
        if (zero <= 0 || at == LIKELIEST)
            continue;
        count += count < LIKELIEST;
        memmove(&best[at + 1], &best[at], (count - 1 - at) * sizeof(*best));
        best[at] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_ratio *zero = &shader->points[best[i]].measures[PM_MEASURE_ZERO];
        printf("%s%u: %.3f [%.3f, %.3f]", i ? ", " : "    likeliest zeros: ", best[i], zero->ratio,
               zero->ratio_low, zero->ratio_high);
    }
    if (count > 0)
        putchar('\n');
}

static void print_timing(const struct pm_shader_estimates *shader)
{
    const struct pm_environment *environment = &shader->environment;
    if (shader->points) {
        const struct pm_ratio *time = &shader->points[0].measures[PM_MEASURE_TIME];
        printf("    time %.3f [%.3f, %.3f] of the original's", time->mean, time->mean_low,
               time->mean_high);
    } else {
        printf("    timed");
    }
    printf(" on vendor %#x, device %#x, driver %u version %#x\n", environment->vendor_id,
           environment->device_id, environment->driver_id, environment->driver_version);
}

static void print_state(const struct pm_shader_estimates *shader)
{
    printf("%s%s%s\n", shader->published ? "published" : "needs samples",
           shader->flags & PM_PROFILE_OCCLUDED ? ", occluded pixels too" : "",
           shader->flags & PM_PROFILE_NO_QUADS ? ", without quads too" : "");
}

static bool print_text(const struct options *options, const struct pm_estimates *estimates)
{
    const struct pm_database *database = &estimates->database;
    uint64_t points = 0, covered = 0, shaders = 0, whole = 0;
    printf("%s (%s)\n\n", database->game, estimates->origin);
    printf("%-12s %-6s %8s %7s %8s  %-20s %14s  %s\n", "shader", "kind", "subgroup", "points",
           "covered", "calls a point", "invocations", "state");
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i];
        if (!selected(options, shader))
            continue;
        struct pm_coverage coverage;
        if (!pm_estimates_coverage(shader, &coverage))
            return false;
        char key[PM_SHADER_KEY_TEXT], calls[64];
        pm_shader_key_format(&shader->key, key);
        snprintf(calls, sizeof(calls), "%u…%u (median %u)", coverage.calls_least,
                 coverage.calls_most, coverage.calls_median);
        printf("%.12s %-6s %8u %7u %7.0f%%  %-20s %14llu  ", key, pm_kind_name(shader->kind),
               shader->environment.subgroup_size, coverage.points,
               coverage.points ? 100.0 * coverage.covered / coverage.points : 100.0, calls,
               (unsigned long long)shader->entry_lanes);
        print_state(shader);
        if (shader->kind == PM_KIND_ZERO)
            print_likeliest(shader);
        else if (shader->kind == PM_KIND_TIMING)
            print_timing(shader);
        if (options->points || options->shader)
            print_points(shader);
        points += coverage.points;
        covered += coverage.covered;
        shaders++;
        whole += coverage.covered == coverage.points;
    }
    printf("\n%llu of %llu shaders covered whole, %llu of %llu points sampled\n",
           (unsigned long long)whole, (unsigned long long)shaders, (unsigned long long)covered,
           (unsigned long long)points);
    return true;
}

static cJSON *ratio_json(const struct pm_ratio *ratio)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "clusters", ratio->clusters);
    if (ratio->clusters) {
        cJSON_AddNumberToObject(json, "ratio_of_sums", ratio->ratio);
        cJSON_AddNumberToObject(json, "ratio_of_sums_low", ratio->ratio_low);
        cJSON_AddNumberToObject(json, "ratio_of_sums_high", ratio->ratio_high);
        cJSON_AddNumberToObject(json, "mean_of_ratios", ratio->mean);
        cJSON_AddNumberToObject(json, "mean_of_ratios_low", ratio->mean_low);
        cJSON_AddNumberToObject(json, "mean_of_ratios_high", ratio->mean_high);
    }
    return json;
}

static cJSON *point_json(const struct pm_shader_estimates *shader, uint32_t index)
{
    const struct pm_point_estimate *point = &shader->points[index];
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddNumberToObject(entry, "point", index);
    cJSON_AddNumberToObject(entry, "calls", point->calls);
    cJSON_AddNumberToObject(entry, "sessions", point->sessions);
    for (unsigned i = 0; i < pm_measure_count(shader->kind); i++)
        cJSON_AddItemToObject(entry, measures[shader->kind][i].name,
                              ratio_json(&point->measures[i]));
    return entry;
}

static void add_environment(cJSON *json, const struct pm_shader_estimates *shader)
{
    const struct pm_environment *environment = &shader->environment;
    cJSON_AddNumberToObject(json, "subgroup_size", environment->subgroup_size);
    if (shader->kind != PM_KIND_TIMING)
        return;
    cJSON_AddNumberToObject(json, "vendor_id", environment->vendor_id);
    cJSON_AddNumberToObject(json, "device_id", environment->device_id);
    cJSON_AddNumberToObject(json, "driver_id", environment->driver_id);
    cJSON_AddNumberToObject(json, "driver_version", environment->driver_version);
}

static cJSON *shader_json(const struct pm_shader_estimates *shader)
{
    char key[PM_SHADER_KEY_TEXT];
    struct pm_coverage coverage;
    if (!pm_estimates_coverage(shader, &coverage))
        return NULL;
    cJSON *json = cJSON_CreateObject();
    pm_shader_key_format(&shader->key, key);
    cJSON_AddStringToObject(json, "key", key);
    cJSON_AddStringToObject(json, "kind", pm_kind_name(shader->kind));
    add_environment(json, shader);
    cJSON_AddBoolToObject(json, "published", shader->published);
    cJSON_AddBoolToObject(json, "occluded", (shader->flags & PM_PROFILE_OCCLUDED) != 0);
    if (shader->kind == PM_KIND_ZERO)
        cJSON_AddBoolToObject(json, "no_quads", (shader->flags & PM_PROFILE_NO_QUADS) != 0);
    cJSON_AddNumberToObject(json, "space", shader->space);
    cJSON_AddNumberToObject(json, "covered", coverage.covered);
    cJSON_AddNumberToObject(json, "entry_lanes", (double)shader->entry_lanes);
    cJSON *points = cJSON_AddArrayToObject(json, "points");
    for (uint32_t i = 0; shader->points && i < shader->space; i++)
        cJSON_AddItemToArray(points, point_json(shader, i));
    return json;
}

static bool print_json(const struct options *options, const struct pm_database *database)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "game", database->game);
    cJSON *shaders = cJSON_AddArrayToObject(json, "shaders");
    bool ok = json && shaders;
    for (size_t i = 0; ok && i < database->shader_count; i++)
        if (selected(options, &database->shaders[i]))
            ok = cJSON_AddItemToArray(shaders, shader_json(&database->shaders[i]));
    char *text = ok ? cJSON_Print(json) : NULL;
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(json);
    return text != NULL;
}

static int parse(int argc, char **argv, struct options *options)
{
    enum { GAME = 256, STORAGE, DATABASE, SHADER, POINTS, JSON };
    static const struct option known[] = {{"game", 1, 0, GAME},         {"storage", 1, 0, STORAGE},
                                          {"database", 1, 0, DATABASE}, {"shader", 1, 0, SHADER},
                                          {"points", 0, 0, POINTS},     {"json", 0, 0, JSON},
                                          {"help", 0, 0, 'h'},          {0}};
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        switch (option) {
        case GAME:
            options->source.game = optarg;
            break;
        case STORAGE:
            options->source.storage = optarg;
            break;
        case DATABASE:
            options->source.database = optarg;
            break;
        case SHADER:
            options->shader = optarg;
            break;
        case POINTS:
            options->points = true;
            break;
        case JSON:
            options->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return PM_EXIT_OK;
        default:
            return pm_tool_usage("db", "see above");
        }
    }
    if (optind + 1 != argc || strcmp(argv[optind], "show") != 0)
        return pm_tool_usage("db", "takes `show`");
    return -1;
}

int pm_command_db(int argc, char **argv)
{
    struct options options = {0};
    struct pm_error error = {0};
    struct pm_estimates estimates;
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;
    if (!pm_estimates_load(&options.source, &estimates, &error))
        return pm_tool_failed("db", &error);
    bool ok =
        options.json ? print_json(&options, &estimates.database) : print_text(&options, &estimates);
    pm_estimates_finish(&estimates);
    if (ok)
        return PM_EXIT_OK;
    pm_fail(&error, PM_ERROR_MEMORY, "out of memory");
    return pm_tool_failed("db", &error);
}
