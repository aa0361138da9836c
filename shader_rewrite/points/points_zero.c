/* Which candidates are points: those that could be transformed if they were always zero, by the
 * bars of specialize_zero (AZP 3.3.2) with the most favourable of all that is not in the module
 * (zero/choose/worth.h), and offer what no other offers that is zero whenever they are. */
#include "base/stop.h"
#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/points/points_blocks.h"
#include "shader_rewrite/zero/choose/filter.h"
#include "shader_rewrite/zero/choose/opportunity.h"
#include "shader_rewrite/zero/choose/worth.h"
#include "shader_rewrite/zero/region/continue_targets.h"

#include <stdlib.h>

/* What a candidate must be able to save, which is part of the recipe (canonical/optimizer.h): AZP's
 * 25 cycles, a third of specialize_zero's 5 % of the shader, and with the two best others all of
 * it. A tenth less, since the estimates of a profile are published when they are within a tenth. */
static const double least_saving = 25 * 0.9, least_share = 0.05 * 0.9;
enum { TOGETHER = 3 };

/* Instructions that are looked at for one shader, each time anew (specialize_zero has a budget
 * too); candidates that are left then are no points. */
static const uint64_t most_work = 20000000;

struct choosing {
    struct pm_ir_function *function;
    enum pm_stage stage;
    struct pm_zero_points all;
    struct pm_block_points blocks;
    struct pm_arena *arena;
    struct pm_zero_round round;
    struct pm_zero_best_case best;
    struct pm_zero_index index;
    struct pm_float_permission allowed, never;
    struct pm_zero_worth *worth; /* by candidate: where 0 * x is 0 */
    struct pm_zero_worth *plain; /* of those that are kept: where it is not */
    bool *keep;                  /* by candidate */
    bool divides;                /* the function has divisions of floats */
    uint32_t at;                 /* the candidate that is compared with what it implies */
    bool offers;                 /* it offers more */
};

/* ---- what each could save ---- */

/* Whether what has more zeroes than others leaves them a chance, whose checks may cost a little
 * less. */
static bool leaves_a_chance(const struct pm_zero_worth *worth)
{
    for (uint32_t t = 0; t < PM_COST_TABLES; t++)
        if (worth->saved[t] > least_saving / 2)
            return true;
    return false;
}

static void take_better(struct pm_zero_worth *worth, const struct pm_zero_worth *other)
{
    for (uint32_t t = 0; t < PM_COST_TABLES; t++) {
        if (other->saved[t] > worth->saved[t])
            worth->saved[t] = other->saved[t];
        if (other->share[t] > worth->share[t])
            worth->share[t] = other->share[t];
    }
}

/* A pack: also what is left of it where some of its values are seldom zero. */
static void look_at_pack(struct choosing *c, uint32_t index)
{
    const struct pm_zero_candidate *whole = &c->all.candidates[index];
    for (uint32_t some = 1; some < 1u << whole->value_count; some++) {
        struct pm_zero_candidate candidate = *whole;
        candidate.value_count = 0;
        for (uint32_t i = 0; i < whole->value_count; i++)
            if (some & 1u << i)
                candidate.values[candidate.value_count++] = whole->values[i];
        if (candidate.value_count < 2)
            continue;
        struct pm_zero_worth worth = pm_zero_worth_of(&c->best, &candidate);
        take_better(&c->worth[index], &worth);
    }
}

/* Whether it cannot save more than what was found to save too little: the whole value of which it
 * has the leading components, or what makes it zero. Where there are divisions it can: of v / |v|
 * two components are 0 where two of v are, but NaN where v is 0. */
static bool saves_less(const struct choosing *c, const uint32_t *follows, uint32_t i)
{
    if (c->divides)
        return false;
    const struct pm_zero_candidate *own = &c->all.candidates[i];
    if (follows[i] != PM_ZERO_FOLLOWS_NONE && !leaves_a_chance(&c->worth[follows[i]]))
        return true;
    uint32_t whole = own->value_count == 1 ? c->index.first[own->values[0]] : i;
    return whole < i && !leaves_a_chance(&c->worth[whole]);
}

static bool divides(const struct pm_cfg *cfg)
{
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            if (i->opcode == SpvOpFDiv)
                return true;
    return false;
}

static bool look_at_all(struct choosing *c)
{
    uint32_t count = c->all.count;
    double *zero = pm_arena_zalloc(c->arena, count + 1u, sizeof(*zero));
    uint32_t *follows = pm_arena_zalloc(c->arena, count + 1u, sizeof(*follows));
    enum pm_zero_filtered *filtered = pm_arena_zalloc(c->arena, count + 1u, sizeof(*filtered));
    if (!zero || !follows || !filtered)
        return false;
    for (uint32_t i = 0; i < count; i++)
        zero[i] = 1;
    if (!pm_zero_filter(c->round.module, &c->round.permission, &c->all, zero, 1, filtered, follows,
                        c->arena))
        return false;
    for (uint32_t i = 0;
         i < count && c->round.work < most_work && !c->round.failed && !pm_stop_asked(); i++) {
        if (saves_less(c, follows, i))
            continue;
        if (c->all.candidates[i].value_count > 1)
            look_at_pack(c, i);
        else
            c->worth[i] = pm_zero_worth_of(&c->best, &c->all.candidates[i]);
    }
    return !c->round.failed;
}

/* ---- choosing ---- */

static double share_of(const struct choosing *c, uint32_t candidate, uint32_t t)
{
    const struct pm_zero_worth *worth = &c->worth[candidate];
    return worth->saved[t] > least_saving ? worth->share[t] : 0;
}

/* Keeps those that pass by one cost table, with the best others. */
static void keep_by_table(struct choosing *c, uint32_t t)
{
    double best[TOGETHER - 1] = {0}, others = 0;
    for (uint32_t i = 0; i < c->all.count; i++) {
        double share = share_of(c, i, t);
        for (uint32_t k = 0; k < TOGETHER - 1; k++)
            if (share > best[k]) {
                double less = best[k];
                best[k] = share;
                share = less;
            }
    }
    for (uint32_t k = 0; k < TOGETHER - 1; k++)
        others += best[k];
    for (uint32_t i = 0; i < c->all.count; i++) {
        double share = share_of(c, i, t);
        c->keep[i] = c->keep[i] || (share > least_share / TOGETHER && share + others > least_share);
    }
}

/* What those that are kept save where 0 * x is not 0. */
static void look_without_permission(struct choosing *c)
{
    c->round.permission = c->never;
    for (uint32_t i = 0; i < c->all.count && c->round.work < 2 * most_work && !c->round.failed; i++)
        if (c->keep[i])
            c->plain[i] = pm_zero_worth_of(&c->best, &c->all.candidates[i]);
    c->round.permission = c->allowed;
}

static bool offers_all_of(const struct pm_zero_worth *a, const struct pm_zero_worth *b)
{
    static const double alike = 1 - 1e-9;
    for (uint32_t t = 0; t < PM_COST_TABLES; t++)
        if (a->saved[t] < b->saved[t] * alike || a->share[t] < b->share[t] * alike)
            return false;
    return true;
}

static void compare(void *user, uint32_t implied)
{
    struct choosing *c = user;
    if (implied != c->at && c->keep[implied] &&
        offers_all_of(&c->worth[implied], &c->worth[c->at]) &&
        offers_all_of(&c->plain[implied], &c->plain[c->at]))
        c->offers = false;
}

/* Drops who is zero no oftener than another that offers as much. One at a time, so that of those
 * that imply one another the last stays. */
static void drop_implied(struct choosing *c)
{
    for (uint32_t i = 0; i < c->all.count; i++) {
        if (!c->keep[i])
            continue;
        c->at = i;
        c->offers = true;
        pm_zero_implied(&c->index, i, compare, c);
        c->keep[i] = c->offers;
    }
}

/* What is left of a pack where some of its values are seldom zero is told by each. */
static void keep_elements(struct choosing *c)
{
    for (uint32_t i = 0; i < c->all.count; i++) {
        const struct pm_zero_candidate *pack = &c->all.candidates[i];
        for (uint32_t v = 0; c->keep[i] && pack->value_count > 1 && v < pack->value_count; v++)
            if (c->index.first[pack->values[v]] < c->all.count)
                c->keep[c->index.first[pack->values[v]]] = true;
    }
}

/* ---- weights ---- */

/* Whether a block runs just when its immediate dominator does, and analysis_weights.h gives it that
 * one's weight. */
static bool runs_as_its_dominator(const struct choosing *c, uint32_t block)
{
    uint32_t above = pm_dominators(c->function)->parent[block];
    const uint32_t *loop_of = pm_loops(c->function)->loop_of;
    const struct pm_ir_instr *merge = pm_ir_merge(c->round.cfg->blocks[above]);
    bool selects = merge && merge->opcode == SpvOpSelectionMerge;
    return loop_of[above] == loop_of[block] &&
           (!selects || pm_ir_block_of(merge->operands[0].def)->index == block) &&
           pm_dominates(pm_postdominators(c->function), block, above);
}

/* The block that a candidate's weight is of, as its point says. */
static uint32_t block_of(const struct choosing *c, uint32_t i)
{
    uint32_t label = c->blocks.points[c->all.candidates[i].block].label;
    return pm_ir_find(c->round.module, label)->block->index;
}

/* A profile of zeros says how often a block runs by the writes of its points. So each block of a
 * shader with points keeps a candidate, where nothing else tells: neither another point, nor a
 * block above it that runs when it does. */
static bool keep_for_weights(struct choosing *c)
{
    const struct pm_dominators *d = pm_dominators(c->function);
    uint32_t blocks = c->round.cfg->count, count = c->all.count;
    bool *told = pm_arena_zalloc(c->arena, blocks, sizeof(bool)), any = false;
    uint32_t *first = pm_arena_zalloc(c->arena, blocks, sizeof(uint32_t));
    if (!told || !first)
        return false;
    for (uint32_t b = 0; b < blocks; b++)
        first[b] = count;
    for (uint32_t i = count; i-- > 0;) {
        uint32_t block = block_of(c, i);
        first[block] = i;
        told[block] = told[block] || c->keep[i];
        any = any || c->keep[i];
    }
    for (uint32_t i = 0; any && i < d->tree_count; i++) {
        uint32_t b = d->preorder[i], above = d->parent[b];
        told[b] = told[b] || above == PM_NO_BLOCK || (told[above] && runs_as_its_dominator(c, b));
        if (!told[b] && first[b] < count)
            c->keep[first[b]] = told[b] = true;
    }
    return true;
}

/* ---- the pass ---- */

static bool choose(struct choosing *c, struct pm_ir_module *module, struct pm_error *error)
{
    uint32_t count = c->all.count;
    c->worth = pm_arena_zalloc(c->arena, count + 1u, sizeof(*c->worth));
    c->plain = pm_arena_zalloc(c->arena, count + 1u, sizeof(*c->plain));
    c->keep = pm_arena_zalloc(c->arena, count + 1u, sizeof(*c->keep));
    if (!c->worth || !c->plain || !c->keep)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (!pm_zero_round_init(&c->round, module, c->function, c->stage, PM_FLOAT_ZERO_ALLOW, c->arena,
                            error))
        return false;
    c->round.subgroup_quad = true;
    c->round.exact_ones = true;
    c->divides = divides(c->round.cfg);
    c->allowed = c->round.permission;
    if (!pm_float_permission_compute(&c->never, module, c->function, PM_FLOAT_ZERO_NEVER,
                                     c->arena) ||
        !pm_zero_index_init(&c->index, module, &c->allowed, &c->all, c->arena) ||
        !pm_zero_best_case_init(&c->best, &c->round) || !look_at_all(c))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t t = 0; t < PM_COST_TABLES; t++)
        keep_by_table(c, t);
    look_without_permission(c);
    drop_implied(c);
    keep_elements(c);
    return (!c->round.failed && keep_for_weights(c)) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct choosing *c = context;
    return pm_pass_result_of(choose(c, module, error), false);
}

static const struct pm_pass choose_points = {
    "choose points", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS,
    PM_ANALYSIS_ALL, run};

static bool find(struct choosing *c, struct pm_pass_runner *passes, struct pm_error *error)
{
    c->function = pm_entry_function(passes->module, &c->stage, error);
    return c->function && pm_pass_apply(passes, &pm_pass_candidates, &c->all, error) &&
           pm_pass_apply(passes, &pm_pass_points_blocks, &c->blocks, error) &&
           pm_pass_apply(passes, &pm_pass_part_continue_targets, c->function, error) &&
           pm_pass_apply(passes, &choose_points, c, error);
}

bool pm_points_zero(const uint32_t *words, size_t count, struct pm_zero_points *out,
                    struct pm_error *error)
{
    *out = (struct pm_zero_points){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    struct choosing c = {.arena = pm_arena_create(0)};
    bool ok =
        (c.arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) && find(&c, &passes, error);
    if (ok) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < c.all.count; i++)
            if (c.keep[i])
                c.all.candidates[kept++] = c.all.candidates[i];
        *out = (struct pm_zero_points){c.all.candidates, kept, c.all.count - kept};
        c.all = (struct pm_zero_points){0};
        struct pm_zero_candidate *fewer =
            realloc(out->candidates, (kept + 1u) * sizeof(*out->candidates));
        out->candidates = fewer ? fewer : out->candidates;
    }
    pm_zero_points_finish(&c.all);
    pm_block_points_finish(&c.blocks);
    pm_arena_destroy(c.arena);
    pm_ir_module_destroy(module);
    return ok;
}

bool pm_points_zero_given(const uint32_t *words, size_t count, const struct pm_zero_points *found,
                          bool all, struct pm_zero_points *out, struct pm_error *error)
{
    *out = (struct pm_zero_points){0};
    if (!found)
        return all ? pm_zero_candidates(words, count, out, error)
                   : pm_points_zero(words, count, out, error);
    struct pm_zero_candidate *copies = malloc((found->count + 1u) * sizeof(*copies));
    if (!copies)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < found->count; i++)
        copies[i] = found->candidates[i];
    *out = (struct pm_zero_points){copies, found->count, found->left_out};
    return true;
}
