#include "shader_rewrite/zero_drivers.h"

/* Values looked at, of one that may be read in a loop. */
enum { MOST_STEPS = 64 };

/* What stands in S for a value, its copy under its own name; NULL: a constant. */
static struct pm_ir_def *stands_in_copy(struct pm_zero_work *w, struct pm_zero_region *region,
                                        struct pm_ir_def *def)
{
    for (;;) {
        const struct pm_zero_state *state = pm_zero_state_of(w, region, def);
        if (pm_zero_is_written(w, region, def))
            return state && state->needed ? def : NULL;
        if (!state || state->needed || !state->value.same)
            return def;
        def = state->value.same;
    }
}

/* Whether an OpPhi behind the region, or one of S, would have an operand that must not be one
 * (zero_levels.h). */
static bool joins_level(struct pm_zero_work *w, struct pm_zero_region *region,
                        const struct pm_ir_instr *instr)
{
    struct pm_ir_def *def = instr->result;
    if (!def)
        return false;
    const struct pm_zero_state *state = pm_zero_state_of(w, region, def);
    if (state && state->leaves) {
        const struct pm_ir_def *copy = stands_in_copy(w, region, def);
        if (pm_zero_levels_has(&w->levels, def) || (copy && pm_zero_levels_has(&w->levels, copy)))
            return true;
    }
    for (uint32_t o = 0; instr->opcode == SpvOpPhi && o < instr->operand_count; o++) {
        struct pm_ir_def *operand = instr->operands[o].def;
        const struct pm_ir_def *copy = stands_in_copy(w, region, operand);
        if (copy && copy != operand && pm_zero_levels_has(&w->levels, copy))
            return true;
    }
    return false;
}

/* ---- what is loaded in loops ---- */

static bool is_in_loop(const struct pm_zero_work *w, uint32_t loop, const struct pm_ir_block *block)
{
    const struct pm_loops *loops = pm_loops(w->function);
    uint32_t in = loops->loop_of[block->index];
    while (in != loop && in != PM_NO_LOOP)
        in = loops->loops[in].parent;
    return in == loop;
}

/* Whether a value of a loop is read from memory there, or made of such; *steps are left to find
 * out. */
static bool is_read_in_loop(struct pm_zero_work *w, uint32_t loop, const struct pm_ir_def *def,
                            uint32_t *steps)
{
    const struct pm_ir_instr *instr = def->instr;
    if (!instr->block || instr->opcode == SpvOpPhi || !is_in_loop(w, loop, instr->block))
        return false;
    struct pm_zero_access access = pm_zero_access_of(&w->memory, instr);
    if (access.reads || access.stops || !*steps)
        return true;
    --*steps;
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def && is_read_in_loop(w, loop, instr->operands[o].def, steps))
            return true;
    return false;
}

/* Whether S would use, behind a loop, what it reads from memory in it, where the original has an
 * OpPhi in between. Right, but SwiftShader then has another value for lanes that left the loop
 * before the others (seen: zero_regions/leaving.comp). */
static bool leaves_loop(struct pm_zero_work *w, struct pm_zero_region *region,
                        struct pm_ir_def *def)
{
    const struct pm_zero_state *state = def ? pm_zero_state_of(w, region, def) : NULL;
    struct pm_ir_def *stands = state && !state->needed ? stands_in_copy(w, region, def) : NULL;
    if (!stands || stands == def || !stands->instr->block)
        return false;
    uint32_t loop = pm_loops(w->function)->loop_of[stands->instr->block->index];
    uint32_t steps = MOST_STEPS;
    if (loop == PM_NO_LOOP || !is_read_in_loop(w, loop, stands, &steps))
        return false;
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        const struct pm_zero_state *of =
            user->result ? pm_zero_state_of(w, region, user->result) : NULL;
        if (user->block && !(of && !of->needed) && !is_in_loop(w, loop, user->block))
            return true;
    }
    return false;
}

const char *pm_zero_driver_bug(struct pm_zero_work *w, struct pm_zero_region *region)
{
    for (uint32_t p = 0; p < region->count; p++)
        for (uint32_t i = 0; i < region->parts[p].count; i++) {
            const struct pm_ir_instr *instr = region->parts[p].instrs[i];
            if (w->levels.asked && joins_level(w, region, instr))
                return "a push constant that is a texture's level of detail would be joined";
            if (leaves_loop(w, region, instr->result))
                return "a value that a loop reads would leave it without a phi";
        }
    return NULL;
}
