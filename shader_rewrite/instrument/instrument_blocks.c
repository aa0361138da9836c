#include "base/stop.h"
#include "shader_rewrite/instrument/block_counts.h"
#include "shader_rewrite/points/points_blocks.h"
#include <stdlib.h>

/* Finds the instrumented points' blocks before any is split. NULL: out of memory. */
static struct pm_ir_block **find_blocks(const struct pm_instrument *p,
                                        const struct pm_block_points *points)
{
    uint32_t count = p->info->point_count;
    struct pm_ir_block **blocks = calloc(count ? count : 1, sizeof(*blocks));
    for (uint32_t i = 0; blocks && i < count; i++)
        blocks[i] = pm_ir_find(p->module, points->points[p->info->points[i]].label)->block;
    return blocks;
}

struct pass {
    struct pm_instrument instrument;
    struct pm_block_points points;
    struct pm_instrumented *out;
};

/* Of each instrumented point whether it runs at most once. NULL: out of memory. */
static bool *find_once(const struct pm_instrument *p, const struct pm_block_points *points)
{
    const uint32_t count = p->info->point_count;
    bool *once = calloc(count ? count : 1, sizeof(*once));
    for (uint32_t i = 0; once && i < count; i++)
        once[i] = points->points[p->info->points[i]].at_most_once;
    return once;
}

/* Point 0, the entry block, is counted as the shader's entry. */
static bool count_all(struct pm_instrument *p, struct pm_ir_block *const *blocks, const bool *once,
                      struct pm_block_layout *layout)
{
    const struct pm_instrument_info *info = p->info;
    struct pm_block_counts counts;
    struct pm_block_company company;
    if (!pm_block_company_find(&company, p, blocks))
        return false;
    const bool begun = pm_block_counts_begin(&counts, p, once, &company);
    *layout = counts.layout;
    if (!begun)
        return false;
    for (uint32_t i = counts.layout.has_entry;
         i < info->point_count && !p->module->failed && !pm_stop_asked(); i++)
        pm_block_counts_add(&counts, i, blocks[i]);
    pm_block_counts_end(&counts);
    return true;
}

static bool rewrite(struct pm_instrument *p, const struct pm_block_points *points,
                    struct pm_block_layout *layout, struct pm_error *error)
{
    const struct pm_instrument_info *info = p->info;
    if (info->flow && (info->flow->space != points->count || info->point_count != points->count))
        return pm_fail(error, PM_ERROR_INPUT, "lanes follow from others only of all points");
    struct pm_ir_block **blocks = find_blocks(p, points);
    bool *once = find_once(p, points);
    const bool ok = (blocks && once && count_all(p, blocks, once, layout)) ||
                    pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    free(blocks);
    free(once);
    return ok;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)module;
    struct pass *p = context;
    return pm_pass_result_of(pm_instrument_ready(&p->instrument, p->points.count, p->out, error) &&
                                 rewrite(&p->instrument, &p->points, &p->out->blocks, error),
                             true);
}

static const struct pm_pass instrument_blocks = {
    "instrument_blocks", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, 0,
    run};

bool pm_instrument_blocks(const uint32_t *words, size_t count,
                          const struct pm_instrument_info *info, struct pm_instrumented *out,
                          struct pm_error *error)
{
    *out = (struct pm_instrumented){0};
    struct pass p = {.out = out};
    struct pm_pass_runner *passes = &p.instrument.passes;
    bool ok = pm_instrument_begin(&p.instrument, words, count, info, error);
    ok = ok && pm_pass_run(passes, &pm_pass_points_blocks, &p.points, error) != PM_PASS_FAILED &&
         pm_pass_run(passes, &instrument_blocks, &p, error) != PM_PASS_FAILED;
    pm_block_points_finish(&p.points);
    return pm_instrument_end(&p.instrument, ok, out, error);
}
