#include "shader_rewrite/analysis/analysis_known.h"

#include "shader_rewrite/analysis/analysis_exact.h"

struct marking {
    const struct pm_ir_function *function;
    const struct pm_loops *loops;
    uint32_t loop;
};

static bool is_float(const struct pm_ir_instr *type)
{
    while (type && (type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix ||
                    type->opcode == SpvOpTypeArray))
        type = pm_ir_operand_instr(type, 0);
    return type && type->opcode == SpvOpTypeFloat;
}

static bool is_chain(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpAccessChain || instr->opcode == SpvOpInBoundsAccessChain;
}

struct pm_ir_instr *pm_known_variable(const struct pm_ir_instr *pointer)
{
    while (pointer && is_chain(pointer))
        pointer = pm_ir_operand_instr(pointer, 0);
    if (!pointer || pointer->opcode != SpvOpVariable)
        return NULL;
    const uint32_t storage = pm_ir_operand_word(&pointer->operands[0]);
    return storage == SpvStorageClassFunction || storage == SpvStorageClassPrivate
               ? pointer->result->instr
               : NULL;
}

/* Whether it is a value that follows from its operands; a place in a variable is one. */
static bool computes(const struct pm_ir_instr *instr)
{
    if (instr->opcode == SpvOpLoad)
        return pm_known_variable(pm_ir_operand_instr(instr, 0)) != NULL;
    return instr->opcode == SpvOpPhi || pm_exact_computes(instr) ||
           (is_chain(instr) && pm_known_variable(instr));
}

enum pm_known pm_known_of(const struct pm_ir_instr *instr)
{
    return pm_ir_opcode_is(instr->opcode, PM_IR_OP_CONSTANT) ? PM_KNOWN_CONSTANT
                                                             : (enum pm_known)instr->mark;
}

/* How many of its operands are constants and known otherwise, and what all of them are at least. */
struct operands {
    uint32_t constant, known;
    enum pm_known least;
};

static struct operands look_at_operands(const struct pm_ir_instr *instr)
{
    struct operands found = {.least = PM_KNOWN_CONSTANT};
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, o);
        if (!operand || operand->opcode == SpvOpLabel || operand->opcode == SpvOpExtInstImport)
            continue;
        const enum pm_known known = pm_known_of(operand);
        found.constant += known == PM_KNOWN_CONSTANT;
        found.known += known == PM_KNOWN_IN_PART || known == PM_KNOWN_ALWAYS;
        found.least = known < found.least ? known : found.least;
    }
    return found;
}

static bool is_inside(const struct marking *m, const struct pm_ir_block *block)
{
    return m->loop == PM_NO_LOOP ||
           pm_loop_is_around(m->loops, m->loop, m->loops->loop_of[block->index]);
}

/* ---- variables ---- */

static void forget(struct pm_ir_instr *variable, bool *changed)
{
    *changed = *changed || (variable && variable->mark != PM_KNOWN_NOT);
    if (variable)
        variable->mark = PM_KNOWN_NOT;
}

/* A variable in which something else may be is not known; nor is one that is passed on. */
static bool forget_stored(const struct pm_ir_instr *instr)
{
    bool changed = false;
    if (instr->opcode == SpvOpStore) {
        if (pm_known_of(pm_ir_operand_instr(instr, 1)) < PM_KNOWN_ALWAYS)
            forget(pm_known_variable(pm_ir_operand_instr(instr, 0)), &changed);
    } else if (instr->opcode != SpvOpLoad && !is_chain(instr)) {
        for (uint32_t o = 0; o < instr->operand_count; o++)
            forget(pm_known_variable(pm_ir_operand_instr(instr, o)), &changed);
    }
    return changed;
}

/* One in which something is that is known is so in part: it was stored, or is there at first. */
static bool mark_stored(const struct pm_ir_instr *instr)
{
    const bool is_one = instr->opcode == SpvOpVariable && instr->operand_count > 1;
    struct pm_ir_instr *variable = is_one ? pm_known_variable(instr)
                                   : instr->opcode == SpvOpStore
                                       ? pm_known_variable(pm_ir_operand_instr(instr, 0))
                                       : NULL;
    if (!variable || variable->mark != PM_KNOWN_NOT ||
        pm_known_of(pm_ir_operand_instr(instr, 1)) == PM_KNOWN_NOT)
        return false;
    variable->mark = PM_KNOWN_IN_PART;
    return true;
}

/* ---- always ---- */

static void begin(const struct marking *m)
{
    struct pm_ir_list *globals = &m->function->module->sections[PM_IR_SECTION_GLOBAL];
    for (struct pm_ir_instr *i = globals->first; i; i = i->next)
        i->mark = pm_known_variable(i) ? PM_KNOWN_ALWAYS : PM_KNOWN_NOT;
    for (struct pm_ir_block *b = m->function->first_block; b; b = b->next) {
        b->label->mark = PM_KNOWN_NOT;
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
            i->mark = pm_known_variable(i) == i || (is_inside(m, b) && computes(i))
                          ? PM_KNOWN_ALWAYS
                          : PM_KNOWN_NOT;
    }
}

/* Takes back what does not follow from what is always known; whether there was something. */
static bool take_back(const struct marking *m)
{
    bool changed = false;
    for (const struct pm_ir_block *b = m->function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            changed |= forget_stored(i);
            if (i->mark == PM_KNOWN_ALWAYS && i->opcode != SpvOpVariable &&
                look_at_operands(i).least < PM_KNOWN_ALWAYS) {
                i->mark = PM_KNOWN_NOT;
                changed = true;
            }
        }
    return changed;
}

/* ---- in part ---- */

static bool is_known(const struct pm_ir_instr *instr)
{
    return instr && pm_known_of(instr) != PM_KNOWN_NOT;
}

/* Whether it may be known in one turn which of its operands this is: an OpPhi of a header by who
 * comes there, others by what they choose by. */
static bool chooses(const struct marking *m, const struct pm_ir_instr *instr)
{
    if (instr->opcode == SpvOpSelect)
        return is_known(pm_ir_operand_instr(instr, 0));
    if (instr->opcode != SpvOpPhi)
        return false;
    const struct pm_ir_instr *merge = pm_ir_merge(instr->block);
    if (merge && merge->opcode == SpvOpLoopMerge)
        return true;
    const uint32_t from = pm_structure(m->function)->dominators->parent[instr->block->index];
    const struct pm_ir_instr *end =
        from == PM_NO_BLOCK ? NULL : pm_ir_terminator(pm_cfg(m->function)->blocks[from]);
    return end && (end->opcode == SpvOpBranchConditional || end->opcode == SpvOpSwitch) &&
           is_known(pm_ir_operand_instr(end, 0));
}

/* Of a loop a vector that has a constant is nothing new. */
static bool has_known_part(const struct marking *m, const struct pm_ir_instr *instr,
                           const struct operands *found)
{
    return pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_COMPOSITE) && instr->operand_count > 1 &&
           instr->opcode != SpvOpCompositeExtract && instr->opcode != SpvOpVectorExtractDynamic &&
           (found->known > 0 || (m->loop == PM_NO_LOOP && found->constant > 0));
}

static bool follows_in_part(const struct marking *m, const struct pm_ir_instr *instr)
{
    const struct operands found = look_at_operands(instr);
    const uint32_t condition = instr->opcode == SpvOpSelect;
    return found.least != PM_KNOWN_NOT || has_known_part(m, instr, &found) ||
           (chooses(m, instr) && found.known + found.constant > condition);
}

/* Marks what follows from what is marked; whether there was something. */
static bool mark_more(const struct marking *m)
{
    bool changed = false;
    struct pm_ir_list *globals = &m->function->module->sections[PM_IR_SECTION_GLOBAL];
    for (const struct pm_ir_instr *i = globals->first; i; i = i->next)
        changed |= mark_stored(i);
    for (const struct pm_ir_block *b = m->function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            changed |= mark_stored(i);
            if (is_inside(m, b) && i->mark == PM_KNOWN_NOT && computes(i) &&
                follows_in_part(m, i)) {
                i->mark = PM_KNOWN_IN_PART;
                changed = true;
            }
        }
    return changed;
}

void pm_known_mark(const struct pm_ir_function *function, uint32_t loop)
{
    const struct marking m = {function, pm_loops(function), loop};
    begin(&m);
    while (take_back(&m))
        ;
    while (mark_more(&m))
        ;
}

/* ---- behind a loop ---- */

/* Whether it is known in each of its turns whether it is the last. */
static bool is_left_as_known(const struct marking *m)
{
    const struct pm_cfg *cfg = pm_cfg(m->function);
    for (uint32_t b = 0; b < cfg->count; b++) {
        const struct pm_ir_instr *end = pm_ir_terminator(cfg->blocks[b]);
        const bool decides = end->opcode == SpvOpBranchConditional || end->opcode == SpvOpSwitch;
        if (!is_inside(m, cfg->blocks[b]) ||
            (decides && pm_known_of(pm_ir_operand_instr(end, 0)) >= PM_KNOWN_ALWAYS))
            continue;
        const uint32_t last = cfg->flow.successor_start[b + 1];
        for (uint32_t s = cfg->flow.successor_start[b]; s < last; s++)
            if (!is_inside(m, cfg->blocks[cfg->flow.successors[s]]))
                return false;
    }
    return true;
}

static bool mark_more_behind(const struct marking *m)
{
    bool changed = false;
    for (const struct pm_ir_block *b = m->function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            if (is_inside(m, b) || i->mark != PM_KNOWN_NOT || !computes(i))
                continue;
            const struct operands found = look_at_operands(i);
            if (found.known == 0 || (found.least == PM_KNOWN_NOT && !has_known_part(m, i, &found)))
                continue;
            i->mark = PM_KNOWN_IN_PART;
            changed = true;
        }
    return changed;
}

bool pm_known_mark_behind(const struct pm_ir_function *function, uint32_t loop)
{
    const struct marking m = {function, pm_loops(function), loop};
    if (!is_left_as_known(&m))
        return false;
    for (struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->mark == PM_KNOWN_IN_PART || i->opcode == SpvOpVariable)
                i->mark = PM_KNOWN_NOT;
    while (mark_more_behind(&m))
        ;
    return true;
}

/* ---- what of it ---- */

bool pm_known_is_inexact(const struct pm_ir_instr *instr)
{
    if (!computes(instr) || instr->opcode == SpvOpLoad || !is_float(pm_ir_type_of(instr)))
        return false;
    return instr->mark != PM_KNOWN_NOT
               ? !pm_exact_is(instr->opcode)
               : !pm_exact_in_part(instr) && look_at_operands(instr).known > 0;
}
