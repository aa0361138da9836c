#include "shader_rewrite/partition/partition.h"
#include "shader_rewrite/ir/workgroup_size.h"

#include "base/stop.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_transposes.h"
#include "shader_rewrite/partition/early_returns.h"
#include "shader_rewrite/partition/emit_pass.h"
#include "shader_rewrite/partition/schedule/beyond.h"
#include "shader_rewrite/partition/schedule/mio.h"
#include "shader_rewrite/partition/scratch.h"
#include "shader_rewrite/partition/switches.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[PM_PARTITION_METHODS] = {
    [PM_PARTITION_BEYOND] = "beyond",
    [PM_PARTITION_MIO] = "mio",
    [PM_PARTITION_IN_ORDER] = "in-order",
};

bool pm_partition_method_parse(const char *name, enum pm_partition_method *method)
{
    for (int i = 0; i < PM_PARTITION_METHODS; i++)
        if (!strcmp(name, names[i])) {
            *method = (enum pm_partition_method)i;
            return true;
        }
    return false;
}

static bool make_plan(const struct pm_operations *graph, const struct pm_partition_info *info,
                      struct pm_plan *plan, struct pm_plan_cost *cost, struct pm_error *error)
{
    const struct pm_mio_options mio = {.in_order = info->method == PM_PARTITION_IN_ORDER};
    return (info->method == PM_PARTITION_BEYOND ? pm_beyond(graph, info->limits, plan, error)
                                                : pm_mio(graph, info->limits, &mio, plan, error)) &&
           pm_plan_check(graph, info->limits, plan, cost, NULL, error);
}

/* What a pass of a fragment shader writes and reads. */
static bool list_images(const struct pm_emit_info *info, const struct pm_emitted *emitted,
                        struct pm_partition_pass *pass)
{
    const struct pm_spills *spills = info->spills;
    pass->targets = calloc(spills->attachment_count + (size_t)1, sizeof(*pass->targets));
    pass->reads = calloc(spills->image_count + (size_t)1, sizeof(*pass->reads));
    if (!pass->targets || !pass->reads)
        return false;
    for (uint32_t i = 0; i < spills->attachment_count; i++)
        if (emitted->wrote[i])
            pass->targets[pass->target_count++] = (struct pm_partition_target){
                .location = emitted->wrote[i] - 1u, .image = spills->attachments[i].image};
    for (uint32_t i = 0; i < spills->image_count; i++)
        if (emitted->reads[i])
            pass->reads[pass->read_count++] = i;
    return true;
}

static bool emit_one(const struct pm_emit_info *info, struct pm_partitioned *out,
                     struct pm_error *error)
{
    struct pm_partition_pass *pass = &out->passes[out->count];
    struct pm_emitted emitted = {0};
    bool ok = pm_stop_check(error) && pm_emit_pass(info, out->count, &emitted, error);
    if (ok) {
        pass->words = emitted.words;
        emitted.words = (struct pm_words){0};
        pass->operations = info->plan->passes[out->count++].count;
        pass->spec_id_low = emitted.spec_ids[0];
        pass->spec_id_high = emitted.spec_ids[1];
        pass->spec_id_region = emitted.spec_ids[2];
        pass->outputs = emitted.own;
        out->image_set = emitted.set;
        ok = !out->fragment || list_images(info, &emitted, pass) ||
             pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    pm_emitted_finish(&emitted);
    return ok;
}

static bool emit(const struct pm_emit_info *info, const struct pm_partition_info *wanted,
                 struct pm_partitioned *out, struct pm_error *error)
{
    out->passes = calloc(info->plan->pass_count + (size_t)1, sizeof(*out->passes));
    if (!out->passes)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    while (out->count < info->plan->pass_count) {
        if (!emit_one(info, out, error))
            return false;
        if (wanted->made)
            wanted->made(wanted->user, out);
    }
    return true;
}

static bool try_graph(struct pm_ir_function *function, const struct pm_partition_info *info,
                      bool spill_own, struct pm_shader_graph *graph, struct pm_plan *plan,
                      struct pm_partitioned *out, struct pm_error *error)
{
    return pm_shader_graph_make(function, out->fragment, spill_own, info->limits,
                                function->module->arena, graph, error) &&
           make_plan(&graph->operations, info, plan, &out->cost, error);
}

/* The operations, and which of them run in which pass. Where they fit no pass as long as all that
 * touches a variable of the shader's own is in one, the variables lie in memory. */
static bool make_graph(struct pm_ir_function *function, const struct pm_partition_info *info,
                       struct pm_shader_graph *graph, struct pm_plan *plan,
                       struct pm_partitioned *out, struct pm_error *error)
{
    struct pm_own_memory own;
    struct pm_error refused = {0};
    if (!pm_own_memory_find(function, function->module->arena, &own))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (try_graph(function, info, false, graph, plan, out, &refused))
        return true;
    if (refused.code == PM_ERROR_UNSUPPORTED && !out->fragment && own.words > 0) {
        pm_plan_finish(plan);
        pm_operations_finish(&graph->operations);
        return try_graph(function, info, true, graph, plan, out, error);
    }
    if (error)
        *error = refused;
    return false;
}

/* Of a shader that is refused: where it is for switches, the words of the one in which they are
 * selections, as many as can be. Returns false. */
static bool lower_switches(struct pm_ir_function *function, const struct pm_shader_graph *graph,
                           const struct pm_error *refused, struct pm_partitioned *out,
                           struct pm_words *lowered, struct pm_error *error)
{
    uint32_t count = 0;
    if (refused->code == PM_ERROR_UNSUPPORTED && graph->large_switch_count > 0 &&
        !pm_switches_lower(function, graph->large_switches, lowered, &count, error))
        return false;
    out->switches += count;
    if (count == 0 && error)
        *error = *refused;
    return false;
}

/* *lowered: where it fails, the words to try instead, if there are any. */
static bool partition(struct pm_ir_module *module, const struct pm_partition_info *info,
                      struct pm_partitioned *out, struct pm_words *lowered, struct pm_error *error)
{
    struct pm_emit_info emission = {
        .whole = module, .target = info->target, .regions = info->regions};
    enum pm_stage stage;
    struct pm_shader_graph graph = {0};
    struct pm_plan plan = {0};
    struct pm_spills spills;
    struct pm_error refused = {0};
    struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    out->fragment = function && stage == PM_STAGE_FRAGMENT;
    bool ok = function && pm_analysis_require(function, PM_ANALYSIS_STRUCTURE, error) &&
              (make_graph(function, info, &graph, &plan, out, &refused) ||
               lower_switches(function, &graph, &refused, out, lowered, error));
    if (ok && (!pm_spills_find(&graph, &plan, module->arena, &spills) ||
               !(emission.excerpts = pm_excerpts_create(module, &graph, &plan))))
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (ok) {
        emission.graph = &graph;
        emission.plan = &plan;
        emission.spills = &spills;
        out->operations = graph.operations.count;
        out->opened = graph.opened;
        out->image_count = spills.image_count;
        out->own_words = graph.own_memory.words;
        out->scratch_words = out->fragment ? 0 : spills.words + graph.own_memory.words;
        out->workgroup_invocations = out->fragment ? 0 : pm_workgroup_invocations(module);
        ok = emit(&emission, info, out, error);
    }
    pm_plan_finish(&plan);
    pm_operations_finish(&graph.operations);
    return ok;
}

static bool has_decoration_groups(const struct pm_ir_module *module)
{
    const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first;
    while (i && i->opcode != SpvOpDecorationGroup)
        i = i->next;
    return i != NULL;
}

/* The words of a shader that ends early, without that; none for any other. */
static bool lower(struct pm_ir_module *module, struct pm_words *out, struct pm_error *error)
{
    enum pm_stage stage;
    struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    return function &&
           (!has_decoration_groups(module) ||
            pm_fail(error, PM_ERROR_UNSUPPORTED,
                    "it has decoration groups, which a canonical shader has not")) &&
           (!pm_discards(function) ||
            pm_fail(error, PM_ERROR_UNSUPPORTED, "it discards fragments")) &&
           pm_analysis_require(function, PM_ANALYSIS_STRUCTURE, error) &&
           (!pm_returns_early(function) || pm_early_returns_lower(function, out, error));
}

static struct pm_ir_module *read(const uint32_t *words, size_t count, struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (module)
        pm_transposes_note(module);
    return module;
}

/* Another module instead of this one, from its words, which are freed. */
static struct pm_ir_module *replace(struct pm_ir_module *module, struct pm_words *words,
                                    struct pm_error *error)
{
    pm_ir_module_destroy(module);
    module = read(words->data, words->count, error);
    pm_words_finish(words);
    return module;
}

bool pm_partition(const uint32_t *words, size_t count, const struct pm_partition_info *info,
                  struct pm_partitioned *out, struct pm_error *error)
{
    struct pm_words lowered = {0};
    *out = (struct pm_partitioned){0};
    struct pm_ir_module *module = read(words, count, error);
    bool ok = module && lower(module, &lowered, error);
    for (bool again = ok; again; again = !ok && lowered.data) {
        if (lowered.data)
            module = replace(module, &lowered, error);
        ok = module && partition(module, info, out, &lowered, error);
    }
    pm_ir_module_destroy(module);
    pm_words_finish(&lowered);
    if (!ok)
        pm_partitioned_finish(out);
    return ok;
}

void pm_partitioned_finish(struct pm_partitioned *partitioned)
{
    for (uint32_t i = 0; i < partitioned->count; i++) {
        pm_words_finish(&partitioned->passes[i].words);
        free(partitioned->passes[i].targets);
        free(partitioned->passes[i].reads);
    }
    free(partitioned->passes);
    *partitioned = (struct pm_partitioned){0};
}
