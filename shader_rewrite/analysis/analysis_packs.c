#include "shader_rewrite/analysis/analysis_packs.h"

#include "shader_rewrite/analysis/analysis_packs_seeds.h"
#include <stdlib.h>

/* Best effort has bounds, so that the whole is linear: users of one value that are looked at,
 * operands of one instruction, and instructions and operands in the search for a dependence. */
enum { USERS_MOST = 16, OPERANDS_MOST = 64, SEARCH_MOST = 64, STEPS_MOST = 256 };

struct finder {
    const struct pm_values *values;
    bool *packed;      /* by id: is in a group */
    uint32_t *visited; /* by id: the search that saw it last */
    uint32_t search;
    struct pm_pack *groups; /* also those that are no packs, but lead to some; lanes as found */
    bool *is_pack;          /* by group */
    uint32_t count;
};

/* An instruction that may be a lane. */
static bool is_lane(const struct finder *f, const struct pm_ir_instr *instr)
{
    return pm_values_components(f->values, instr) == 1 && !f->packed[instr->result->id];
}

static bool is_isomorphic(const struct finder *f, const struct pm_ir_instr *a,
                          const struct pm_ir_instr *b)
{
    if (a->result && b->result &&
        f->values->disguised[a->result->id] != f->values->disguised[b->result->id])
        return false;
    if (a->opcode != b->opcode || a->block != b->block || a->type.def != b->type.def ||
        a->operand_count != b->operand_count)
        return false;
    if (a->opcode == SpvOpExtInst)
        return a->operands[0].def == b->operands[0].def &&
               pm_ir_operand_word(&a->operands[1]) == pm_ir_operand_word(&b->operands[1]);
    return a->opcode != SpvOpFunctionCall;
}

/* Whether `instr` needs one of the lanes, within their block; true when that takes too long to
 * tell. */
static bool needs_lane(struct finder *f, const struct pm_ir_instr *instr,
                       const struct pm_pack *lanes)
{
    const struct pm_ir_instr *pending[SEARCH_MOST];
    uint32_t count = 0, seen = 0, steps = 0;
    pending[count++] = instr;
    f->search++;
    while (count > 0) {
        const struct pm_ir_instr *at = pending[--count];
        for (uint32_t i = 0; i < at->operand_count && at->opcode != SpvOpPhi; i++) {
            const struct pm_ir_instr *from = pm_ir_operand_instr(at, i);
            if (++steps == STEPS_MOST)
                return true;
            if (!from || !from->result || from->block != instr->block ||
                f->visited[from->result->id] == f->search)
                continue;
            f->visited[from->result->id] = f->search;
            for (uint32_t lane = 0; lane < lanes->count; lane++)
                if (from == lanes->lanes[lane])
                    return true;
            if (++seen == SEARCH_MOST)
                return true;
            pending[count++] = from;
        }
    }
    return false;
}

static void sort(struct pm_pack *pack)
{
    for (uint32_t i = 1; i < pack->count; i++)
        for (uint32_t j = i; j > 0 && pack->lanes[j]->place < pack->lanes[j - 1]->place; j--) {
            struct pm_ir_instr *swap = pack->lanes[j];
            pack->lanes[j] = pack->lanes[j - 1];
            pack->lanes[j - 1] = swap;
        }
}

/* The lanes are the leading components of a vector that is put together from them. */
static bool makes_vector(const struct pm_pack *group)
{
    uint32_t looked_at = 0;
    for (const struct pm_ir_operand *use = group->lanes[0]->result->first_use;
         use && looked_at < USERS_MOST; use = use->next_use, looked_at++) {
        const struct pm_ir_instr *user = use->user;
        const struct pm_ir_instr *type = pm_ir_type_of(user);
        if (user->opcode != SpvOpCompositeConstruct || !type || type->opcode != SpvOpTypeVector ||
            user->operand_count < group->count)
            continue;
        bool leading = true;
        for (uint32_t i = 0; i < group->count; i++)
            leading = leading && user->operands[i].def == group->lanes[i]->result;
        if (leading)
            return true;
    }
    return false;
}

/* They are components taken out of one vector. */
static bool is_of_vector(const struct pm_pack *group)
{
    const struct pm_ir_instr *composite = pm_ir_operand_instr(group->lanes[0], 0);
    const struct pm_ir_instr *type = composite ? pm_ir_type_of(composite) : NULL;
    if (!type || type->opcode != SpvOpTypeVector)
        return false;
    for (uint32_t i = 0; i < group->count; i++)
        if (group->lanes[i]->opcode != SpvOpCompositeExtract ||
            group->lanes[i]->operands[0].def != group->lanes[0]->operands[0].def)
            return false;
    return true;
}

static void add_group(struct finder *f, const struct pm_pack *group)
{
    for (uint32_t i = 0; i < group->count; i++)
        f->packed[group->lanes[i]->result->id] = true;
    f->is_pack[f->count] = !is_of_vector(group) && !makes_vector(group);
    f->groups[f->count++] = *group;
}

/* Makes groups of those among up to four instructions that may be together. NULL among them is
 * passed over. */
static void group(struct finder *f, struct pm_ir_instr *const *instrs, uint32_t count)
{
    for (uint32_t first = 0; first + 1 < count; first++) {
        if (!is_lane(f, instrs[first]))
            continue;
        struct pm_pack found = {.lanes = {instrs[first]}, .count = 1};
        for (uint32_t i = first + 1; i < count; i++) {
            if (!is_lane(f, instrs[i]) || !is_isomorphic(f, instrs[first], instrs[i]))
                continue;
            bool again = false, needed = false;
            for (uint32_t lane = 0; lane < found.count; lane++) {
                again = again || found.lanes[lane] == instrs[i];
                const struct pm_pack self = {.lanes = {instrs[i]}, .count = 1};
                needed = needed || needs_lane(f, found.lanes[lane], &self);
            }
            if (!again && !needed && !needs_lane(f, instrs[i], &found))
                found.lanes[found.count++] = instrs[i];
        }
        if (found.count > 1)
            add_group(f, &found);
    }
}

/* ---- chains ---- */

static void follow_operands(struct finder *f, const struct pm_pack *lanes)
{
    uint32_t operands = lanes->lanes[0]->operand_count;
    for (uint32_t o = 0; o < operands && o < OPERANDS_MOST; o++) {
        struct pm_ir_instr *from[PM_PACK_LANES];
        for (uint32_t lane = 0; lane < lanes->count; lane++)
            from[lane] = pm_ir_operand_instr(lanes->lanes[lane], o);
        group(f, from, lanes->count);
    }
}

static int compare_uses(const void *a, const void *b)
{
    const struct pm_ir_operand *x = *(struct pm_ir_operand *const *)a;
    const struct pm_ir_operand *y = *(struct pm_ir_operand *const *)b;
    if (x->user != y->user)
        return x->user->place < y->user->place ? -1 : 1;
    return x < y ? -1 : x > y; /* of one array */
}

/* The uses that may be lanes, in the module's order; 0 when there are too many. */
static uint32_t uses_of(const struct finder *f, const struct pm_ir_instr *lane,
                        struct pm_ir_operand *uses[USERS_MOST])
{
    uint32_t count = 0, all = 0;
    for (struct pm_ir_operand *use = lane->result->first_use; use; use = use->next_use) {
        if (++all > USERS_MOST)
            return 0;
        if (is_lane(f, use->user))
            uses[count++] = use;
    }
    qsort(uses, count, sizeof(uses[0]), compare_uses);
    return count;
}

/* The n-th user of each lane that is like `use`, the n-th such of its own lane. */
static void follow_use(struct finder *f, struct pm_ir_operand *uses[][USERS_MOST],
                       const uint32_t *counts, uint32_t lanes, uint32_t lane, uint32_t at)
{
    const struct pm_ir_operand *use = uses[lane][at];
    uint32_t place = (uint32_t)(use - use->user->operands), nth = 0;
    for (uint32_t i = 0; i < at; i++)
        nth += (uint32_t)(uses[lane][i] - uses[lane][i]->user->operands) == place &&
               is_lane(f, uses[lane][i]->user) && is_isomorphic(f, uses[lane][i]->user, use->user);
    struct pm_ir_instr *users[PM_PACK_LANES] = {use->user};
    uint32_t count = 1;
    for (uint32_t other = lane + 1; other < lanes; other++) {
        uint32_t skip = nth;
        for (uint32_t i = 0; i < counts[other]; i++) {
            struct pm_ir_operand *candidate = uses[other][i];
            if ((uint32_t)(candidate - candidate->user->operands) != place ||
                !is_lane(f, candidate->user) || !is_isomorphic(f, candidate->user, use->user) ||
                skip-- > 0)
                continue;
            users[count++] = candidate->user;
            break;
        }
    }
    group(f, users, count);
}

static void follow_users(struct finder *f, const struct pm_pack *lanes)
{
    struct pm_ir_operand *uses[PM_PACK_LANES][USERS_MOST];
    uint32_t counts[PM_PACK_LANES];
    for (uint32_t lane = 0; lane < lanes->count; lane++)
        counts[lane] = uses_of(f, lanes->lanes[lane], uses[lane]);
    for (uint32_t lane = 0; lane + 1 < lanes->count; lane++)
        for (uint32_t i = 0; i < counts[lane]; i++)
            if (is_lane(f, uses[lane][i]->user))
                follow_use(f, uses, counts, lanes->count, lane, i);
}

/* Makes groups of a seed and of all that its chains lead to. */
static void grow(void *user, struct pm_ir_instr *const *seed, uint32_t count)
{
    struct finder *f = user;
    uint32_t done = f->count;
    group(f, seed, count);
    for (; done < f->count; done++) {
        const struct pm_pack lanes = f->groups[done];
        follow_operands(f, &lanes);
        follow_users(f, &lanes);
    }
}

static uint32_t count_scalars(const struct pm_ir_function *function, const struct pm_values *values)
{
    uint32_t count = 0;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            count += pm_values_components(values, i) == 1;
    return count;
}

bool pm_packs_find(const struct pm_ir_function *function, const struct pm_values *values,
                   struct pm_arena *arena, struct pm_packs *out)
{
    uint32_t most = count_scalars(function, values) / 2;
    struct finder f = {
        .values = values,
        .packed = pm_arena_zalloc(arena, values->bound, sizeof(bool)),
        .visited = pm_arena_zalloc(arena, values->bound, sizeof(uint32_t)),
        .groups = pm_arena_zalloc(arena, most, sizeof(struct pm_pack)),
        .is_pack = pm_arena_zalloc(arena, most, sizeof(bool)),
    };
    if (!f.packed || !f.visited || !f.groups || !f.is_pack ||
        !pm_packs_seeds(function, arena, grow, &f))
        return false;
    *out = (struct pm_packs){.packs = f.groups};
    for (uint32_t g = 0; g < f.count; g++) {
        if (!f.is_pack[g])
            continue;
        struct pm_pack pack = f.groups[g];
        sort(&pack);
        out->packs[out->count++] = pack;
    }
    return true;
}
