#include "shader_rewrite/analysis/analysis_turns.h"

#include "shader_rewrite/analysis/analysis_exact.h"
#include "shader_rewrite/analysis/analysis_known.h"
#include <string.h>

/* ---- turns ---- */

static bool is_signed(const struct pm_ir_instr *constant)
{
    return pm_ir_operand_word(&pm_ir_type_of(constant)->operands[1]);
}

/* The value of a 32-bit integer constant, as its type has it. */
static bool constant_of(const struct pm_ir_def *def, int64_t *value)
{
    const struct pm_ir_instr *instr = def ? def->instr : NULL;
    const struct pm_ir_instr *type = instr ? pm_ir_type_of(instr) : NULL;
    if (!instr || instr->opcode != SpvOpConstant || type->opcode != SpvOpTypeInt ||
        pm_ir_operand_word(&type->operands[0]) != 32)
        return false;
    const uint32_t word = pm_ir_operand_word(&instr->operands[0]);
    *value = is_signed(instr) ? (int64_t)(int32_t)word : (int64_t)word;
    return true;
}

static bool compare(uint16_t opcode, int64_t a, int64_t b)
{
    switch (opcode) {
    case SpvOpSLessThan:
    case SpvOpULessThan:
        return a < b;
    case SpvOpSLessThanEqual:
    case SpvOpULessThanEqual:
        return a <= b;
    case SpvOpSGreaterThan:
    case SpvOpUGreaterThan:
        return a > b;
    case SpvOpSGreaterThanEqual:
    case SpvOpUGreaterThanEqual:
        return a >= b;
    case SpvOpINotEqual:
        return a != b;
    default:
        return false;
    }
}

static bool is_comparison(uint16_t opcode)
{
    return compare(opcode, 0, 1) || compare(opcode, 1, 0);
}

/* The numbers a loop counts by. */
struct counting {
    int64_t from, step, to;
    bool signs; /* whether the first is of a signed type, and with it what counts */
};

/* Whether a comparison with the constant takes both sides for what their types say. */
static bool compares_so(uint16_t opcode, const struct pm_ir_instr *to, bool signs)
{
    switch (opcode) {
    case SpvOpSLessThan:
    case SpvOpSLessThanEqual:
    case SpvOpSGreaterThan:
    case SpvOpSGreaterThanEqual:
        return signs && is_signed(to);
    case SpvOpINotEqual:
        return signs == is_signed(to);
    default:
        return !signs && !is_signed(to);
    }
}

static bool is_in_range(int64_t i, bool signs)
{
    return signs ? i >= INT32_MIN && i <= INT32_MAX : i >= 0 && i <= UINT32_MAX;
}

static bool find_step(const struct pm_ir_instr *phi, const struct pm_ir_instr *next,
                      struct counting *counting)
{
    if (!next || (next->opcode != SpvOpIAdd && next->opcode != SpvOpISub) ||
        next->operands[0].def != phi->result ||
        !constant_of(next->operands[1].def, &counting->step))
        return false;
    if (next->opcode == SpvOpISub)
        counting->step = -counting->step;
    return counting->step != 0;
}

/* Of a phi of the header: where it begins, from outside, and what it becomes each turn. */
static bool find_counting(const struct pm_ir_function *function, uint32_t loop,
                          const struct pm_ir_instr *phi, struct counting *counting)
{
    const struct pm_loops *loops = pm_loops(function);
    if (phi->operand_count != 4)
        return false;
    bool begins = false, goes_on = false;
    for (uint32_t o = 0; o < 4; o += 2) {
        const struct pm_ir_block *from = pm_ir_block_of(phi->operands[o + 1].def);
        const bool inside = from && pm_loop_is_around(loops, loop, loops->loop_of[from->index]);
        if (inside)
            goes_on = find_step(phi, pm_ir_operand_instr(phi, o), counting);
        else
            begins = constant_of(phi->operands[o].def, &counting->from);
        if (!inside && begins)
            counting->signs = is_signed(pm_ir_operand_instr(phi, o));
    }
    return begins && goes_on;
}

/* The condition under which the header, or the one block behind it, goes on with the loop. NULL:
 * that is not how it ends. */
static const struct pm_ir_instr *condition_of(const struct pm_ir_function *function, uint32_t loop)
{
    const struct pm_loop *l = &pm_loops(function)->loops[loop];
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_ir_block *block = cfg->blocks[l->header];
    const struct pm_ir_instr *end = pm_ir_terminator(block);
    if (end->opcode == SpvOpBranch) {
        block = pm_ir_block_of(end->operands[0].def);
        end = pm_ir_terminator(block);
    }
    if (end->opcode != SpvOpBranchConditional)
        return NULL;
    const struct pm_ir_block *no = pm_ir_block_of(end->operands[2].def);
    return no == cfg->blocks[l->merge] ? pm_ir_operand_instr(end, 0) : NULL;
}

static bool is_left_once(const struct pm_ir_function *function, uint32_t loop)
{
    const struct pm_graph *flow = &pm_cfg(function)->flow;
    const uint32_t merge = pm_loops(function)->loops[loop].merge;
    return flow->predecessor_start[merge + 1] - flow->predecessor_start[merge] == 1;
}

uint32_t pm_loop_turns(const struct pm_ir_function *function, uint32_t loop)
{
    struct counting counting = {0};
    const struct pm_ir_instr *condition = condition_of(function, loop);
    if (!condition || !is_comparison(condition->opcode) || !is_left_once(function, loop) ||
        !constant_of(condition->operands[1].def, &counting.to))
        return 0;
    const struct pm_ir_instr *phi = pm_ir_operand_instr(condition, 0);
    const uint32_t header = pm_loops(function)->loops[loop].header;
    if (!phi || phi->opcode != SpvOpPhi || phi->block->index != header ||
        !find_counting(function, loop, phi, &counting) ||
        !compares_so(condition->opcode, pm_ir_operand_instr(condition, 1), counting.signs))
        return 0;
    uint32_t turns = 0;
    for (int64_t i = counting.from; compare(condition->opcode, i, counting.to);
         i += counting.step, turns++)
        if (turns == PM_MOST_TURNS || !is_in_range(i + counting.step, counting.signs))
            return 0;
    return turns;
}

static bool is_inside(const struct pm_loops *loops, uint32_t loop, const struct pm_ir_block *block)
{
    return pm_loop_is_around(loops, loop, loops->loop_of[block->index]);
}

/* How many ways lead out of it, ends of the lane among them; and the last block that has one. */
static uint32_t count_exits(const struct pm_ir_function *function, uint32_t loop,
                            const struct pm_ir_block **exit)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_loops *loops = pm_loops(function);
    uint32_t exits = 0;
    for (uint32_t b = 0; b < cfg->count; b++) {
        const uint32_t first = cfg->flow.successor_start[b], end = cfg->flow.successor_start[b + 1];
        if (!is_inside(loops, loop, cfg->blocks[b]))
            continue;
        uint32_t here = first == end;
        for (uint32_t s = first; s < end; s++)
            here += !is_inside(loops, loop, cfg->blocks[cfg->flow.successors[s]]);
        *exit = here > 0 ? cfg->blocks[b] : *exit;
        exits += here;
    }
    return exits;
}

uint32_t pm_loop_ways_out(const struct pm_ir_function *function, uint32_t loop)
{
    const struct pm_ir_block *exit = NULL;
    return count_exits(function, loop, &exit);
}

uint32_t pm_loop_turns_always(const struct pm_ir_function *function, uint32_t loop)
{
    const struct pm_ir_block *exit = NULL;
    const uint32_t exits = count_exits(function, loop, &exit);
    const uint32_t back = exits == 1 ? pm_loop_turns(function, loop) : 0;
    return back > 0 && exit == pm_loop_latch(function, loop) ? back + 1 : back;
}

/* ---- the last test ---- */

static bool is_used_behind(const struct pm_loops *loops, uint32_t loop,
                           const struct pm_ir_instr *instr)
{
    const struct pm_ir_def *def = instr->result;
    for (const struct pm_ir_operand *use = def ? def->first_use : NULL; use; use = use->next_use)
        if (use->user->block && !is_inside(loops, loop, use->user->block))
            return true;
    return false;
}

static bool has_effect(const struct pm_memory *memory, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpSelectionMerge:
    case SpvOpLoopMerge:
    case SpvOpBranch:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
        return false;
    default:
        break;
    }
    const struct pm_memory_access access = pm_memory_access_of(memory, instr);
    return access.writes || access.stops;
}

bool pm_loop_needs_last_test(const struct pm_ir_function *function, const struct pm_memory *memory,
                             uint32_t loop)
{
    const struct pm_loops *loops = pm_loops(function);
    const struct pm_graph *flow = &pm_cfg(function)->flow;
    const struct pm_loop *l = &loops->loops[loop];
    if (!is_left_once(function, loop))
        return false;
    const uint32_t test = flow->predecessors[flow->predecessor_start[l->merge]];
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        if (!is_inside(loops, loop, b))
            continue;
        const bool behind =
            b->index != test && pm_dominates(pm_dominators(function), test, b->index);
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            const bool carried = i->opcode == SpvOpPhi && b->index == l->header;
            if ((!behind && has_effect(memory, i)) || (!carried && is_used_behind(loops, loop, i)))
                return true;
        }
    }
    return false;
}

uint32_t pm_loop_size(const struct pm_ir_function *function, uint32_t loop)
{
    const struct pm_loops *loops = pm_loops(function);
    uint32_t size = 0;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        if (pm_loop_is_around(loops, loop, loops->loop_of[b->index]))
            for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
                size++;
    return size;
}

void pm_loop_sizes(const struct pm_ir_function *function, uint32_t *sizes)
{
    const struct pm_loops *loops = pm_loops(function);
    memset(sizes, 0, loops->count * sizeof *sizes);
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        uint32_t size = 0;
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            size++;
        for (uint32_t l = loops->loop_of[b->index]; l != PM_NO_LOOP; l = loops->loops[l].parent)
            sizes[l] += size;
    }
}

const struct pm_ir_block *pm_loop_latch(const struct pm_ir_function *function, uint32_t loop)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_loops *loops = pm_loops(function);
    const uint32_t header = loops->loops[loop].header;
    const uint32_t *start = cfg->flow.predecessor_start;
    for (uint32_t p = start[header]; p < start[header + 1]; p++) {
        const uint32_t from = cfg->flow.predecessors[p];
        if (loops->loop_of[from] != PM_NO_LOOP &&
            pm_loop_is_around(loops, loop, loops->loop_of[from]))
            return cfg->blocks[from];
    }
    return NULL;
}

/* ---- risk ---- */

static bool has_inexact(const struct pm_ir_function *function, uint32_t loop, bool inside)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        if (is_inside(pm_loops(function), loop, b) != inside)
            continue;
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (pm_known_is_inexact(i))
                return true;
    }
    return false;
}

bool pm_loop_is_risky(const struct pm_ir_function *function, uint32_t loop)
{
    pm_known_mark(function, loop);
    return has_inexact(function, loop, true) ||
           (pm_known_mark_behind(function, loop) && has_inexact(function, loop, false));
}

static bool is_float_arithmetic(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = pm_ir_type_of(instr);
    if (type && type->opcode == SpvOpTypeVector)
        type = pm_ir_operand_instr(type, 0);
    return type && type->opcode == SpvOpTypeFloat &&
           pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_ARITHMETIC);
}

bool pm_loop_needs_exactness(const struct pm_ir_function *function, uint32_t loop)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        if (!is_inside(pm_loops(function), loop, b))
            continue;
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (is_float_arithmetic(i) && pm_exact_is_asked(i->result))
                return true;
    }
    return false;
}
