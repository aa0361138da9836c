#include "tools/report/command_report.h"
#include "base/file.h"
#include "profile/shader_store.h"
#include "shader_rewrite/points/points.h"
#include "tools/common/estimates.h"
#include "tools/common/options.h"
#include "tools/common/out_file.h"
#include "tools/common/tool.h"
#include "tools/report/report_page.h"
#include "tools/report/report_shader.h"
#include "tools/stored/shader_heat.h"
#include "tools/stored/shader_name.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal report [--game NAME] [-o REPORT.html] [OPTION…]\n\n"
    "  -o FILE          where the page goes (a file of the game's name, which it says); -: to "
    "standard output\n"
    "  --game NAME      the game (the one that ran last)\n"
    "  --storage FILE   an aggregator's SQLite file (the one of `run --local`)\n"
    "  --database FILE  a PGO database that was pulled\n"
    "  --store FOLDER   the shader store (the layer's)\n"
    "  --top N          how many shaders get their graph and GLSL (25)\n\n"
    "One self-contained page. It opens on how many more frames specialized shaders make (what "
    "`run --ab` measured last),\n"
    "which shaders made them, what was never run, and how sure that is; then of each shader its "
    "control-flow graph, its\n"
    "source where it has debug information, GLSL and SPIR-V, coloured by cost or by how often "
    "they run, how often values\n"
    "are zero, and what it becomes when it is specialized for them.\n";

struct options {
    struct pm_estimates_source source;
    const char *out, *store;
    uint64_t top;
};

struct history {
    struct pm_report_coverage *samples;
    size_t count, room;
};

static bool note_coverage(void *user, int64_t time, uint64_t uploads, uint64_t covered,
                          uint64_t points)
{
    struct history *history = user;
    (void)uploads; /* of which a session may be several */
    if (history->count == history->room) {
        size_t room = history->room ? 2 * history->room : 64;
        struct pm_report_coverage *samples = realloc(history->samples, room * sizeof(*samples));
        if (!samples)
            return false;
        history->samples = samples;
        history->room = room;
    }
    history->samples[history->count++] = (struct pm_report_coverage){time, covered, points};
    return true;
}

static bool read_history(const struct pm_estimates *estimates, struct history *history,
                         struct pm_error *error)
{
    if (!estimates->aggregator)
        return true; /* a pulled database has no history */
    struct pm_storage *storage = pm_aggregator_storage(estimates->aggregator);
    return storage->operations->read_coverage(storage, estimates->database.game, note_coverage,
                                              history, error);
}

/* What is known of the blocks of a shader of which only other kinds were sampled: nothing. */
static const struct pm_shader_estimates *no_blocks_of(struct pm_shader_store *store,
                                                      const struct pm_shader_estimates *other,
                                                      struct pm_arena *arena)
{
    struct pm_shader_estimates *blocks = pm_arena_zalloc(arena, 1, sizeof(*blocks));
    struct pm_stored_shader stored;
    struct pm_block_points points;
    if (!blocks)
        return NULL;
    *blocks = (struct pm_shader_estimates){.key = other->key,
                                           .environment = other->environment,
                                           .kind = PM_KIND_BLOCK,
                                           .flags = other->flags & PM_PROFILE_OCCLUDED,
                                           .as_of_day = other->as_of_day,
                                           .entry_lanes = other->entry_lanes,
                                           .original = other->original};
    if (pm_shader_store_read(store, &other->key, arena, &stored, NULL) &&
        pm_points_blocks(stored.canonical, stored.canonical_count, &points, NULL)) {
        blocks->space = points.count;
        pm_block_points_finish(&points);
    }
    return blocks;
}

static bool is_same_shader(const struct pm_shader_estimates *a, const struct pm_shader_estimates *b)
{
    return pm_shader_key_equal(&a->key, &b->key) &&
           memcmp(&a->environment, &b->environment, sizeof(a->environment)) == 0;
}

/* Kinds that a sampled call counts. */
static bool is_counted(enum pm_kind kind)
{
    return kind == PM_KIND_BLOCK || kind == PM_KIND_ZERO || kind == PM_KIND_TURNS ||
           kind == PM_KIND_CONSTANT;
}

/* A shader that is not in this machine's store still has its estimates. */
static bool build_shader(struct pm_shader_store *store, const struct pm_database *database,
                         uint32_t vendor, const struct pm_shader_estimates *estimates,
                         struct pm_arena *arena, struct pm_report_shader *shader,
                         struct pm_error *error)
{
    const struct pm_shader_estimates *zeros =
        pm_database_find(database, &estimates->key, &estimates->environment, PM_KIND_ZERO);
    struct pm_stored_shader stored;
    struct pm_error why = {0};
    if (pm_shader_store_read(store, &estimates->key, arena, &stored, &why)) {
        struct pm_report_source source = {
            .canonical = stored.canonical,
            .canonical_count = stored.canonical_count,
            .original = stored.original,
            .original_count = stored.original_count,
            .entry_point = stored.entry_point,
            .name = pm_shader_name(&stored, arena),
            .vendor = vendor,
            .stage = stored.stage == PM_STAGE_COMPUTE ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT,
            .target = pm_target_of_bits(stored.target),
            .spec_values = stored.spec_values,
            .spec_value_count = stored.spec_value_count,
        };
        if (pm_report_shader_build(&source, estimates, zeros, arena, shader, &why)) {
            shader->timings = database;
            return true;
        }
    }
    *shader = (struct pm_report_shader){.estimates = estimates,
                                        .zero_estimates = zeros,
                                        .timings = database,
                                        .why_no_lines = pm_arena_strdup(arena, why.message)};
    return shader->why_no_lines || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static int compare_heat(const void *a, const void *b)
{
    const struct pm_report_shader *x = a, *y = b;
    if (x->heat != y->heat)
        return x->heat < y->heat ? 1 : -1;
    return (x->estimates->entry_lanes < y->estimates->entry_lanes) -
           (x->estimates->entry_lanes > y->estimates->entry_lanes);
}

static bool build_shaders(const struct options *options, const struct pm_estimates *estimates,
                          struct pm_report *report, struct pm_error *error)
{
    const struct pm_database *database = &estimates->database;
    struct pm_report_shader *shaders =
        pm_arena_zalloc(estimates->arena, database->shader_count + 1, sizeof(*shaders));
    struct pm_shader_store *store = pm_shader_store_open(options->store, 0);
    bool ok = (shaders && store) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    size_t count = 0;
    const struct pm_shader_estimates *last = NULL;
    for (size_t i = 0; ok && i < database->shader_count; i++) {
        const struct pm_shader_estimates *blocks = &database->shaders[i];
        /* Blocks come first of a shader's kinds. */
        if (!is_counted(blocks->kind) ||
            (blocks->kind != PM_KIND_BLOCK && last && is_same_shader(last, blocks)))
            continue;
        last = blocks;
        if (blocks->kind != PM_KIND_BLOCK)
            blocks = no_blocks_of(store, blocks, estimates->arena);
        ok = blocks ? build_shader(store, database, pm_heat_vendor(database), blocks,
                                   estimates->arena, &shaders[count++], error)
                    : pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    pm_shader_store_close(store);
    if (!ok)
        return false;
    qsort(shaders, count, sizeof(*shaders), compare_heat);
    report->shaders = shaders;
    report->shader_count = count;
    report->shown = count < options->top ? count : (size_t)options->top;
    return true;
}

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

static bool write_page(const char *path, const struct pm_buffer *page, struct pm_error *error)
{
    if (!is_standard_output(path))
        return pm_out_bytes(path, page->data, page->size, error);
    const int why = pm_write_all(STDOUT_FILENO, page->data, page->size);
    return why == 0 || pm_fail_errno(error, why, "standard output");
}

static bool write_report(const struct options *options, const struct pm_estimates *estimates,
                         struct pm_error *error)
{
    struct history history = {0};
    struct pm_buffer page;
    struct pm_report report = {.game = estimates->database.game,
                               .origin = estimates->origin,
                               .database = &estimates->database};
    struct pm_gain gain;
    struct pm_error why = {0};
    pm_buffer_init(&page, (size_t)1 << 30);
    if (pm_gain_read(report.game, estimates->arena, &gain, &why))
        report.gain = &gain;
    else if (why.code != PM_ERROR_STATE)
        pm_tool_failed("report", &why); /* the page is there all the same */
    char *made = options->out ? NULL : pm_tool_report_path(report.game, error);
    const char *out = options->out ? options->out : made;
    bool ok = out && pm_out_spares(out, estimates->origin, error) &&
              read_history(estimates, &history, error) &&
              build_shaders(options, estimates, &report, error);
    report.coverage = history.samples;
    report.coverage_count = history.count;
    if (ok && !pm_report_page(&report, &page))
        ok = pm_fail(error, PM_ERROR_MEMORY, "the page grew over its bound, or memory ran out");
    ok = ok && write_page(out, &page, error);
    if (ok && !is_standard_output(out))
        printf("%s: %zu shader%s of %s\n", out, report.shader_count,
               report.shader_count == 1 ? "" : "s", report.game);
    free(made);
    pm_buffer_finish(&page);
    free(history.samples);
    return ok;
}

int pm_command_report(int argc, char **argv)
{
    struct options options = {.top = 25};
    struct pm_error error = {0};
    struct pm_estimates estimates;
    const struct pm_option known[] = {
        {.letter = 'o', .text = &options.out},
        PM_OPTION_TEXT("game", &options.source.game),
        PM_OPTION_TEXT("storage", &options.source.storage),
        PM_OPTION_TEXT("database", &options.source.database),
        PM_OPTION_TEXT("store", &options.store),
        PM_OPTION_NUMBER("top", &options.top, 100000),
    };
    const int status =
        pm_tool_options("report", help, known, sizeof(known) / sizeof(known[0]), argc, argv, NULL);
    if (status >= 0)
        return status;
    options.source.latest = true;
    if (!pm_estimates_load(&options.source, &estimates, &error))
        return pm_tool_failed("report", &error);
    bool ok = write_report(&options, &estimates, &error);
    pm_estimates_finish(&estimates);
    return ok ? PM_EXIT_OK : pm_tool_failed("report", &error);
}
