#include "tools/db/db_people.h"
#include "base/utf8.h"
#include "profile/shader_store.h"
#include "tools/stored/shader_heat.h"
#include "tools/stored/shader_name.h"
#include <stdlib.h>
#include <string.h>

#define OFTEN 0.32 /* from here on a zero is considered for specializing (AZP) */
#define STEADY 0.99

enum { NAME_COLUMNS = 36 };

/* A shader in subgroups of one size, whatever was profiled of it. */
struct row {
    const struct pm_shader_estimates *any, *blocks, *zeros, *constants; /* NULL: not profiled */
    const char *name;                                                   /* NULL: not in the store */
    double heat;                                                        /* 0: not known */
};

struct rows {
    struct row *list;
    size_t count;
    double heat;
};

static const char *plural(uint64_t number)
{
    return number == 1 ? "" : "s";
}

/* ---- what there is ---- */

static bool is_same(const struct pm_shader_estimates *a, const struct pm_shader_estimates *b)
{
    return pm_shader_key_equal(&a->key, &b->key) &&
           a->environment.subgroup_size == b->environment.subgroup_size;
}

/* Of several that differ in flags, the one with the fewest comes first. */
static void take(struct row *row, const struct pm_shader_estimates *shader)
{
    const struct pm_shader_estimates **at = shader->kind == PM_KIND_BLOCK  ? &row->blocks
                                            : shader->kind == PM_KIND_ZERO ? &row->zeros
                                                                           : &row->constants;
    if (!*at)
        *at = shader;
}

static void collect(const struct pm_database *database, struct rows *rows)
{
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i];
        size_t at = 0;
        if (shader->kind == PM_KIND_TIMING || shader->kind == PM_KIND_TURNS)
            continue;
        while (at < rows->count && !is_same(rows->list[at].any, shader))
            at++;
        if (at == rows->count)
            rows->list[rows->count++] = (struct row){.any = shader};
        take(&rows->list[at], shader);
    }
}

/* What this machine's store knows of them. */
static void look_up(struct rows *rows, const struct pm_database *database,
                    struct pm_shader_store *store, struct pm_arena *arena)
{
    const uint32_t vendor = pm_heat_vendor(database);
    for (size_t i = 0; i < rows->count; i++) {
        struct row *row = &rows->list[i];
        struct pm_stored_shader stored;
        if (!pm_shader_store_read(store, &row->any->key, arena, &stored, NULL))
            continue;
        row->name = pm_shader_name(&stored, arena);
        if (row->blocks && pm_heat_of(stored.canonical, stored.canonical_count, row->blocks, vendor,
                                      &row->heat, NULL))
            rows->heat += row->heat;
    }
}

static uint64_t lanes_of(const struct row *row)
{
    return row->blocks ? row->blocks->entry_lanes : row->any->entry_lanes;
}

static int compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->heat != y->heat)
        return x->heat < y->heat ? 1 : -1;
    return (lanes_of(x) < lanes_of(y)) - (lanes_of(x) > lanes_of(y));
}

/* ---- lines ---- */

static void print_padded(const char *text, size_t columns, FILE *out)
{
    size_t used = 0;
    for (const char *at = text; *at && used < columns; used++) {
        const size_t size = pm_utf8_length(at, strlen(at));
        fwrite(at, 1, size, out);
        at += size;
    }
    fprintf(out, "%*s", (int)(columns - used), "");
}

/* How many points have a measure of so much, at least. */
static uint32_t count_from(const struct pm_shader_estimates *shader, unsigned measure, double least)
{
    uint32_t count = 0;
    for (uint32_t i = 0; shader->points && i < shader->space; i++) {
        const struct pm_ratio *ratio = &shader->points[i].measures[measure];
        count += ratio->clusters > 0 && ratio->ratio >= least;
    }
    return count;
}

/* "12 of 12 blocks". */
static bool print_measured(const struct row *row, FILE *out, struct pm_error *error)
{
    struct pm_coverage coverage;
    char text[48] = "not profiled";
    if (row->blocks && !pm_estimates_coverage(row->blocks, &coverage))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (row->blocks)
        snprintf(text, sizeof(text), "%u of %u", coverage.covered, coverage.points);
    fprintf(out, "  %-12s", text);
    return true;
}

static void print_share(const struct pm_shader_estimates *shader, unsigned measure, double least,
                        FILE *out)
{
    char text[48] = "–           ";
    if (shader)
        snprintf(text, sizeof(text), "%u of %u", count_from(shader, measure, least), shader->space);
    fprintf(out, "  %-12s", text);
}

static bool is_ready(const struct row *row)
{
    return (!row->blocks || row->blocks->published) && (!row->zeros || row->zeros->published) &&
           (!row->constants || row->constants->published);
}

static bool print_row(const struct rows *rows, const struct row *row, FILE *out,
                      struct pm_error *error)
{
    char key[PM_SHADER_KEY_TEXT], cost[16] = "?";
    pm_shader_key_format(&row->any->key, key);
    if (row->heat > 0)
        snprintf(cost, sizeof(cost), "%.1f %%", 100 * row->heat / rows->heat);
    fprintf(out, "%8s  ", cost);
    print_padded(row->name ? row->name : "(not on this machine)", NAME_COLUMNS, out);
    fprintf(out, "  %.12s", key);
    if (!print_measured(row, out, error))
        return false;
    print_share(row->zeros, PM_MEASURE_ZERO, OFTEN, out);
    print_share(row->constants, PM_MEASURE_SAME, STEADY, out);
    fprintf(out, "  %s\n", is_ready(row) ? "enough" : "needs more");
    return true;
}

/* What came of it, where that was timed. */
static void print_timings(const struct pm_database *database, const struct row *row, FILE *out)
{
    const struct pm_shader_estimates *timing = NULL;
    while ((timing = pm_estimates_next_timing(database, row->any, timing))) {
        const struct pm_ratio *time =
            timing->points ? &timing->points[0].measures[PM_MEASURE_TIME] : NULL;
        fprintf(out, "%10sspecialized: ", "");
        if (time && time->clusters > 1)
            fprintf(out, "%.2f of its time before, between %.2f and %.2f, in %u sessions\n",
                    time->mean, time->mean_low, time->mean_high, time->clusters);
        else if (time && time->clusters == 1) /* of which no interval says anything */
            fprintf(out, "%.2f of its time before, in one session\n", time->mean);
        else
            fputs("not timed enough yet\n", out);
    }
}

static void print_sum(const struct rows *rows, FILE *out)
{
    size_t ready = 0, known = 0;
    for (size_t i = 0; i < rows->count; i++) {
        ready += is_ready(&rows->list[i]);
        known += rows->list[i].name != NULL;
    }
    fprintf(out,
            "\n%zu shader%s, %zu with enough samples. Cost: estimated cycles in the sampled calls",
            rows->count, plural(rows->count), ready);
    if (known < rows->count)
        fprintf(out, ", of the %zu whose code is here", known);
    fputs(".\nOften zero: values that are zero every third time and more. Steady: words that have "
          "one "
          "value in a session.\n`--points` has every number, `piecemeal report` the code.\n",
          out);
}

static bool print_all(const struct pm_estimates *estimates, struct rows *rows, FILE *out,
                      struct pm_error *error)
{
    fprintf(out, "%s (%s)\n\n%8s  ", estimates->database.game, estimates->origin, "cost");
    print_padded("shader", NAME_COLUMNS, out);
    fprintf(out, "  %-12s  %-12s  %-12s  %-12s  %s\n", "key", "blocks seen", "often zero", "steady",
            "samples");
    for (size_t i = 0; i < rows->count; i++) {
        if (!print_row(rows, &rows->list[i], out, error))
            return false;
        print_timings(&estimates->database, &rows->list[i], out);
    }
    print_sum(rows, out);
    return true;
}

bool pm_db_people(const struct pm_estimates *estimates, const char *store, FILE *out,
                  struct pm_error *error)
{
    struct rows rows = {.list =
                            pm_arena_zalloc(estimates->arena, estimates->database.shader_count + 1,
                                            sizeof(*rows.list))};
    struct pm_shader_store *shaders = pm_shader_store_open(store, 0);
    bool ok = (rows.list && shaders) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (ok) {
        collect(&estimates->database, &rows);
        look_up(&rows, &estimates->database, shaders, estimates->arena);
        qsort(rows.list, rows.count, sizeof(*rows.list), compare);
        ok = print_all(estimates, &rows, out, error);
    }
    pm_shader_store_close(shaders);
    return ok;
}
