#include "shader_rewrite/analysis/analysis_together.h"

/* So many blocks are looked at in all; what comes then has no other. */
enum { MOST_STEPS = 1 << 20 };

struct finding {
    const struct pm_uniform *uniform;
    const struct pm_cfg *cfg;
    const struct pm_dominators *dominators, *postdominators;
    uint32_t *pending, *between; /* blocks */
    uint32_t *seen;              /* by block: the last walk that came to it */
    uint32_t walk, steps;
};

/* The nearest dominator that is in no loop which the block is not in. */
static uint32_t candidate_of(const struct finding *f, uint32_t block)
{
    const struct pm_loops *loops = f->uniform->loops;
    uint32_t other = f->dominators->parent[block];
    while (other != PM_NO_BLOCK &&
           !pm_loop_is_around(loops, loops->loop_of[other], loops->loop_of[block]))
        other = f->dominators->parent[other];
    return other;
}

/* Blocks on ways to a block, itself if a way leads around to it, from `from` on and not by
 * `without` (PM_NO_BLOCK: by all). Neither is among them. Returns how many; *begins: a way begins
 * at `from`. */
static uint32_t walk_back(struct finding *f, uint32_t block, uint32_t from, uint32_t without,
                          uint32_t *found, bool *begins)
{
    const struct pm_graph *g = &f->cfg->flow;
    uint32_t pending = 0, count = 0;
    f->walk++;
    *begins = false;
    f->pending[pending++] = block;
    while (pending > 0) {
        const uint32_t at = f->pending[--pending];
        f->steps++;
        for (uint32_t i = g->predecessor_start[at]; i < g->predecessor_start[at + 1]; i++) {
            const uint32_t before = g->predecessors[i];
            *begins = *begins || before == from;
            if (before == from || before == without || f->seen[before] == f->walk ||
                !pm_cfg_reachable(f->cfg, before))
                continue;
            f->seen[before] = f->walk;
            f->pending[pending++] = found[count++] = before;
        }
    }
    return count;
}

/* Whether lanes may go different ways at the end of a block. */
static bool parts(const struct finding *f, uint32_t block)
{
    const struct pm_ir_block *of = f->cfg->blocks[block];
    const struct pm_ir_instr *end = pm_ir_terminator(of);
    return (end->opcode == SpvOpBranchConditional || end->opcode == SpvOpSwitch) &&
           !pm_uniform_in(f->uniform, end->operands[0].def, of);
}

/* Whether lanes may come from a block to the header of a loop around both without having been in
 * the other one: then that one is entered in different turns, though all come to it. */
static bool comes_around(struct finding *f, uint32_t from, uint32_t without, uint32_t *scratch)
{
    const struct pm_loops *loops = f->uniform->loops;
    bool begins;
    for (uint32_t l = loops->loop_of[without]; l != PM_NO_LOOP; l = loops->loops[l].parent) {
        if (loops->loops[l].header == without || !pm_loop_is_around(loops, l, loops->loop_of[from]))
            continue;
        walk_back(f, loops->loops[l].header, from, without, scratch, &begins);
        if (begins)
            return true;
    }
    return false;
}

/* Where lanes that part in a block are all together again, in the same turns; PM_NO_BLOCK: nowhere.
 */
static uint32_t meeting_of(struct finding *f, uint32_t block, uint32_t *scratch)
{
    uint32_t meet = f->postdominators->parent[block];
    while (meet < f->cfg->count && comes_around(f, block, meet, scratch))
        meet = f->postdominators->parent[meet];
    return meet < f->cfg->count ? meet : PM_NO_BLOCK;
}

/* Whether of lanes that part at `at` some may come to the block before all are together again. */
static bool comes_parted(struct finding *f, uint32_t at, uint32_t block, uint32_t from,
                         uint32_t *scratch)
{
    bool begins;
    if (!parts(f, at))
        return false;
    const uint32_t meet = meeting_of(f, at, scratch);
    if (meet == block)
        return false;
    walk_back(f, block, from, meet, scratch, &begins);
    return at == from ? begins : f->seen[at] == f->walk;
}

static bool are_together(struct finding *f, uint32_t block, uint32_t from, uint32_t *scratch)
{
    bool begins;
    const uint32_t count = walk_back(f, block, from, PM_NO_BLOCK, f->between, &begins);
    bool apart = comes_parted(f, from, block, from, scratch);
    for (uint32_t i = 0; i < count && !apart && f->steps < MOST_STEPS; i++)
        apart = comes_parted(f, f->between[i], block, from, scratch);
    return !apart && f->steps < MOST_STEPS;
}

static void find(struct finding *f, struct pm_together *together, uint32_t *scratch)
{
    const uint32_t *loop_of = f->uniform->loops->loop_of;
    for (uint32_t i = 1; i < f->cfg->order_count && f->steps < MOST_STEPS; i++) {
        const uint32_t block = f->cfg->order[i], from = candidate_of(f, block);
        if (from == PM_NO_BLOCK || !are_together(f, block, from, scratch))
            continue;
        together->with[block] = from;
        together->always[block] = loop_of[block] == loop_of[from] &&
                                  pm_dominates(f->postdominators, block, from) &&
                                  !comes_around(f, from, block, scratch);
    }
}

bool pm_together_compute(struct pm_together *together, const struct pm_uniform *uniform,
                         const struct pm_ir_function *function, struct pm_arena *arena)
{
    struct finding f = {.uniform = uniform,
                        .cfg = pm_cfg(function),
                        .dominators = pm_dominators(function),
                        .postdominators = pm_postdominators(function)};
    const uint32_t blocks = f.cfg->count;
    uint32_t *scratch = pm_arena_zalloc(arena, blocks, sizeof *scratch);
    f.pending = pm_arena_zalloc(arena, blocks + 1u, sizeof *f.pending);
    f.between = pm_arena_zalloc(arena, blocks, sizeof *f.between);
    f.seen = pm_arena_zalloc(arena, blocks, sizeof *f.seen);
    together->with = pm_arena_zalloc(arena, blocks, sizeof *together->with);
    together->always = pm_arena_zalloc(arena, blocks, sizeof *together->always);
    if (!scratch || !f.pending || !f.between || !f.seen || !together->with || !together->always)
        return false;
    for (uint32_t b = 0; b < blocks; b++)
        together->with[b] = PM_NO_BLOCK;
    find(&f, together, scratch);
    return true;
}
