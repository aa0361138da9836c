#include "tools/report/report_graph.h"
#include "tools/report/report_fold.h"
#include "tools/report/report_html.h"
#include "tools/report/report_layout.h"
#include <math.h>
#include <stdio.h>

struct drawing {
    const struct pm_report_shader *shader;
    const char *anchor;
    const struct pm_fold *fold; /* NULL: every block for itself */
    bool named;                 /* its nodes are what links lead to */
    double most;                /* the cost of the dearest node */
};

/* Whether a line of the GLSL belongs to the block, so that there is something to lead to. */
static bool has_line(const struct pm_report_shader *shader, uint32_t block)
{
    for (size_t i = 0; i < shader->line_count; i++)
        if (shader->lines[i].block == block)
            return true;
    return false;
}

/* Its share of the cost, and how often it runs; no longer than a node is wide. */
static void describe(char *text, size_t size, const struct pm_report_block *block, double cost)
{
    char share[PM_REPORT_PERCENT];
    const double runs = block->frequency.ratio;
    pm_report_percent(cost, share);
    if (!block->sampled)
        snprintf(text, size, "no sample");
    else if (runs > 0 && runs < 0.005)
        snprintf(text, size, "%s · ≈ 0×", share);
    else
        snprintf(text, size, "%s · %.*g×", share, runs < 0.1 ? 2 : 3, runs);
}

static bool draw_title(const struct pm_report_block *block, uint32_t number, struct pm_buffer *out)
{
    char uniform[64] = "";
    if (block->uniform.clusters > 0)
        snprintf(uniform, sizeof(uniform), ", %.0f %% of lanes in uniform subgroups",
                 100 * block->uniform.ratio);
    else if (block->frequency.ratio > 0)
        snprintf(uniform, sizeof(uniform), ", not known how many lanes in uniform subgroups");
    return pm_buffer_printf(out,
                            "<title>block %u: %.3g %% of the shader's estimated cycles, %.4g "
                            "cycles a run; runs %.4g times "
                            "an invocation, 95 %% interval %.4g to %.4g; %u instructions, %u "
                            "sampled calls%s%s</title>",
                            number, 100 * block->cost, block->cycles, block->frequency.ratio,
                            block->frequency.ratio_low, block->frequency.ratio_high,
                            block->instructions, block->calls, uniform,
                            block->is_whole ? "; by the code entered by whole workgroups" : "");
}

static bool draw_box(const struct drawing *d, uint32_t first, double cost, bool loop, bool several,
                     const char *label, double x, double y, struct pm_buffer *out)
{
    const struct pm_report_block *block = &d->shader->blocks[first];
    char heat[PM_REPORT_HEAT], value[48];
    pm_report_heat(d->shader, first, d->most > 0 ? cost / d->most : 0, heat);
    describe(value, sizeof(value), block, cost);
    return pm_buffer_printf(
        out,
        "<rect class='%s%s%s' x='%.0f' y='%.0f' width='%d' height='%d' rx='%d'/><text "
        "x='%.0f' y='%.0f'>%s</text><text class=value x='%.0f' y='%.0f'>%s</text>",
        heat, loop ? " loop" : "", several ? " several" : "", x - PM_GRAPH_NODE_WIDTH / 2.0, y,
        PM_GRAPH_NODE_WIDTH, PM_GRAPH_NODE_HEIGHT, several ? 14 : 4, x, y + 16, label, x, y + 32,
        value);
}

static bool draw_block(const struct drawing *d, uint32_t number, double x, double y,
                       struct pm_buffer *out)
{
    const struct pm_report_block *block = &d->shader->blocks[number];
    const bool leads = has_line(d->shader, number);
    char label[32];
    snprintf(label, sizeof(label), "block %u", number);
    bool ok = !leads || pm_buffer_printf(out, "<a href='#%s-b%u'>", d->anchor, number);
    ok = ok && (d->named ? pm_buffer_printf(out, "<g id='%s-g%u'>", d->anchor, number)
                         : pm_buffer_append_string(out, "<g>"));
    return ok && draw_title(block, number, out) &&
           draw_box(d, number, block->cost, !block->at_most_once, false, label, x, y, out) &&
           pm_buffer_append_string(out, leads ? "</g></a>" : "</g>");
}

/* Links to its blocks lead to it. */
static bool draw_members(const struct drawing *d, uint32_t group, struct pm_buffer *out)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < d->shader->block_count; i++)
        if (d->fold->group_of[i] == group)
            ok = pm_buffer_printf(out, "<g id='%s-g%u'></g>", d->anchor, i);
    return ok;
}

static bool draw_group(const struct drawing *d, uint32_t index, double x, double y,
                       struct pm_buffer *out)
{
    const struct pm_fold_group *group = &d->fold->groups[index];
    const bool leads = has_line(d->shader, group->first);
    const bool whole = group->last - group->first + 1 == group->count;
    char label[48];
    if (group->count == 1)
        return draw_block(d, group->first, x, y, out);
    if (whole)
        snprintf(label, sizeof(label), "%u–%u%s", group->first, group->last,
                 group->has_loop ? ", loop" : "");
    else
        snprintf(label, sizeof(label), "%u of %u–%u", group->count, group->first, group->last);
    return (!leads || pm_buffer_printf(out, "<a href='#%s-b%u'>", d->anchor, group->first)) &&
           pm_buffer_printf(
               out,
               "<g><title>%u blocks, from %u on%s: %.3g %% of the shader's estimated cycles; "
               "how often it is entered stands beside</title>",
               group->count, group->first, group->has_loop ? ", with a loop" : "",
               100 * group->cost) &&
           draw_members(d, index, out) &&
           draw_box(d, group->first, group->cost, group->has_loop, true, label, x, y, out) &&
           pm_buffer_append_string(out, leads ? "</g></a>" : "</g>");
}

static bool draw(void *user, uint32_t node, double x, double y, struct pm_buffer *out)
{
    const struct drawing *d = user;
    return d->fold ? draw_group(d, node, x, y, out) : draw_block(d, node, x, y, out);
}

/* Every block for itself; small where it stands beside a folded one. */
static bool write_whole(const struct pm_report_shader *shader, const char *anchor, bool named,
                        struct pm_arena *arena, struct pm_buffer *out)
{
    char name[PM_REPORT_ANCHOR + 8];
    struct drawing drawing = {.shader = shader, .anchor = anchor, .named = named};
    struct pm_graph_node *nodes = pm_arena_zalloc(arena, shader->block_count, sizeof(*nodes));
    for (uint32_t i = 0; nodes && i < shader->block_count; i++) {
        const struct pm_report_block *block = &shader->blocks[i];
        nodes[i] = (struct pm_graph_node){block->successors, block->successor_count};
        drawing.most = fmax(drawing.most, block->cost);
    }
    const struct pm_graph graph = {nodes, shader->block_count, draw, &drawing};
    snprintf(name, sizeof(name), "%s%s", anchor, named ? "" : "-whole");
    return nodes && pm_graph_write(&graph, name, out);
}

static bool write_folded(const struct pm_report_shader *shader, const char *anchor,
                         struct pm_arena *arena, struct pm_buffer *out)
{
    struct pm_fold fold;
    struct drawing drawing = {.shader = shader, .anchor = anchor, .fold = &fold, .named = true};
    if (!pm_report_fold(shader, arena, &fold))
        return false;
    for (uint32_t i = 0; i < fold.count; i++)
        drawing.most = fmax(drawing.most, fold.groups[i].cost);
    const struct pm_graph graph = {fold.nodes, fold.count, draw, &drawing};
    return pm_graph_write(&graph, anchor, out) &&
           pm_buffer_printf(out, "<details class=whole><summary>all %u blocks</summary>",
                            shader->block_count) &&
           write_whole(shader, anchor, false, arena, out) &&
           pm_buffer_append_string(out, "</details>");
}

bool pm_report_graph(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    char anchor[PM_REPORT_ANCHOR];
    struct pm_arena *arena = pm_arena_create(0);
    pm_report_anchor(shader, anchor);
    const bool ok =
        arena && shader->block_count > 0 &&
        (shader->block_count > PM_FOLD_NODES ? write_folded(shader, anchor, arena, out)
                                             : write_whole(shader, anchor, true, arena, out));
    pm_arena_destroy(arena);
    return ok;
}
