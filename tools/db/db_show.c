#include "profile/left_alone.h"
#include "tools/common/options.h"
#include "tools/db/db.h"
#include "tools/db/db_people.h"
#include "tools/db/db_races.h"
#include "tools/export/export.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: piecemeal db show [OPTION…]\n\n"
    "  --game NAME       the game (the one that ran here last)\n"
    "  --scene NAME      of a storage: only the profiles of this scene\n"
    "  --storage FILE    an aggregator's SQLite file (the one of `run --local`)\n"
    "  --database FILE   a PGO database that was pulled\n"
    "  --store FOLDER    the shader store that names come from (the layer's)\n"
    "  --shader KEY      only the shaders whose key starts so, with every point's estimates\n"
    "  --points          every number: kinds, calls, and every point's estimates\n"
    "  --json            everything, as JSON\n\n"
    "A line a shader, the hottest first, by estimated cycles. Then races of variants: which one of "
    "a\n"
    "shader's has won, of how many; with --points or --shader every variant.\n\n"
    "With --points: a point is covered once a sample has measured it. FREQ is how often a block "
    "runs per "
    "invocation of the shader\n"
    "(ratio of sums, with its 95 % interval), UNIFORM the share of its lanes whose whole subgroup "
    "came along,\n"
    "SUBGROUPS how often it runs per subgroup. P(zero) is the share of a candidate's writes that "
    "were zero in\n"
    "every lane, WRITES how often it is written per subgroup; values that are\n"
    "not worth measuring are left out, they are no points (how many is what most sessions said). "
    "TIME is a specialized shader's time "
    "over that of\n"
    "the one it stands in for; its points are timed pairs of calls, its key is its own. P(same) is "
    "the share of a\n"
    "word's loads (of a push constant or a uniform) that were of the session's most frequent "
    "value, P(zero) of 0,\n"
    "LOADS how often it is loaded per subgroup; of a push constant per sampled call.\n\n"
    "What needs samples may be provisional: so many values are likely or unlikely to be zero more "
    "often than not.\nA layer only tries what that suggests.\n";

enum { LIKELIEST = 5 }; /* zero candidates that a summary names */
#define STEADY 0.99     /* of a word's loads: what hardly ever changes */

struct options {
    struct pm_estimates_source source;
    const char *shader, *store;
    bool points, json;
};

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
        printf("  %-27s", pm_measure_title(shader->kind, i));
    putchar('\n');
    for (uint32_t i = 0; i < shader->space; i++) {
        const struct pm_point_estimate *point = &shader->points[i];
        printf("    %5u %7u %8u", i, point->calls, point->sessions);
        for (unsigned measure = 0; measure < count; measure++)
            print_ratio(&point->measures[measure]);
        puts(point->sessions == 1 ? "  within one session" : "");
    }
}

/* Points are what is worth measuring of them. */
static void print_left_out(const struct pm_shader_estimates *shader)
{
    if (shader->candidates != 0)
        printf("    of %u values that may be zero %u are measured, %u left out as not worth it\n",
               shader->candidates, shader->space, shader->candidates - shader->space);
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

/* How many words hardly ever change within a session. */
static void print_constants(const struct pm_shader_estimates *shader)
{
    uint32_t loaded = 0, same = 0, zero = 0;
    for (uint32_t i = 0; shader->points && i < shader->space; i++) {
        const struct pm_ratio *measures = shader->points[i].measures;
        if (measures[PM_MEASURE_SAME].clusters == 0)
            continue;
        loaded++;
        same += measures[PM_MEASURE_SAME].ratio >= STEADY;
        zero += measures[PM_MEASURE_SAME_ZERO].ratio >= STEADY;
    }
    if (loaded > 0)
        printf("    of %u words that are loaded %u have one value in %.0f %% of a session's loads "
               "and more, %u of them 0\n",
               loaded, same, 100 * STEADY, zero);
}

static void print_timing(const struct pm_shader_estimates *timing)
{
    char text[PM_TIMING_TEXT], original[PM_SHADER_KEY_TEXT];
    pm_estimates_describe_timing(timing, text);
    pm_shader_key_format(&timing->original, original);
    printf("    %s", text);
    if (!pm_shader_key_is_none(&timing->original))
        printf(", specialized from %.12s", original);
    putchar('\n');
}

/* What came of its zeros, where that was timed. */
static void print_measured(const struct pm_database *database,
                           const struct pm_shader_estimates *shader)
{
    char text[PM_TIMING_TEXT], key[PM_SHADER_KEY_TEXT];
    const struct pm_shader_estimates *timing = NULL;
    while ((timing = pm_estimates_next_timing(database, shader, timing))) {
        pm_estimates_describe_timing(timing, text);
        pm_shader_key_format(&timing->key, key);
        printf("    specialized, as %.12s: %s\n", key, text);
    }
}

static void print_state(const struct pm_shader_estimates *shader)
{
    printf("%s", shader->published ? "published" : "needs samples");
    const uint32_t liars = shader->lying.tokens > 0 ? shader->lying.tokens : 1;
    if (shader->lying.error > 0)
        printf(", off by %.3f at most if %u of a day's tokens %s",
               ceil(shader->lying.error * 1000) / 1000, liars, liars == 1 ? "lies" : "lie");
    if (shader->provisional)
        printf(", provisional: %u likely, %u unlikely",
               pm_provisional_count(shader, PM_PROVISIONAL_LIKELY),
               pm_provisional_count(shader, PM_PROVISIONAL_UNLIKELY));
    printf("%s%s\n", shader->flags & PM_PROFILE_OCCLUDED ? ", occluded pixels too" : "",
           shader->flags & PM_PROFILE_NO_QUADS ? ", without quads too" : "");
}

/* An interval is of how sessions differ, of which one says nothing. */
static void print_sessions(const struct pm_database *database)
{
    uint32_t most = 0;
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i];
        for (uint32_t point = 0; shader->points && point < shader->space; point++)
            if (shader->points[point].sessions > most)
                most = shader->points[point].sessions;
    }
    if (most == 1)
        printf("\nall of it from one session: how far others are from it, no interval can say\n");
}

static void print_left_alone(const struct pm_left_alone *left, struct pm_arena *arena)
{
    const char *text = left->shaders > 0 ? pm_left_alone_describe(left, arena) : NULL;
    if (text)
        printf("%s\n", text);
}

/* Every number there is. */
static bool print_numbers(const struct options *options, const struct pm_estimates *estimates,
                          struct pm_error *error)
{
    const struct pm_database *database = &estimates->database;
    uint64_t points = 0, covered = 0, shaders = 0, whole = 0;
    printf("%s (%s)\n\n", database->game, estimates->origin);
    printf("%-12s %-8s %8s %7s %8s  %-20s %14s  %s\n", "shader", "kind", "subgroup", "points",
           "covered", "calls a point", "invocations", "state");
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i];
        if (!pm_export_selected(shader, options->shader))
            continue;
        struct pm_coverage coverage;
        if (!pm_estimates_coverage(shader, &coverage))
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        char key[PM_SHADER_KEY_TEXT], calls[64];
        pm_shader_key_format(&shader->key, key);
        snprintf(calls, sizeof(calls), "%u…%u (median %u)", coverage.calls_least,
                 coverage.calls_most, coverage.calls_median);
        printf("%.12s %-8s %8u %7u %7.0f%%  %-20s %14llu  ", key, pm_kind_name(shader->kind),
               shader->environment.subgroup_size, coverage.points,
               coverage.points ? 100.0 * coverage.covered / coverage.points : 100.0, calls,
               (unsigned long long)shader->entry_lanes);
        print_state(shader);
        if (shader->kind == PM_KIND_ZERO) {
            print_left_out(shader);
            print_likeliest(shader);
            print_measured(database, shader);
        } else if (shader->kind == PM_KIND_CONSTANT) {
            print_constants(shader);
        } else if (shader->kind == PM_KIND_TIMING) {
            print_timing(shader);
        }
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

/* With the shaders of the game that this machine's layer could make nothing of. */
static bool show(const struct options *options, const struct pm_estimates *estimates,
                 struct pm_error *error)
{
    struct pm_left_alone left = {.shaders = 0};
    struct pm_arena *arena = pm_arena_create(0);
    bool ok = arena != NULL || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok && pm_left_alone_read(NULL, estimates->database.game, 0, arena, &left, error);
    struct pm_races races;
    ok = ok && pm_db_races_load(estimates, options->source.database, &races, error);
    const struct pm_export export = {.database = &estimates->database,
                                     .shader = options->shader,
                                     .left_alone = &left,
                                     .races = &races};
    if (ok && options->shader && !pm_export_selects_any(&estimates->database, options->shader))
        ok = pm_fail(error, PM_ERROR_STATE, "no shader of %s has a key that begins with %s",
                     estimates->database.game, options->shader);
    if (ok && options->json) {
        ok = pm_export_json(&export, stdout, error);
    } else if (ok && (ok = options->points || options->shader
                               ? print_numbers(options, estimates, error)
                               : pm_db_people(estimates, options->store, stdout, error))) {
        print_sessions(&estimates->database);
        print_left_alone(&left, arena);
        pm_db_races_print(&races, options->shader, options->points || options->shader, stdout);
    }
    pm_arena_destroy(arena);
    return ok;
}

int pm_db_show(int argc, char **argv)
{
    struct options options = {0};
    const struct pm_option known[] = {
        PM_OPTION_TEXT("game", &options.source.game),
        PM_OPTION_TEXT("scene", &options.source.scene),
        PM_OPTION_TEXT("storage", &options.source.storage),
        PM_OPTION_TEXT("database", &options.source.database),
        PM_OPTION_TEXT("shader", &options.shader),
        PM_OPTION_TEXT("store", &options.store),
        PM_OPTION_FLAG("points", &options.points),
        PM_OPTION_FLAG("json", &options.json),
    };
    struct pm_error error = {0};
    struct pm_estimates estimates;
    const int status =
        pm_tool_options("db show", help, known, sizeof(known) / sizeof(known[0]), argc, argv, NULL);
    if (status >= 0)
        return status;
    options.source.latest = true;
    if (!pm_estimates_load(&options.source, &estimates, &error))
        return pm_tool_failed("db show", &error);
    const bool ok = show(&options, &estimates, &error);
    pm_estimates_finish(&estimates);
    return ok ? PM_EXIT_OK : pm_tool_failed("db show", &error);
}
