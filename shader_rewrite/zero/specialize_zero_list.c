#include "shader_rewrite/zero/specialize_zero_list.h"

#include "shader_rewrite/zero/choose/filter.h"
#include "shader_rewrite/zero/choose/implied.h"
#include "shader_rewrite/zero/choose/packs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond so many nothing is added. */
enum { CANDIDATES_MOST = 65535 };

/* In which a chain of values that follow from one another is looked for backward: values mostly
 * follow from earlier ones, so that one is nearly always enough. */
enum { SWEEPS_MOST = 4 };

bool pm_zero_list_init(struct pm_zero_list *list, const double *zero, double threshold,
                       uint32_t bound)
{
    uint32_t count = list->points.count;
    list->zero = malloc((count + 1u) * sizeof(*list->zero));
    list->verdicts = calloc(count + 1u, sizeof(*list->verdicts));
    if (!list->zero || !list->verdicts)
        return false;
    memcpy(list->zero, zero, count * sizeof(*zero));
    if (!pm_zero_drop_elements(&list->points, list->zero, threshold, bound))
        return false;
    for (uint32_t i = 0; i < count; i++)
        list->verdicts[i] = (struct pm_zero_verdict){.follows = PM_ZERO_FOLLOWS_NONE,
                                                     .with = PM_ZERO_NO_OTHER,
                                                     .of = PM_ZERO_NO_OTHER,
                                                     .now = list->zero[i]};
    return true;
}

void pm_zero_list_finish(struct pm_zero_list *list)
{
    pm_zero_points_finish(&list->points);
    free(list->zero);
    free(list->verdicts);
    *list = (struct pm_zero_list){0};
}

static bool may_be_taken(const struct pm_zero_list *list, uint32_t i)
{
    const struct pm_zero_verdict *v = &list->verdicts[i];
    return !v->round && v->follows == PM_ZERO_FOLLOWS_NONE && !isnan(v->now);
}

/* ---- what follows from what ---- */

struct relating {
    const struct pm_zero_index *index;
    struct pm_zero_parting *parting;
    uint32_t *pending, count;
    bool found;
};

static void follow(void *user, uint32_t implied)
{
    struct relating *r = user;
    if (r->parting->follows[implied])
        return;
    r->parting->follows[implied] = true;
    r->pending[r->count++] = implied;
}

static void lead(void *user, uint32_t implied)
{
    struct relating *r = user;
    r->found = r->found || r->parting->leads[implied];
}

/* Marks what the check follows from. Of a pair it would have to be both. */
static void find_leads(struct relating *r, uint32_t count, struct pm_zero_round *round)
{
    struct pm_zero_parting *p = r->parting;
    if (p->second != PM_ZERO_NO_OTHER)
        return;
    p->leads[p->first] = true;
    bool changed = true;
    for (int sweep = 0; changed && sweep < SWEEPS_MOST; sweep++) {
        changed = false;
        round->work += count;
        for (uint32_t i = count; i-- > 0;) {
            r->found = false;
            if (!p->leads[i])
                pm_zero_implied(r->index, i, lead, r);
            p->leads[i] = p->leads[i] || r->found;
            changed = changed || r->found;
        }
    }
}

/* P(zero) in R: where the check fails. */
static double zero_in_rest(const struct pm_zero_parting *p, uint32_t i, double zero)
{
    if (p->leads[i])
        return 0;
    if (!p->follows[i] || !(p->probability < 1))
        return zero;
    return fmax(zero - p->probability, 0) / (1 - p->probability);
}

/* Likewise in S, of what does not follow. */
static double zero_in_copy(const struct pm_zero_parting *p, uint32_t i, double zero)
{
    return p->leads[i] && p->probability > 0 ? fmin(zero / p->probability, 1) : zero;
}

static void find_wanted(const struct pm_zero_list *list, struct pm_zero_parting *p)
{
    for (uint32_t i = 0; !p->last && i < list->points.count; i++) {
        const struct pm_zero_candidate *c = &list->points.candidates[i];
        if (!may_be_taken(list, i) || i == p->first || i == p->second || p->follows[i] ||
            zero_in_copy(p, i, list->verdicts[i].now) < p->threshold)
            continue;
        for (uint32_t v = 0; v < c->value_count; v++)
            p->wanted[c->values[v]] = true;
    }
}

bool pm_zero_list_relate(const struct pm_zero_list *list, struct pm_zero_round *round,
                         struct pm_zero_parting *p)
{
    uint32_t count = list->points.count;
    struct pm_zero_index index;
    struct relating r = {.index = &index, .parting = p};
    p->follows = pm_arena_zalloc(round->arena, count + 1u, sizeof(bool));
    p->leads = pm_arena_zalloc(round->arena, count + 1u, sizeof(bool));
    p->wanted = pm_arena_zalloc(round->arena, round->id_count, sizeof(bool));
    r.pending = pm_arena_zalloc(round->arena, count + 1u, sizeof(uint32_t));
    if (!p->follows || !p->leads || !p->wanted || !r.pending ||
        !pm_zero_index_init(&index, round->module, &round->permission, &list->points, round->arena))
        return false;
    follow(&r, p->first);
    if (p->second != PM_ZERO_NO_OTHER)
        follow(&r, p->second);
    while (r.count)
        pm_zero_implied(&index, r.pending[--r.count], follow, &r);
    find_leads(&r, count, round);
    find_wanted(list, p);
    return true;
}

/* ---- parting ---- */

enum where { IN_COPY, BEHIND };

static struct pm_zero_state *state_of(const struct pm_zero_round *round,
                                      const struct pm_zero_region *region, uint32_t id)
{
    const struct pm_ir_instr *instr = pm_ir_find(round->module, id);
    return instr && instr->result ? pm_zero_state_of(round, region, instr->result) : NULL;
}

static bool is_written_in(const struct pm_zero_round *round, const struct pm_zero_region *region,
                          const struct pm_zero_candidate *c)
{
    for (uint32_t i = 0; i < c->value_count; i++)
        if (state_of(round, region, c->values[i]))
            return true;
    return false;
}

/* What stands for the candidate in S, or behind the region; false: nothing does. Of scalars that
 * belong together those that S knows to be zero are left out. */
static bool stand_in(const struct pm_zero_round *round, const struct pm_zero_region *region,
                     const struct pm_zero_candidate *c, enum where where,
                     struct pm_zero_candidate *out)
{
    *out = *c;
    out->value_count = 0;
    for (uint32_t i = 0; i < c->value_count; i++) {
        const struct pm_zero_state *state = state_of(round, region, c->values[i]);
        const struct pm_ir_def *def = NULL;
        if (state && where == BEHIND)
            def = state->behind && state->behind->instr->opcode == SpvOpPhi ? state->behind : NULL;
        else if (state && state->needed)
            def = state->copy;
        else if (state && c->value_count > 1 && pm_zero_value_is_zero(&state->value))
            continue;
        if (state && !def)
            return false;
        out->values[out->value_count++] = state ? def->id : c->values[i];
    }
    /* One that is left alone is a candidate without the others. */
    return out->value_count == c->value_count || out->value_count > 1;
}

static bool reserve(struct pm_zero_list *list, uint32_t more)
{
    size_t count = (size_t)list->points.count + more + 1;
    struct pm_zero_candidate *candidates =
        realloc(list->points.candidates, count * sizeof(*candidates));
    list->points.candidates = candidates ? candidates : list->points.candidates;
    double *zero = realloc(list->zero, count * sizeof(*zero));
    list->zero = zero ? zero : list->zero;
    struct pm_zero_verdict *verdicts = realloc(list->verdicts, count * sizeof(*verdicts));
    list->verdicts = verdicts ? verdicts : list->verdicts;
    return candidates && zero && verdicts;
}

/* There is room. of: the candidate that it was. */
static void add(struct pm_zero_list *list, const struct pm_zero_candidate *candidate, uint32_t of,
                double zero)
{
    uint32_t i = list->points.count++, before = list->verdicts[of].of;
    list->points.candidates[i] = *candidate;
    list->zero[i] = zero;
    list->verdicts[i] = (struct pm_zero_verdict){.follows = PM_ZERO_FOLLOWS_NONE,
                                                 .with = PM_ZERO_NO_OTHER,
                                                 .of = before == PM_ZERO_NO_OTHER ? of : before,
                                                 .now = zero};
}

static void part(struct pm_zero_list *list, const struct pm_zero_round *round,
                 const struct pm_zero_region *region, const struct pm_zero_parting *parting,
                 uint32_t i)
{
    struct pm_zero_verdict *v = &list->verdicts[i];
    const struct pm_zero_candidate own = list->points.candidates[i];
    struct pm_zero_candidate made;
    double zero = v->now, copied = zero_in_copy(parting, i, zero);
    if (!parting->follows[i] && copied >= parting->threshold &&
        stand_in(round, region, &own, IN_COPY, &made))
        add(list, &made, i, copied);
    if (zero >= parting->threshold && stand_in(round, region, &own, BEHIND, &made))
        add(list, &made, i, zero);
    v->now = zero_in_rest(parting, i, zero);
}

bool pm_zero_list_part(struct pm_zero_list *list, const struct pm_zero_round *round,
                       const struct pm_zero_region *region, const struct pm_zero_parting *parting)
{
    uint32_t count = list->points.count;
    if (count > CANDIDATES_MOST / 3)
        return true;
    if (!reserve(list, 2 * count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (may_be_taken(list, i) && is_written_in(round, region, &list->points.candidates[i]))
            part(list, round, region, parting, i);
    return true;
}
