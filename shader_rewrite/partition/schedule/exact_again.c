#include "shader_rewrite/partition/schedule/exact.h"

#include <stdlib.h>
#include <string.h>

/* Beyond so many states the search gives up. */
enum { MOST_STATES = 1 << 22, MOST = PM_EXACT_MOST_OPERATIONS };

/* Where the search is: the values that are in memory, of the operations that have run, which are
 * the only ones that may not be put there any more. The least it has taken so far to get there. */
struct state {
    uint64_t key; /* stored | ran << MOST | pass << 2 * MOST; 0: none, which is never asked for */
    uint32_t work, spilled;
};

struct cost {
    uint32_t work; /* operations and reads */
    uint32_t spilled;
};

/* One pass: what it leaves and what runs in it. */
struct pass {
    uint32_t outputs, runs;
};

struct search {
    const struct pm_operations *graph;
    const struct pm_pass_limits *limits;
    struct pm_error *error;
    uint32_t all, results, once, given;
    uint32_t values[MOST];  /* operations whose values it uses */
    uint32_t ordered[MOST]; /* that must have run before */
    uint32_t users[MOST];   /* of its value */
    uint32_t passes;        /* that it may take */
    struct state *states;   /* open addressing */
    uint32_t state_count, state_capacity;
    struct pass path[MOST + 1], best_path[MOST + 1];
    struct cost best;
    bool found;    /* `best` is the cost of a partition into so many passes */
    bool improved; /* which is best_path */
    bool failed;
};

static bool is_less(const struct cost *a, const struct cost *b)
{
    return a->work < b->work || (a->work == b->work && a->spilled < b->spilled);
}

static bool init(struct search *s)
{
    const struct pm_operations *graph = s->graph;
    if (graph->count > MOST || !graph->count)
        return pm_fail(s->error, PM_ERROR_UNSUPPORTED, "%u operations, of 1 to %u", graph->count,
                       MOST);
    s->all = (uint32_t)((1ull << graph->count) - 1);
    uint32_t needed = 0;
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct pm_operation *operation = &graph->operations[i];
        if (operation->components != 0 && operation->components != 4)
            return pm_fail(s->error, PM_ERROR_UNSUPPORTED,
                           "operation %u has a value of %u components", i, operation->components);
        s->results |= (uint32_t)operation->result << i;
        s->once |= (uint32_t)operation->once << i;
        for (uint32_t o = 0; o < operation->operand_count; o++) {
            const struct pm_operand *operand = &graph->operands[operation->first_operand + o];
            const uint32_t bit = 1u << operand->operation;
            const bool value = operand->value && graph->operations[operand->operation].components;
            *(value ? &s->values[i] : &s->ordered[i]) |= bit;
            s->users[operand->operation] |= value ? 1u << i : 0;
            needed |= bit;
        }
    }
    s->given = s->results | (s->all & ~needed);
    return true;
}

/* All that must run for some of the operations to have run, where values are in memory. 0: it
 * cannot, since what may run once has run and its value is lost. */
static uint32_t closure(const struct search *s, uint32_t of, uint32_t stored, uint32_t ran)
{
    uint32_t found = 0, rest = of;
    while (rest) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);
        found |= 1u << i;
        rest |= (s->values[i] & ~stored) | (s->ordered[i] & ~ran);
        rest &= ~found;
    }
    return found & s->once & ran ? 0 : found;
}

static uint64_t alu_of(const struct search *s, uint32_t runs)
{
    uint64_t alu = 0;
    for (uint32_t rest = runs; rest; rest &= rest - 1)
        alu += s->graph->operations[__builtin_ctz(rest)].alu;
    return alu;
}

static uint32_t reads_of(const struct search *s, uint32_t runs)
{
    uint32_t read = 0;
    for (uint32_t rest = runs; rest; rest &= rest - 1)
        read |= s->values[__builtin_ctz(rest)];
    return read & ~runs;
}

/* ---- whether a pass keeps the limits ---- */

static bool counts_fit(const struct search *s, uint32_t runs)
{
    const struct pm_operations *graph = s->graph;
    const struct pm_pass_limits *limits = s->limits;
    const uint32_t reads =
        limits->textures_hold_outputs ? (uint32_t)__builtin_popcount(reads_of(s, runs)) : 0;
    uint32_t inputs[PM_INPUT_KINDS] = {[PM_INPUT_TEXTURE] = reads};
    uint64_t texture = reads;
    for (uint32_t rest = runs; rest; rest &= rest - 1) {
        const struct pm_operation *of = &graph->operations[__builtin_ctz(rest)];
        texture += of->texture;
        for (uint32_t i = 0; i < of->input_count; i++) {
            const uint32_t input = graph->inputs[of->first_input + i];
            bool known = false;
            for (uint32_t other = runs & ((rest & -rest) - 1); other && !known;
                 other &= other - 1) {
                const struct pm_operation *by = &graph->operations[__builtin_ctz(other)];
                for (uint32_t n = 0; n < by->input_count; n++)
                    known |= graph->inputs[by->first_input + n] == input;
            }
            inputs[graph->input_kinds[input]] += !known;
        }
    }
    return texture <= limits->texture && inputs[PM_INPUT_VARYING] <= limits->varyings &&
           inputs[PM_INPUT_CONSTANT] <= limits->constants &&
           inputs[PM_INPUT_TEXTURE] <= limits->textures;
}

/* Values that live behind these operations of a pass: they are used by the others, or left. */
static uint32_t live_behind(const struct search *s, const struct pass *pass, uint32_t done)
{
    uint32_t live = done & pass->outputs;
    for (uint32_t rest = done | reads_of(s, done); rest; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);
        live |= s->users[i] & pass->runs & ~done ? 1u << i : 0;
    }
    return live;
}

/* Finds an order in which a pass has temporaries enough, behind those that are done. */
static bool find_order(const struct search *s, const struct pass *pass, uint32_t done,
                       uint32_t *order, uint32_t count)
{
    if (done == pass->runs)
        return true;
    const uint32_t before = live_behind(s, pass, done);
    for (uint32_t rest = pass->runs & ~done; rest; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest), with = done | 1u << i;
        if (((s->values[i] | s->ordered[i]) & pass->runs & ~done) != 0)
            continue;
        const uint32_t now = (uint32_t)__builtin_popcount(before | s->values[i]);
        const uint32_t behind = (uint32_t)__builtin_popcount(live_behind(s, pass, with));
        if (4u * now + s->graph->operations[i].held > s->limits->temporaries ||
            4u * behind > s->limits->temporaries)
            continue;
        order[count] = i;
        if (find_order(s, pass, with, order, count + 1))
            return true;
    }
    return false;
}

/* ---- the search ---- */

static struct state *place_of(const struct search *s, uint64_t key)
{
    uint64_t at = key * 0x9e3779b97f4a7c15u >> 20;
    while (s->states[at &= s->state_capacity - 1].key && s->states[at].key != key)
        at++;
    return &s->states[at];
}

static bool grow(struct search *s)
{
    struct state *old = s->states;
    const uint32_t count = s->state_capacity;
    const uint32_t capacity = count ? 2 * count : 1024;
    struct state *grown = calloc(capacity, sizeof *grown);
    if (!grown)
        return pm_fail(s->error, PM_ERROR_MEMORY, "out of memory");
    s->states = grown;
    s->state_capacity = capacity;
    for (uint32_t i = 0; i < count; i++)
        if (old[i].key)
            *place_of(s, old[i].key) = old[i];
    free(old);
    return true;
}

static uint64_t key_of(uint32_t stored, uint32_t ran, uint32_t number)
{
    return stored | (uint64_t)ran << MOST | (uint64_t)(number + 1) << 2 * MOST;
}

/* Whether passes from `number` on may lead to something better than is known. *left: what they run
 * at least. */
static bool is_worth(const struct search *s, uint32_t stored, uint32_t ran, uint32_t number,
                     const struct cost *cost, uint32_t *left)
{
    *left = closure(s, s->given & ~ran, stored, ran);
    const uint64_t alu = alu_of(s, *left);
    const struct cost least = {cost->work + (uint32_t)alu + (stored & reads_of(s, *left) ? 1 : 0),
                               cost->spilled};
    if ((s->given & ~ran && !*left) || alu > (s->passes - number) * (uint64_t)s->limits->alu ||
        (s->found && !is_less(&least, &s->best)))
        return false;
    if (!s->state_capacity)
        return true;
    const struct state *state = place_of(s, key_of(stored, ran, number));
    const struct cost before = {state->work, state->spilled};
    return !state->key || is_less(cost, &before);
}

/* Notes that a state was reached. false: it cannot be. */
static bool reach(struct search *s, uint64_t key, const struct cost *cost)
{
    if (2 * s->state_count >= s->state_capacity && !grow(s))
        return false;
    struct state *state = place_of(s, key);
    if (!state->key && ++s->state_count > MOST_STATES)
        return pm_fail(s->error, PM_ERROR_LIMIT, "more than %d states", (int)MOST_STATES);
    *state = (struct state){key, cost->work, cost->spilled};
    return true;
}

static void go_on(struct search *s, uint32_t stored, uint32_t ran, uint32_t number,
                  struct cost cost);

/* The pass at hand leaves these values and nothing else. false: nor is it worth to look at any that
 * leaves more, since one of these is read by nothing that has yet to run, or they are too many. */
static bool take(struct search *s, const struct pass *pass, uint32_t stored, uint32_t ran,
                 uint32_t number, struct cost cost)
{
    uint32_t order[MOST], left, read = 0;
    struct pass whole = *pass;
    whole.outputs |= s->results & pass->runs & ~ran;
    if ((uint32_t)__builtin_popcount(whole.outputs) > s->limits->outputs)
        return false;
    cost.work +=
        (uint32_t)alu_of(s, whole.runs) + (uint32_t)__builtin_popcount(reads_of(s, whole.runs));
    for (uint32_t rest = whole.outputs; rest; rest &= rest - 1)
        cost.spilled += (s->users[__builtin_ctz(rest)] & ~whole.runs) != 0 ||
                        !(s->results >> __builtin_ctz(rest) & 1);
    stored |= whole.outputs;
    ran |= whole.runs;
    const bool worth = is_worth(s, stored, ran, number + 1, &cost, &left);
    for (uint32_t rest = left; rest; rest &= rest - 1)
        read |= s->values[__builtin_ctz(rest)];
    if ((left || !(s->given & ~ran)) && pass->outputs & ~s->results & ~read)
        return false;
    if (worth && counts_fit(s, whole.runs) && find_order(s, &whole, 0, order, 0)) {
        s->path[number] = whole;
        go_on(s, stored, ran, number + 1, cost);
    }
    return true;
}

/* Tries all that the pass at hand may leave, and what that takes: of operations from `from` on. */
static void choose(struct search *s, const uint32_t *closures, struct pass pass, uint32_t from,
                   uint32_t stored, uint32_t ran, uint32_t number, const struct cost *cost)
{
    for (uint32_t i = from; i < s->graph->count && !s->failed; i++) {
        if (!closures[i])
            continue;
        const bool value = s->graph->operations[i].components != 0;
        const struct pass with = {pass.outputs | (value ? 1u << i : 0), pass.runs | closures[i]};
        if (alu_of(s, with.runs) <= s->limits->alu && take(s, &with, stored, ran, number, *cost))
            choose(s, closures, with, i + 1, stored, ran, number, cost);
    }
}

/* Passes from `number` on. */
static void go_on(struct search *s, uint32_t stored, uint32_t ran, uint32_t number,
                  struct cost cost)
{
    uint32_t left;
    if (!(s->given & ~ran)) {
        if (!s->found || is_less(&cost, &s->best)) {
            s->best = cost;
            memcpy(s->best_path, s->path, sizeof s->path);
            s->best_path[number].runs = 0;
            s->found = s->improved = true;
        }
        return;
    }
    if (number == s->passes || !is_worth(s, stored, ran, number, &cost, &left))
        return;
    if (!reach(s, key_of(stored, ran, number), &cost)) {
        s->failed = true;
        return;
    }
    uint32_t closures[MOST] = {0};
    for (uint32_t rest = left; rest; rest &= rest - 1) {
        const uint32_t i = (uint32_t)__builtin_ctz(rest);
        const bool lost = (ran >> i & 1) != 0 && !(s->given >> i & 1);
        /* A value takes its place in the first pass that computes it. */
        closures[i] = lost ? 0 : closure(s, 1u << i, stored, ran);
    }
    choose(s, closures, (struct pass){0}, 0, stored, ran, number, &cost);
}

/* ---- */

static bool write_plan(const struct search *s, struct pm_plan *plan)
{
    uint32_t order[MOST];
    for (uint32_t p = 0; s->best_path[p].runs; p++) {
        find_order(s, &s->best_path[p], 0, order, 0);
        for (int i = 0; i < __builtin_popcount(s->best_path[p].runs); i++)
            if (!pm_plan_add(plan, order[i]))
                return pm_fail(s->error, PM_ERROR_MEMORY, "out of memory");
        if (!pm_plan_add_pass(plan))
            return pm_fail(s->error, PM_ERROR_MEMORY, "out of memory");
    }
    return true;
}

bool pm_exact_again(const struct pm_operations *graph, const struct pm_pass_limits *limits,
                    struct pm_plan *plan, struct pm_error *error)
{
    struct search s = {.graph = graph, .limits = limits, .error = error};
    struct pm_plan once = {0};
    struct pm_plan_cost bound;
    bool ok = init(&s) && pm_exact(graph, limits, &once, error) &&
              pm_plan_check(graph, limits, &once, &bound, NULL, error);
    /* One pass more at a time; at as many as without computing again there is a partition. */
    for (s.passes = 1; ok && !s.improved && s.passes <= bound.passes; s.passes++) {
        free(s.states);
        s.states = NULL;
        s.state_count = s.state_capacity = 0;
        s.found = s.passes == bound.passes;
        if (s.found)
            s.best = (struct cost){(uint32_t)(bound.alu + bound.reads),
                                   (uint32_t)bound.spilled_components / 4};
        go_on(&s, 0, 0, 0, (struct cost){0});
        ok = !s.failed;
    }
    if (ok && s.improved) {
        ok = write_plan(&s, plan);
    } else if (ok) {
        const struct pm_plan swapped = *plan;
        *plan = once;
        once = swapped;
    }
    free(s.states);
    pm_plan_finish(&once);
    return ok;
}
