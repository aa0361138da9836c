#include "shader_rewrite/analysis/analysis_uniform.h"

#include <string.h>

/* Beyond so many blocks no OpPhi is looked at and no loop: the search is quadratic. */
enum { MOST_BLOCKS = 4096 };

#define MANY UINT32_MAX

struct finding {
    struct pm_uniform *uniform;
    enum pm_uniform_scope scope;
    const struct pm_ir_module *module;
    const struct pm_memory *memory;
    const struct pm_cfg *cfg;
    const struct pm_dominators *postdominators;
    bool *divergent, *parts_in_loops, *parted;
    bool *branches_apart; /* by block: its branch is divergent, and was followed */
    bool *meets;          /* by block: lanes that took different ways may meet in it */
    uint32_t *from;       /* by block: the last branch from which it was come to, + 1 */
    uint32_t *way;        /* and by which of its ways, or MANY */
    uint32_t *pending;    /* each block twice at most */
    bool changed;
};

/* ---- instructions ---- */

/* Built-in inputs that all lanes of the workgroup share, or of the subgroup. */
static bool is_uniform_builtin(const struct finding *f, uint32_t builtin)
{
    switch (builtin) {
    case SpvBuiltInWorkgroupId:
    case SpvBuiltInNumWorkgroups:
        return true;
    case SpvBuiltInSubgroupId:
    case SpvBuiltInNumSubgroups:
    case SpvBuiltInSubgroupSize:
        return f->scope == PM_UNIFORM_SUBGROUP;
    default:
        return false;
    }
}

static bool is_uniform_input(const struct finding *f, const struct pm_ir_instr *variable)
{
    for (const struct pm_ir_operand *use = variable->result->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (user->opcode == SpvOpDecorate && use == &user->operands[0] &&
            pm_ir_operand_word(&user->operands[1]) == SpvDecorationBuiltIn &&
            is_uniform_builtin(f, pm_ir_operand_word(&user->operands[2])))
            return true;
    }
    return false;
}

/* Whether all lanes that do it together get the same, whatever each brings. */
static bool tells_all_alike(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpGroupNonUniformAll:
    case SpvOpGroupNonUniformAny:
    case SpvOpGroupNonUniformAllEqual:
    case SpvOpGroupNonUniformBroadcastFirst:
    case SpvOpGroupNonUniformBallot:
    case SpvOpSubgroupAllKHR:
    case SpvOpSubgroupAnyKHR:
    case SpvOpSubgroupAllEqualKHR:
    case SpvOpSubgroupBallotKHR:
    case SpvOpSubgroupFirstInvocationKHR:
        return true;
    case SpvOpGroupNonUniformIAdd:
    case SpvOpGroupNonUniformFAdd:
    case SpvOpGroupNonUniformIMul:
    case SpvOpGroupNonUniformFMul:
    case SpvOpGroupNonUniformSMin:
    case SpvOpGroupNonUniformUMin:
    case SpvOpGroupNonUniformFMin:
    case SpvOpGroupNonUniformSMax:
    case SpvOpGroupNonUniformUMax:
    case SpvOpGroupNonUniformFMax:
    case SpvOpGroupNonUniformBitwiseAnd:
    case SpvOpGroupNonUniformBitwiseOr:
    case SpvOpGroupNonUniformBitwiseXor:
    case SpvOpGroupNonUniformLogicalAnd:
    case SpvOpGroupNonUniformLogicalOr:
    case SpvOpGroupNonUniformLogicalXor:
        return pm_ir_operand_word(&instr->operands[1]) == SpvGroupOperationReduce;
    default:
        return false;
    }
}

/* Memory that all lanes find the same at the same place, and that is never written. */
static bool is_uniform_memory(const struct finding *f, uint32_t storage)
{
    return storage == SpvStorageClassPushConstant || storage == SpvStorageClassUniformConstant ||
           storage == SpvStorageClassInput ||
           (storage == SpvStorageClassUniform && !f->memory->writable_uniforms);
}

static bool variable_is_uniform(const struct finding *f, const struct pm_ir_instr *variable)
{
    uint32_t storage = pm_ir_operand_word(&variable->operands[0]);
    return is_uniform_memory(f, storage) &&
           (storage != SpvStorageClassInput || is_uniform_input(f, variable));
}

static bool operands_uniform(const struct finding *f, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def &&
            !pm_uniform_in(f->uniform, instr->operands[o].def, instr->block))
            return false;
    return true;
}

/* Whether it has but one value, itself aside. */
static bool has_one_value(const struct pm_ir_instr *phi)
{
    const struct pm_ir_def *only = NULL;
    for (uint32_t o = 0; o < phi->operand_count; o += 2) {
        const struct pm_ir_def *def = phi->operands[o].def;
        if (def == phi->result || def == only)
            continue;
        if (only)
            return false;
        only = def;
    }
    return true;
}

static bool phi_is_uniform(const struct finding *f, const struct pm_ir_instr *phi)
{
    if (f->meets[phi->block->index] && !has_one_value(phi))
        return false;
    for (uint32_t o = 0; o < phi->operand_count; o += 2)
        if (!pm_uniform_in(f->uniform, phi->operands[o].def, phi->block))
            return false;
    return true;
}

static bool is_uniform(const struct finding *f, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpPhi:
        return phi_is_uniform(f, instr);
    case SpvOpLoad: {
        const struct pm_ir_instr *pointer = pm_ir_operand_instr(instr, 0);
        const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
        return !pm_memory_access_of(f->memory, instr).writes && type &&
               type->opcode == SpvOpTypePointer &&
               is_uniform_memory(f, pm_ir_operand_word(&type->operands[0])) &&
               operands_uniform(f, instr);
    }
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpCopyObject:
        return operands_uniform(f, instr);
    case SpvOpExtInst:
        return pm_ir_is_glsl(instr) && operands_uniform(f, instr);
    case SpvOpGroupNonUniformBallotFindLSB:
    case SpvOpGroupNonUniformBallotFindMSB:
        return f->scope == PM_UNIFORM_SUBGROUP && operands_uniform(f, instr);
    case SpvOpGroupNonUniformBallotBitCount:
        return f->scope == PM_UNIFORM_SUBGROUP && operands_uniform(f, instr) &&
               pm_ir_operand_word(&instr->operands[1]) == SpvGroupOperationReduce;
    default:
        if (f->scope == PM_UNIFORM_SUBGROUP && tells_all_alike(instr))
            return true;
        return !pm_ir_opcode_is(instr->opcode, PM_IR_OP_DERIVATIVE) &&
               pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_COMPUTES) && operands_uniform(f, instr);
    }
}

static void visit(struct finding *f, const struct pm_ir_block *block)
{
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next) {
        if (!i->result || f->divergent[i->result->id] || is_uniform(f, i))
            continue;
        f->divergent[i->result->id] = true;
        f->changed = true;
    }
}

/* ---- branches ---- */

/* Whether it begins a loop that `from` is in: lanes that come around again come together, and find
 * none there that went another way. */
static bool comes_around(const struct pm_loops *loops, uint32_t from, uint32_t block)
{
    uint32_t l = loops->loop_of[block];
    return l != PM_NO_LOOP && loops->loops[l].header == block &&
           pm_loop_is_around(loops, l, loops->loop_of[from]);
}

/* Lanes leave this loop in different turns, also by one way alone. */
static void leave_apart(struct finding *f, uint32_t loop)
{
    f->parts_in_loops[loop] = true;
    f->meets[f->uniform->loops->loops[loop].merge] = true;
}

/* A block that lanes come to which took this way at `from`, or MANY ways. Where some come around
 * without having been where all come together, they come there in different turns. */
static void reach(struct finding *f, uint32_t from, uint32_t block, uint32_t way, uint32_t *count)
{
    const struct pm_loops *loops = f->uniform->loops;
    const uint32_t together = f->postdominators->parent[from];
    if (comes_around(loops, from, block)) {
        if (block != together)
            leave_apart(f, loops->loop_of[block]);
        if (block != together && together < f->cfg->count)
            f->meets[together] = true;
        return;
    }
    if (f->from[block] != from + 1) {
        f->from[block] = from + 1;
        f->way[block] = way;
    } else if (f->way[block] != way && f->way[block] != MANY) {
        f->way[block] = MANY;
    } else {
        return;
    }
    f->pending[(*count)++] = block;
    f->meets[block] = f->meets[block] || f->way[block] == MANY;
    /* Lanes that stay in a loop which others leave may leave it elsewhere in a later turn. */
    for (uint32_t l = loops->loop_of[from]; l != PM_NO_LOOP; l = loops->loops[l].parent)
        if (!pm_loop_is_around(loops, l, loops->loop_of[block]))
            leave_apart(f, l);
}

/* From a divergent branch to where all of its lanes are together again. */
static void follow(struct finding *f, uint32_t from)
{
    const struct pm_graph *g = &f->cfg->flow;
    uint32_t together = f->postdominators->parent[from], count = 0;
    f->branches_apart[from] = f->changed = true;
    for (uint32_t s = g->successor_start[from]; s < g->successor_start[from + 1]; s++)
        reach(f, from, g->successors[s], s, &count);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t block = f->pending[at];
        if (block == together)
            continue;
        f->parted[block] = true;
        for (uint32_t s = g->successor_start[block]; s < g->successor_start[block + 1]; s++)
            reach(f, from, g->successors[s], f->way[block], &count);
    }
}

static bool is_apart(const struct finding *f, const struct pm_ir_block *block)
{
    const struct pm_ir_instr *end = pm_ir_terminator(block);
    return (end->opcode == SpvOpBranchConditional || end->opcode == SpvOpSwitch) &&
           !pm_uniform_in(f->uniform, end->operands[0].def, block);
}

static void find(struct finding *f)
{
    do {
        f->changed = false;
        for (uint32_t i = 0; i < f->cfg->order_count; i++) {
            uint32_t b = f->cfg->order[i];
            visit(f, f->cfg->blocks[b]);
            if (!f->branches_apart[b] && is_apart(f, f->cfg->blocks[b]))
                follow(f, b);
        }
    } while (f->changed);
}

/* In a loop that some leave before others, these come around alone. */
static void part_loops(struct finding *f)
{
    const struct pm_loops *loops = f->uniform->loops;
    for (uint32_t b = 0; b < f->cfg->count; b++)
        for (uint32_t l = loops->loop_of[b]; l != PM_NO_LOOP; l = loops->loops[l].parent)
            f->parted[b] = f->parted[b] || f->parts_in_loops[l];
}

/* A constant of which a part is undefined. */
static bool has_divergent_part(const struct finding *f, const struct pm_ir_instr *constant)
{
    for (uint32_t o = 0; constant->opcode == SpvOpConstantComposite && o < constant->operand_count;
         o++)
        if (f->divergent[constant->operands[o].def->id])
            return true;
    return false;
}

/* What is not in a block. */
static void begin(struct finding *f)
{
    for (const struct pm_ir_instr *i = f->module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next)
        if (i->result && i->opcode == SpvOpVariable)
            f->divergent[i->result->id] = !variable_is_uniform(f, i);
        else if (i->result && (i->opcode == SpvOpUndef || has_divergent_part(f, i)))
            f->divergent[i->result->id] = true;
    if (f->cfg->count <= MOST_BLOCKS)
        return;
    memset(f->parted, true, f->cfg->count * sizeof(bool));
    memset(f->meets, true, f->cfg->count * sizeof(bool));
    memset(f->branches_apart, true, f->cfg->count * sizeof(bool));
    memset(f->parts_in_loops, true, f->uniform->loops->count * sizeof(bool));
}

bool pm_uniform_in(const struct pm_uniform *u, const struct pm_ir_def *def,
                   const struct pm_ir_block *block)
{
    if (def->id >= u->id_count || u->divergent[def->id])
        return false;
    if (!def->instr || !def->instr->block || def->instr->opcode == SpvOpLabel)
        return true;
    uint32_t to = u->loops->loop_of[block->index];
    for (uint32_t l = u->loops->loop_of[def->instr->block->index];
         l != PM_NO_LOOP && !pm_loop_is_around(u->loops, l, to); l = u->loops->loops[l].parent)
        if (u->parts_in_loops[l])
            return false;
    return true;
}

bool pm_uniform_compute(struct pm_uniform *uniform, enum pm_uniform_scope scope,
                        const struct pm_ir_module *module, const struct pm_memory *memory,
                        const struct pm_ir_function *function, struct pm_arena *arena)
{
    struct finding f = {.uniform = uniform,
                        .scope = scope,
                        .module = module,
                        .memory = memory,
                        .cfg = pm_cfg(function),
                        .postdominators = pm_postdominators(function)};
    uint32_t blocks = f.cfg->count;
    *uniform = (struct pm_uniform){.loops = pm_loops(function), .id_count = module->bound};
    f.divergent = pm_arena_zalloc(arena, module->bound, sizeof(bool));
    f.parts_in_loops = pm_arena_zalloc(arena, uniform->loops->count + 1u, sizeof(bool));
    f.parted = pm_arena_zalloc(arena, blocks, sizeof(bool));
    f.branches_apart = pm_arena_zalloc(arena, blocks, sizeof(bool));
    f.meets = pm_arena_zalloc(arena, blocks, sizeof(bool));
    f.from = pm_arena_zalloc(arena, blocks, sizeof(uint32_t));
    f.way = pm_arena_zalloc(arena, blocks, sizeof(uint32_t));
    f.pending = pm_arena_zalloc(arena, blocks, 2 * sizeof(uint32_t));
    if (!f.divergent || !f.parts_in_loops || !f.parted || !f.branches_apart || !f.meets ||
        !f.from || !f.way || !f.pending)
        return false;
    uniform->divergent = f.divergent;
    uniform->parts_in_loops = f.parts_in_loops;
    uniform->parted = f.parted;
    begin(&f);
    find(&f);
    part_loops(&f);
    return true;
}
