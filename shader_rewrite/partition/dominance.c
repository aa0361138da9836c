#include "shader_rewrite/partition/dominance.h"

#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/partition/spilled_value.h"

struct mending {
    struct pm_ir_module *module;
    struct pm_ir_function *function;
    const struct pm_dominators *dominators;
    const struct pm_cfg *cfg;
    struct pm_ir_def **variables; /* by id */
    uint32_t bound;
    struct pm_error *error;
    bool added;
};

/* The block at whose end an operand is read, of an OpPhi; else the one in which it is. */
static struct pm_ir_block *read_in(const struct pm_ir_operand *use)
{
    const struct pm_ir_instr *user = use->user;
    return user->opcode == SpvOpPhi ? pm_ir_block_of(use[1].def) : user->block;
}

static bool is_lost(const struct mending *m, const struct pm_ir_def *def,
                    const struct pm_ir_block *in)
{
    const struct pm_ir_block *of = def->instr ? def->instr->block : NULL;
    return of && def->instr->opcode != SpvOpLabel && in && in != of &&
           pm_cfg_reachable(m->cfg, in->index) &&
           !pm_dominates(m->dominators, of->index, in->index);
}

/* The variable that a value is kept in. */
static struct pm_ir_def *variable_of(struct mending *m, struct pm_ir_def *def)
{
    if (m->variables[def->id])
        return m->variables[def->id];
    struct pm_ir_block *entry = m->function->first_block, *block = def->instr->block;
    struct pm_ir_def *type =
        pm_ir_type_pointer(m->module, SpvStorageClassFunction, def->instr->type.def);
    struct pm_ir_instr *variable = pm_ir_instr_with(
        m->module, SpvOpVariable, type, PM_IR_ARGS(pm_ir_word(SpvStorageClassFunction)));
    if (!variable)
        return NULL;
    pm_ir_insert(&entry->body, entry, entry->body.first, variable);
    struct pm_ir_builder b = {.module = m->module,
                              .block = block,
                              .before = def->instr->opcode == SpvOpPhi ? pm_ir_block_start(block)
                                                                       : def->instr->next};
    pm_ir_build_instr(&b, SpvOpStore, NULL, PM_IR_ARGS(pm_ir_id(variable->result), pm_ir_id(def)));
    m->added = true;
    return m->variables[def->id] = variable->result;
}

/* What stands for a value where it is lost, before an instruction. */
static struct pm_ir_def *value_at(struct mending *m, struct pm_ir_def *def,
                                  struct pm_ir_block *block, struct pm_ir_instr *before)
{
    struct pm_ir_builder b = {.module = m->module, .block = block, .before = before};
    struct pm_ir_arg args[16];
    const struct pm_ir_instr *instr = def->instr;
    if (!is_lost(m, def, block))
        return def;
    if (!pm_is_handle(pm_ir_type_of(instr)))
        return pm_ir_build(&b, SpvOpLoad, instr->type.def,
                           PM_IR_ARGS(pm_ir_id(variable_of(m, def))));
    if (instr->opcode == SpvOpPhi || instr->operand_count > sizeof(args) / sizeof(args[0])) {
        pm_fail(m->error, PM_ERROR_UNSUPPORTED, "%s beside what returns early",
                pm_ir_opcode_name(instr->opcode));
        m->module->failed = true;
        return NULL;
    }
    for (uint32_t o = 0; o < instr->operand_count; o++)
        args[o] = instr->operands[o].def
                      ? pm_ir_id(value_at(m, instr->operands[o].def, block, before))
                      : pm_ir_word(pm_ir_operand_word(&instr->operands[o]));
    struct pm_ir_def *again =
        pm_ir_build(&b, instr->opcode, instr->type.def, args, instr->operand_count);
    if (again)
        pm_ir_copy_decorations(m->module, def, again, false);
    return again;
}

static void mend(struct mending *m, struct pm_ir_instr *user)
{
    const uint32_t step = user->opcode == SpvOpPhi ? 2 : 1;
    for (uint32_t o = 0; o < user->operand_count && !m->module->failed; o += step) {
        struct pm_ir_def *def = user->operands[o].def;
        struct pm_ir_block *in = def ? read_in(&user->operands[o]) : NULL;
        if (!def || def->id >= m->bound || !is_lost(m, def, in))
            continue;
        struct pm_ir_def *value =
            value_at(m, def, in, user->opcode == SpvOpPhi ? pm_ir_block_end(in) : user);
        if (value)
            pm_ir_operand_set(&user->operands[o], value);
    }
}

bool pm_dominance_mend(struct pm_ir_function *function, bool *added, struct pm_error *error)
{
    struct pm_ir_module *module = function->module;
    struct mending m = {
        .module = module, .function = function, .error = error, .bound = module->bound};
    if (!pm_analysis_require(function, PM_ANALYSIS_DOMINATORS, error))
        return false;
    m.dominators = pm_dominators(function);
    m.cfg = pm_cfg(function);
    m.variables = pm_arena_zalloc(module->arena, m.bound + (size_t)1, sizeof(struct pm_ir_def *));
    if (!m.variables)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (error)
        error->code = PM_OK;
    for (struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first, *next; i && !module->failed; i = next) {
            next = i->next;
            mend(&m, i);
        }
    *added = m.added;
    if (!module->failed)
        return true;
    return error && error->code == PM_ERROR_UNSUPPORTED
               ? false
               : pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

bool pm_dominance_order(struct pm_ir_function *function, struct pm_error *error)
{
    if (!pm_analysis_require(function, PM_ANALYSIS_DOMINATORS, error))
        return false;
    const struct pm_dominators *dominators = pm_dominators(function);
    const struct pm_cfg *cfg = pm_cfg(function);
    bool *passed =
        pm_arena_zalloc(function->module->arena, cfg->count + (size_t)1, sizeof(*passed));
    if (!passed)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (struct pm_ir_block *b = function->first_block, *next; b; b = next) {
        const uint32_t parent = dominators->parent[b->index];
        next = b->next;
        if (parent == PM_NO_BLOCK || passed[parent])
            passed[b->index] = true;
        else
            pm_ir_block_move(b, cfg->blocks[parent]); /* and comes by again */
    }
    return true;
}
