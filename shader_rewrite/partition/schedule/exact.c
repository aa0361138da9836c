#include "shader_rewrite/partition/schedule/exact.h"

#include "shader_rewrite/partition/schedule/mio.h"

#include <stdlib.h>
#include <string.h>

/* Beyond so many sets the search gives up. */
enum { MOST_SETS = 1 << 22 };

/* A set of operations that may have run when a pass begins. */
struct set {
    uint32_t members, parent; /* parent: place of the one before the pass */
    uint32_t reads, spilled;  /* values, until here */
};

/* Sets by their members, open addressing. */
struct sets {
    struct set *sets;
    uint32_t *slots; /* places in `sets` and 1; 0: free */
    uint32_t count, capacity, slot_count;
};

struct exact {
    const struct pm_operations *graph;
    const struct pm_pass_limits *limits;
    uint32_t all;
    uint32_t needs[PM_EXACT_MOST_OPERATIONS]; /* operations */
    uint32_t reads[PM_EXACT_MOST_OPERATIONS]; /* of these whose values it uses */
    uint32_t users[PM_EXACT_MOST_OPERATIONS]; /* operations that use its value */
    uint32_t results;                         /* operations whose values are the shader's */
    struct sets pass; /* what can have run within the pass at hand; `parent` is without the last */
};

static void sets_finish(struct sets *sets)
{
    free(sets->sets);
    free(sets->slots);
    *sets = (struct sets){0};
}

static void sets_clear(struct sets *sets)
{
    sets->count = 0;
    if (sets->slots)
        memset(sets->slots, 0, sets->slot_count * sizeof(*sets->slots));
}

static uint32_t slot_of(const struct sets *sets, uint32_t members)
{
    uint32_t slot = (uint32_t)((uint64_t)members * 0x9e3779b97f4a7c15u >> 40);
    while (sets->slots[slot &= sets->slot_count - 1] &&
           sets->sets[sets->slots[slot] - 1].members != members)
        slot++;
    return slot;
}

static bool sets_grow(struct sets *sets)
{
    uint32_t capacity = sets->capacity ? 2 * sets->capacity : 64;
    struct set *grown = realloc(sets->sets, capacity * sizeof(*grown));
    if (grown)
        sets->sets = grown;
    uint32_t *slots = calloc(2 * (size_t)capacity, sizeof(*slots));
    if (!grown || !slots) {
        free(slots);
        return false;
    }
    free(sets->slots);
    sets->slots = slots;
    sets->slot_count = 2 * capacity;
    sets->capacity = capacity;
    for (uint32_t i = 0; i < sets->count; i++)
        sets->slots[slot_of(sets, sets->sets[i].members)] = i + 1;
    return true;
}

/* Adds a set, or takes the better way to one that is there. NULL: out of memory. */
static struct set *sets_add(struct sets *sets, const struct set *set, bool *added)
{
    if (sets->count == sets->capacity && !sets_grow(sets))
        return NULL;
    uint32_t slot = slot_of(sets, set->members);
    *added = !sets->slots[slot];
    if (*added) {
        sets->sets[sets->count] = *set;
        sets->slots[slot] = ++sets->count;
    }
    struct set *known = &sets->sets[sets->slots[slot] - 1];
    if (set->reads < known->reads || (set->reads == known->reads && set->spilled < known->spilled))
        *known = *set;
    return known;
}

static bool init(struct exact *e, struct pm_error *error)
{
    const struct pm_operations *graph = e->graph;
    if (graph->count > PM_EXACT_MOST_OPERATIONS || !graph->count)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "%u operations, of 1 to %u", graph->count,
                       PM_EXACT_MOST_OPERATIONS);
    e->all = (uint32_t)((1ull << graph->count) - 1);
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct pm_operation *operation = &graph->operations[i];
        if (operation->components != 0 && operation->components != 4)
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "operation %u has a value of %u components",
                           i, operation->components);
        e->results |= (uint32_t)operation->result << i;
        for (uint32_t o = 0; o < operation->operand_count; o++) {
            const struct pm_operand *operand = &graph->operands[operation->first_operand + o];
            e->needs[i] |= 1u << operand->operation;
            if (!operand->value || !graph->operations[operand->operation].components)
                continue;
            e->reads[i] |= 1u << operand->operation;
            e->users[operand->operation] |= 1u << i;
        }
    }
    return true;
}

/* Values of `from` that are used outside of `by`, or given. */
static uint32_t live(const struct exact *e, uint32_t from, uint32_t by)
{
    uint32_t found = from & e->results;
    for (uint32_t rest = from; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        found |= e->users[i] & ~by ? 1u << i : 0;
    }
    return found;
}

/* What a pass of these operations reads of what ran before. */
static uint32_t values_read(const struct exact *e, uint32_t pass)
{
    uint32_t read = 0;
    for (uint32_t rest = pass; rest; rest &= rest - 1)
        read |= e->reads[__builtin_ctz(rest)];
    return read & ~pass;
}

/* Whether `pass`, which ran behind `before`, may be continued by an operation. */
static bool may_add(const struct exact *e, uint32_t before, uint32_t pass, uint32_t operation)
{
    const struct pm_operations *graph = e->graph;
    const struct pm_pass_limits *limits = e->limits;
    uint32_t with = pass | 1u << operation, read = values_read(e, with);
    uint64_t alu = 0, texture = 0;
    uint32_t inputs[PM_INPUT_KINDS] = {0};
    for (uint32_t rest = with; rest; rest &= rest - 1) {
        const struct pm_operation *of = &graph->operations[__builtin_ctz(rest)];
        alu += of->alu;
        texture += of->texture;
        for (uint32_t i = 0; i < of->input_count; i++) {
            uint32_t input = graph->inputs[of->first_input + i];
            bool known = false;
            for (uint32_t other = with & ((rest & -rest) - 1); other && !known;
                 other &= other - 1) {
                const struct pm_operation *by = &graph->operations[__builtin_ctz(other)];
                for (uint32_t n = 0; n < by->input_count; n++)
                    known |= graph->inputs[by->first_input + n] == input;
            }
            inputs[graph->input_kinds[input]] += !known;
        }
    }
    if (limits->textures_hold_outputs) {
        texture += (uint32_t)__builtin_popcount(read);
        inputs[PM_INPUT_TEXTURE] += (uint32_t)__builtin_popcount(read);
    }
    /* As Mio counts temporaries: what is read stays until all its users have run. */
    uint32_t done = before | pass;
    uint32_t now = live(e, pass, done) | (live(e, values_read(e, pass), done) & ~e->results) |
                   (e->reads[operation] & before);
    uint32_t behind = live(e, with, done | 1u << operation);
    for (uint32_t rest = read; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        behind |= e->users[i] & ~(done | 1u << operation) ? 1u << i : 0;
    }
    uint64_t while_it_runs =
        4u * (uint32_t)__builtin_popcount(now) + graph->operations[operation].held;
    return alu <= limits->alu && texture <= limits->texture &&
           while_it_runs <= limits->temporaries &&
           4u * (uint32_t)__builtin_popcount(behind) <= limits->temporaries &&
           inputs[PM_INPUT_VARYING] <= limits->varyings &&
           inputs[PM_INPUT_CONSTANT] <= limits->constants &&
           inputs[PM_INPUT_TEXTURE] <= limits->textures;
}

/* All that one pass behind `before` may have run. */
static bool expand(struct exact *e, uint32_t before, struct pm_error *error)
{
    bool added;
    sets_clear(&e->pass);
    if (!sets_add(&e->pass, &(struct set){0}, &added))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < e->pass.count; i++) {
        uint32_t pass = e->pass.sets[i].members;
        for (uint32_t at = 0; at < e->graph->count; at++) {
            uint32_t bit = 1u << at;
            if ((before | pass) & bit || e->needs[at] & ~(before | pass) ||
                !may_add(e, before, pass, at))
                continue;
            struct set with = {.members = pass | bit, .parent = i};
            if (!sets_add(&e->pass, &with, &added))
                return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        }
    }
    return true;
}

/* All sets that one more pass may lead to. upper: passes that some partition takes behind. */
static bool step(struct exact *e, const struct sets *from, uint32_t upper, struct sets *to,
                 struct pm_error *error)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct set *set = &from->sets[i];
        if (!expand(e, set->members, error))
            return false;
        for (uint32_t n = 1; n < e->pass.count; n++) {
            uint32_t pass = e->pass.sets[n].members, left = 0;
            uint32_t spilled = live(e, pass, set->members | pass);
            if ((uint32_t)__builtin_popcount(spilled) > e->limits->outputs)
                continue;
            for (uint32_t rest = e->all & ~(set->members | pass); rest; rest &= rest - 1)
                left += e->graph->operations[__builtin_ctz(rest)].alu;
            if (e->limits->alu && (left + e->limits->alu - 1) / e->limits->alu > upper)
                continue;
            uint32_t only_results = 0;
            for (uint32_t rest = spilled; rest; rest &= rest - 1)
                only_results += !(e->users[__builtin_ctz(rest)] & ~(set->members | pass));
            struct set next = {
                .members = set->members | pass,
                .parent = i,
                .reads = set->reads + (uint32_t)__builtin_popcount(values_read(e, pass)),
                .spilled = set->spilled + (uint32_t)__builtin_popcount(spilled) - only_results,
            };
            bool added;
            if (!sets_add(to, &next, &added))
                return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
            if (to->count > MOST_SETS)
                return pm_fail(error, PM_ERROR_LIMIT, "more than %u sets of operations", MOST_SETS);
        }
    }
    return true;
}

static const struct set *find(const struct sets *sets, uint32_t members)
{
    uint32_t place = sets->slot_count ? sets->slots[slot_of(sets, members)] : 0;
    return place ? &sets->sets[place - 1] : NULL;
}

/* The operations of a pass in an order in which they fit. */
static bool write_pass(struct exact *e, uint32_t before, uint32_t pass, struct pm_plan *plan,
                       struct pm_error *error)
{
    uint32_t order[PM_EXACT_MOST_OPERATIONS], count = 0;
    if (!expand(e, before, error))
        return false;
    for (const struct set *set = find(&e->pass, pass); set && set->members;) {
        const struct set *without = &e->pass.sets[set->parent];
        order[count++] = (uint32_t)__builtin_ctz(set->members & ~without->members);
        set = without;
    }
    bool ok = true;
    while (count)
        ok = ok && pm_plan_add(plan, order[--count]);
    return (ok && pm_plan_add_pass(plan)) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static bool write_plan(struct exact *e, const struct sets *layers, uint32_t passes,
                       struct pm_plan *plan, struct pm_error *error)
{
    uint32_t behind[PM_EXACT_MOST_OPERATIONS + 1];
    const struct set *set = find(&layers[passes], e->all);
    for (uint32_t p = passes; p > 0; p--) {
        behind[p] = set->members;
        set = &layers[p - 1].sets[set->parent];
    }
    behind[0] = 0;
    for (uint32_t p = 0; p < passes; p++)
        if (!write_pass(e, behind[p], behind[p + 1] & ~behind[p], plan, error))
            return false;
    return true;
}

bool pm_exact(const struct pm_operations *graph, const struct pm_pass_limits *limits,
              struct pm_plan *plan, struct pm_error *error)
{
    struct exact e = {.graph = graph, .limits = limits};
    struct sets layers[PM_EXACT_MOST_OPERATIONS + 1] = {{0}};
    struct pm_plan bound = {0};
    bool added, ok = init(&e, error);
    ok = ok && pm_mio(graph, limits, &(struct pm_mio_options){0}, &bound, error);
    if (ok && !sets_add(&layers[0], &(struct set){0}, &added))
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    uint32_t passes = 0;
    while (ok && !find(&layers[passes], e.all)) {
        ok = step(&e, &layers[passes], bound.pass_count - passes - 1, &layers[passes + 1], error);
        passes++;
    }
    ok = ok && write_plan(&e, layers, passes, plan, error);
    for (uint32_t p = 0; p <= PM_EXACT_MOST_OPERATIONS; p++)
        sets_finish(&layers[p]);
    sets_finish(&e.pass);
    pm_plan_finish(&bound);
    return ok;
}
