#include "shader_rewrite/quirks/driver_bugs.h"

/* Values looked at of each that leaves a loop, which may be made of what the loop reads: also such
 * as come before the region, so only so many. */
enum { MOST_STEPS = 64 };

/* What stands in S for a value, its copy under its own name; NULL: a constant. */
static struct pm_ir_def *stands_in_copy(const struct pm_copied_region *r, struct pm_ir_def *def)
{
    for (;;) {
        struct pm_copied_value value = r->value(r->user, def);
        if (r->writes_constant(r->user, def))
            return value.needed ? def : NULL;
        if (value.needed || !value.same)
            return def;
        def = value.same;
    }
}

/* Whether an OpPhi behind the region, or one of S, would have an operand that must not be one
 * (levels_of_detail.h). */
static bool joins_level(const struct pm_copied_region *r, const struct pm_ir_instr *instr)
{
    struct pm_ir_def *def = instr->result;
    if (!def)
        return false;
    if (r->value(r->user, def).leaves) {
        const struct pm_ir_def *copy = stands_in_copy(r, def);
        if (pm_detail_levels_has(r->levels, def) || (copy && pm_detail_levels_has(r->levels, copy)))
            return true;
    }
    for (uint32_t o = 0; instr->opcode == SpvOpPhi && o < instr->operand_count; o++) {
        struct pm_ir_def *operand = instr->operands[o].def;
        const struct pm_ir_def *copy = stands_in_copy(r, operand);
        if (copy && copy != operand && pm_detail_levels_has(r->levels, copy))
            return true;
    }
    return false;
}

/* ---- what is loaded in loops ---- */

/* How a value that S uses behind a loop is made, and what is left of MOST_STEPS to find out. */
struct making {
    const struct pm_copied_region *region;
    uint32_t loop;
    uint32_t steps;
};

static bool is_in_loop(const struct pm_copied_region *r, uint32_t loop,
                       const struct pm_ir_block *block)
{
    const struct pm_loops *loops = pm_loops(r->function);
    return pm_loop_is_around(loops, loop, loops->loop_of[block->index]);
}

/* Whether the original makes one value of another without an OpPhi in between. */
static bool is_made_of(struct making *m, const struct pm_ir_def *def, const struct pm_ir_def *of)
{
    if (def == of)
        return true;
    if (!def->instr->block || def->instr->opcode == SpvOpPhi || !m->steps)
        return false;
    m->steps--;
    for (uint32_t o = 0; o < def->instr->operand_count; o++)
        if (def->instr->operands[o].def && is_made_of(m, def->instr->operands[o].def, of))
            return true;
    return false;
}

/* Whether S reads a value from memory in the loop, or makes it of such, where the original has an
 * OpPhi in between; it had one already if `past`. Out of steps it may. */
static bool reads_past_phi(struct making *m, struct pm_ir_def *def, bool past)
{
    struct pm_ir_def *stands = stands_in_copy(m->region, def);
    const struct pm_ir_instr *instr = stands ? stands->instr : NULL;
    if (!instr || !instr->block || instr->opcode == SpvOpPhi ||
        !is_in_loop(m->region, m->loop, instr->block))
        return false;
    past = past || !is_made_of(m, def, stands);
    struct pm_memory_access access = pm_memory_access_of(m->region->memory, instr);
    if (access.reads || access.stops)
        return past;
    if (!m->steps)
        return true;
    m->steps--;
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def && reads_past_phi(m, instr->operands[o].def, past))
            return true;
    return false;
}

static bool is_used_behind(const struct making *m, const struct pm_ir_def *def)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        struct pm_copied_value of = {0};
        if (user->result)
            of = m->region->value(m->region->user, user->result);
        if (user->block && !(of.inside && !of.needed) &&
            !is_in_loop(m->region, m->loop, user->block))
            return true;
    }
    return false;
}

/* Whether a value of the loop, which S may have, decides one that comes behind it. */
static bool decides_behind(const struct making *m, struct pm_ir_def *def)
{
    struct pm_copied_value value = m->region->value(m->region->user, def);
    return (value.needed || value.same) && is_in_loop(m->region, m->loop, def->instr->block) &&
           pm_leaving_values_has(m->region->leaving, pm_loops(m->region->function), def, m->loop);
}

static bool is_around_check(const struct pm_copied_region *r, uint32_t loop)
{
    const struct pm_loops *loops = pm_loops(r->function);
    return pm_loop_is_around(loops, loop, loops->loop_of[r->check_block]);
}

/* Whether what S reads from memory in a loop, or makes of that, would be used behind it, or decide
 * what is, where the original has an OpPhi in between. Right, but SwiftShader and lavapipe 22.3
 * then have another value for lanes that left the loop before the others (seen:
 * zero_regions/leaving.comp, leaving_made.comp, leaving_read.comp). How long helper invocations
 * stay in a loop of the region decides there what the original makes of such a value, and they take
 * S with the others: then there need be no OpPhi (seen: leaving_helpers.frag). */
static bool leaves_loop(const struct pm_copied_region *r, struct pm_ir_def *def, bool folds)
{
    const struct pm_loops *loops = pm_loops(r->function);
    const struct pm_ir_def *stands = def ? stands_in_copy(r, def) : NULL;
    if (!stands || !stands->instr->block)
        return false;
    uint32_t loop = loops->loop_of[stands->instr->block->index];
    for (; loop != PM_NO_LOOP; loop = loops->loops[loop].parent) {
        struct making m = {r, loop, MOST_STEPS};
        const bool alone =
            r->skips_helpers && !is_around_check(r, loop) && r->value(r->user, stands).inside;
        if ((alone || folds) && (is_used_behind(&m, def) || decides_behind(&m, def)) &&
            reads_past_phi(&m, def, alone))
            return true;
    }
    return false;
}

/* Whether S has another value in an OpPhi's place; else none is missing from what it makes. */
static bool folds_phi(const struct pm_copied_region *r)
{
    for (uint32_t p = 0; p < r->part_count; p++) {
        struct pm_copied_part part = r->part(r->user, p);
        for (uint32_t i = 0; i < part.count; i++) {
            if (part.instrs[i]->opcode != SpvOpPhi)
                continue;
            struct pm_ir_def *phi = part.instrs[i]->result;
            const struct pm_ir_def *stands = stands_in_copy(r, phi);
            if (stands && stands != phi)
                return true;
        }
    }
    return false;
}

/* Whether what a check in a loop chooses decides a value that is used behind it. Right, but
 * lavapipe 22.3 chooses again for lanes that left the loop, by what the check finds of the others
 * (seen: zero_regions/leaving_made.comp, leaving_branch.comp, leaving_phi.comp), and so does
 * SwiftShader where the check is of what the loop reads (leaving_chosen.comp). */
static bool chooses_behind(const struct pm_copied_region *r, struct pm_ir_def *def, uint32_t loop)
{
    return def && r->value(r->user, def).leaves &&
           pm_leaving_values_has(r->leaving, pm_loops(r->function), def, loop);
}

/* What the region is to be asked about. */
struct asked {
    uint32_t loop; /* around the check, if it may not choose again behind it; PM_NO_LOOP */
    bool reads;    /* of a loop may not choose what leaves it */
    bool levels;   /* no level of detail may be joined */
    bool loads;    /* what a loop loads may not leave it */
    bool folds;    /* of `loads`: in an OpPhi's place, of a loop around the check too */
    bool joined;   /* what a loop loads may not be joined behind the region */
};

/* Whether a value of the loop is made there of what the loop reads from memory; through OpPhis if
 * `phis`. Out of steps it may. */
static bool is_read_in_loop(struct making *m, const struct pm_ir_def *def, bool phis)
{
    const struct pm_ir_instr *instr = def->instr;
    if (!instr->block || !is_in_loop(m->region, m->loop, instr->block) ||
        (instr->opcode == SpvOpPhi && !phis))
        return false;
    struct pm_memory_access access = pm_memory_access_of(m->region->memory, instr);
    if (access.reads || access.stops || !m->steps)
        return true;
    m->steps--;
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def && instr->operands[o].def->instr &&
            is_read_in_loop(m, instr->operands[o].def, phis))
            return true;
    return false;
}

/* Whether an OpPhi behind the region would have as an operand what a loop of the region makes of
 * what it reads, with no OpPhi in between. Right, but for lanes that left the loop before others
 * lavapipe 22.3 has another value where no OpPhi takes it: what the original computes wrongly would
 * be right, where the check fails, too (seen: leaving_joined.comp). */
static bool joins_read(const struct pm_copied_region *r, const struct pm_ir_def *def)
{
    if (!def || !r->value(r->user, def).leaves)
        return false;
    const struct pm_loops *loops = pm_loops(r->function);
    uint32_t loop = loops->loop_of[def->instr->block->index];
    for (; loop != PM_NO_LOOP && !is_around_check(r, loop); loop = loops->loops[loop].parent) {
        struct making m = {r, loop, MOST_STEPS};
        if (is_read_in_loop(&m, def, false))
            return true;
    }
    return false;
}

static bool is_condition(const struct pm_ir_def *def)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use)
        if (use->user->opcode == SpvOpBranchConditional)
            return true;
    return false;
}

/* Whether the region holds a loop in which a branch chooses, by what the loop reads, a value that
 * leaves it: behind the region that is an OpPhi's operand. Right, but lavapipe 22.3 then has what
 * an earlier turn chose (seen: leaving_read.comp). */
static bool chooses_by_reading(const struct pm_copied_region *r, const struct pm_ir_instr *instr)
{
    const struct pm_loops *loops = pm_loops(r->function);
    const struct pm_ir_def *def = instr->result;
    if (!def || !is_condition(def))
        return false;
    uint32_t loop = loops->loop_of[instr->block->index];
    for (; loop != PM_NO_LOOP && !is_around_check(r, loop); loop = loops->loops[loop].parent) {
        struct making m = {r, loop, MOST_STEPS};
        if (pm_leaving_values_has(r->leaving, loops, def, loop) && is_read_in_loop(&m, def, true))
            return true;
    }
    return false;
}

static const char *bug_of(const struct pm_copied_region *r, const struct pm_ir_instr *instr,
                          const struct asked *asked)
{
    const uint32_t loop = asked->loop;
    if (loop != PM_NO_LOOP && chooses_behind(r, instr->result, loop))
        return "what is chosen in a loop would decide a value that leaves it without a phi";
    if (asked->reads && chooses_by_reading(r, instr))
        return "what a loop reads chooses a value that would leave it into a phi";
    if (asked->levels && joins_level(r, instr))
        return "a push constant that is a texture's level of detail would be joined";
    if (asked->loads && leaves_loop(r, instr->result, asked->folds))
        return "a value that a loop reads would leave it without a phi";
    if (asked->joined && joins_read(r, instr->result))
        return "a value that a loop reads would leave it into a phi";
    return NULL;
}

const char *pm_driver_bug(const struct pm_copied_region *r, uint32_t quirks)
{
    const struct asked asked = {
        .loop = quirks & PM_QUIRK_CHOOSES_AGAIN ? pm_loops(r->function)->loop_of[r->check_block]
                                                : PM_NO_LOOP,
        .reads = (quirks & PM_QUIRK_CHOOSES_AGAIN) && pm_loops(r->function)->count > 0,
        .levels = (quirks & PM_QUIRK_JOINED_LEVELS) && r->levels->asked,
        .loads = (quirks & PM_QUIRK_LOADS_AGAIN) && pm_loops(r->function)->count > 0,
        .folds = (quirks & PM_QUIRK_LOADS_AGAIN) && folds_phi(r),
        .joined = (quirks & PM_QUIRK_JOINED_LOADS) && pm_loops(r->function)->count > 0,
    };
    if (asked.loop == PM_NO_LOOP && !asked.reads && !asked.levels && !asked.loads && !asked.joined)
        return NULL;
    for (uint32_t p = 0; p < r->part_count; p++) {
        struct pm_copied_part part = r->part(r->user, p);
        for (uint32_t i = 0; i < part.count; i++) {
            const char *bug = bug_of(r, part.instrs[i], &asked);
            if (bug)
                return bug;
        }
    }
    return NULL;
}
