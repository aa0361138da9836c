#include "tools/report/report_fold.h"
#include <math.h>
#include <string.h>

enum { ENDS = 3, MOST_BLOCKS = 1000 }; /* ENDS: two are told from more */

struct folding {
    const struct pm_report_shader *shader;
    struct pm_fold_group *groups; /* by its first block; count 0: it is in another */
    uint32_t *group_of;           /* by block */
    uint32_t block_count, count;  /* of blocks; of groups */
    uint32_t *successors,
        *predecessors;  /* of each group: ENDS of them, distinct, as far as there are */
    uint32_t *out, *in; /* how many are known */
    uint32_t *seen, stamp;
};

static void note(uint32_t *list, uint32_t *count, uint32_t group)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == group)
            return;
    if (*count < ENDS)
        list[(*count)++] = group;
}

/* Edges between groups; an edge into its own group is a loop that was folded. */
static void find_edges(struct folding *f)
{
    memset(f->out, 0, f->block_count * sizeof(*f->out));
    memset(f->in, 0, f->block_count * sizeof(*f->in));
    for (uint32_t block = 0; block < f->block_count; block++) {
        const struct pm_report_block *b = &f->shader->blocks[block];
        const uint32_t from = f->group_of[block];
        for (uint32_t i = 0; i < b->successor_count; i++) {
            const uint32_t to = f->group_of[b->successors[i]];
            if (to == from)
                continue;
            note(&f->successors[ENDS * from], &f->out[from], to);
            note(&f->predecessors[ENDS * to], &f->in[to], from);
        }
    }
}

static void merge(struct folding *f, uint32_t into, uint32_t from)
{
    struct pm_fold_group *a = &f->groups[into], *b = &f->groups[from];
    for (uint32_t i = 0; i < f->block_count; i++)
        if (f->group_of[i] == from)
            f->group_of[i] = into;
    a->count += b->count;
    a->cost += b->cost;
    a->has_loop = a->has_loop || b->has_loop;
    a->last = b->last > a->last ? b->last : a->last;
    b->count = 0;
    f->count--;
}

/* ---- straight chains ---- */

static void fold_chains(struct folding *f)
{
    bool again = true;
    while (again) {
        again = false;
        find_edges(f);
        for (uint32_t a = 0; a < f->block_count && !again; a++) {
            const uint32_t b = f->successors[ENDS * a];
            if (f->groups[a].count == 0 || f->out[a] != 1 || f->in[b] != 1 || b == 0)
                continue;
            merge(f, a, b);
            again = true;
        }
    }
}

/* ---- loops and branches ---- */

struct choice {
    uint32_t *members; /* groups; the first is where it is entered */
    uint32_t count;
    bool loop;
    double cost;
};

static bool is_better(const struct choice *new, const struct choice *old)
{
    return old->count == 0 || new->cost < old->cost ||
           (new->cost <= old->cost &&new->count < old->count);
}

static void keep_better(const struct folding *f, const uint32_t *members, uint32_t count, bool loop,
                        struct choice *best)
{
    struct choice new = {.count = count, .loop = loop};
    for (uint32_t i = 0; i < count; i++)
        new.cost += f->groups[members[i]].cost;
    if (!is_better(&new, best))
        return;
    memcpy(best->members, members, count * sizeof(*members));
    best->count = count;
    best->loop = loop;
    best->cost = new.cost;
}

/* A branch whose ways hold one group each, or one way none, and that meet. */
static void look_for_branch(const struct folding *f, uint32_t at, struct choice *best)
{
    const uint32_t *ways = &f->successors[ENDS * at];
    uint32_t members[3] = {at}, count = 1, meet[2];
    if (f->out[at] != 2)
        return;
    for (int i = 0; i < 2; i++) {
        const uint32_t way = ways[i];
        const bool inner = way != 0 && f->in[way] == 1 && f->out[way] == 1;
        meet[i] = inner ? f->successors[ENDS * way] : way;
        if (inner) /* the other may go straight to where they meet */
            members[count++] = way;
    }
    if (meet[0] == meet[1] && meet[0] != at && count > 1)
        keep_better(f, members, count, false, best);
}

/* The natural loop of a header that is entered from outside too: what reaches it again. */
static uint32_t collect_loop(struct folding *f, uint32_t header, uint32_t tail, uint32_t *members)
{
    uint32_t count = 0;
    f->stamp++;
    f->seen[header] = f->stamp;
    members[count++] = header;
    if (f->seen[tail] != f->stamp) {
        f->seen[tail] = f->stamp;
        members[count++] = tail;
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t block = 0; block < f->block_count; block++) {
            const struct pm_report_block *b = &f->shader->blocks[block];
            const uint32_t from = f->group_of[block];
            for (uint32_t j = 0; f->seen[from] != f->stamp && j < b->successor_count; j++)
                if (f->group_of[b->successors[j]] == members[i]) {
                    f->seen[from] = f->stamp;
                    members[count++] = from;
                }
        }
    return count;
}

/* Structured control flow: an edge that leads to a block at or before its own closes a loop. */
static void look_for_loops(struct folding *f, uint32_t *members, struct choice *best)
{
    for (uint32_t block = 0; block < f->block_count; block++) {
        const struct pm_report_block *b = &f->shader->blocks[block];
        for (uint32_t i = 0; i < b->successor_count; i++) {
            const uint32_t header = f->group_of[b->successors[i]], tail = f->group_of[block];
            if (b->successors[i] > block || header == tail)
                continue;
            keep_better(f, members, collect_loop(f, header, tail, members), true, best);
        }
    }
}

static bool fold_one(struct folding *f, uint32_t *members, struct choice *best)
{
    best->count = 0;
    best->cost = INFINITY;
    find_edges(f);
    for (uint32_t at = 0; at < f->block_count; at++)
        if (f->groups[at].count > 0)
            look_for_branch(f, at, best);
    look_for_loops(f, members, best);
    for (uint32_t i = 1; i < best->count; i++)
        merge(f, best->members[0], best->members[i]);
    if (best->count > 0 && best->loop)
        f->groups[best->members[0]].has_loop = true;
    return best->count > 1;
}

/* ---- the result ---- */

static bool number_groups(const struct folding *f, struct pm_arena *arena, struct pm_fold *fold)
{
    uint32_t *number = pm_arena_zalloc(arena, f->block_count, sizeof(*number));
    fold->groups = pm_arena_zalloc(arena, f->count + 1u, sizeof(*fold->groups));
    fold->nodes = pm_arena_zalloc(arena, f->count + 1u, sizeof(*fold->nodes));
    if (!number || !fold->groups || !fold->nodes)
        return false;
    for (uint32_t i = 0; i < f->block_count; i++)
        if (f->groups[i].count > 0) {
            number[i] = fold->count;
            fold->groups[fold->count++] = f->groups[i];
        }
    for (uint32_t i = 0; i < f->block_count; i++)
        f->group_of[i] = number[f->group_of[i]];
    fold->group_of = f->group_of;
    return true;
}

static bool connect(const struct pm_report_shader *shader, struct pm_arena *arena,
                    struct pm_fold *fold)
{
    for (uint32_t group = 0; group < fold->count; group++) {
        uint32_t *to = pm_arena_zalloc(arena, fold->count, sizeof(*to)), count = 0;
        if (!to)
            return false;
        for (uint32_t block = 0; block < shader->block_count; block++)
            for (uint32_t i = 0;
                 fold->group_of[block] == group && i < shader->blocks[block].successor_count; i++) {
                const uint32_t next = fold->group_of[shader->blocks[block].successors[i]];
                /* A group of several has its loop inside. */
                bool known = next == group && fold->groups[group].count > 1;
                for (uint32_t j = 0; j < count; j++)
                    known = known || to[j] == next;
                if (!known)
                    to[count++] = next;
            }
        fold->nodes[group] = (struct pm_graph_node){to, count};
    }
    return true;
}

bool pm_report_fold(const struct pm_report_shader *shader, struct pm_arena *arena,
                    struct pm_fold *fold)
{
    const uint32_t count = shader->block_count;
    struct folding f = {
        .shader = shader,
        .groups = pm_arena_zalloc(arena, count + 1u, sizeof(*f.groups)),
        .group_of = pm_arena_zalloc(arena, count + 1u, sizeof(*f.group_of)),
        .block_count = count,
        .count = count,
        .successors = pm_arena_zalloc(arena, count + 1u, ENDS * sizeof(*f.successors)),
        .predecessors = pm_arena_zalloc(arena, count + 1u, ENDS * sizeof(*f.predecessors)),
        .out = pm_arena_zalloc(arena, count + 1u, sizeof(*f.out)),
        .in = pm_arena_zalloc(arena, count + 1u, sizeof(*f.in)),
        .seen = pm_arena_zalloc(arena, count + 1u, sizeof(*f.seen)),
    };
    uint32_t *members = pm_arena_zalloc(arena, count + 1u, sizeof(*members));
    struct choice best = {.members = pm_arena_zalloc(arena, count + 1u, sizeof(*members))};
    *fold = (struct pm_fold){0};
    if (!f.groups || !f.group_of || !f.successors || !f.predecessors || !f.out || !f.in ||
        !f.seen || !members || !best.members)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        f.groups[i] = (struct pm_fold_group){
            .first = i, .last = i, .count = 1, .cost = shader->blocks[i].cost};
        f.group_of[i] = i;
    }
    if (count > PM_FOLD_NODES && count <= MOST_BLOCKS) {
        fold_chains(&f);
        while (f.count > PM_FOLD_NODES && fold_one(&f, members, &best))
            fold_chains(&f);
    }
    return number_groups(&f, arena, fold) && connect(shader, arena, fold);
}
