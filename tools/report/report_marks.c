#include "tools/report/report_marks.h"
#include "shader_rewrite/ir/ir_builder.h"
#include <stdio.h>

struct marking {
    struct pm_ir_module *module;
    bool *has_name;              /* by id */
    struct pm_ir_def **variable; /* by id of a type: that keeps its values; NULL: none */
    struct pm_ir_def *file;
};

/* A type of numbers. */
static bool is_plain(uint16_t opcode)
{
    return opcode == SpvOpTypeBool || opcode == SpvOpTypeInt || opcode == SpvOpTypeFloat ||
           opcode == SpvOpTypeVector || opcode == SpvOpTypeMatrix;
}

static bool is_kept(const struct marking *m, const struct pm_ir_instr *value)
{
    return value->type.def && value->result && m->has_name[value->result->id] &&
           is_plain(pm_ir_type_of(value)->opcode) && value->opcode != SpvOpPhi &&
           value->opcode != SpvOpCompositeExtract && value->opcode != SpvOpUndef;
}

static void put(struct pm_ir_list *list, struct pm_ir_block *block, struct pm_ir_instr *before,
                struct pm_ir_instr *instr)
{
    if (instr)
        pm_ir_insert(list, block, before, instr);
}

static void read_names(struct marking *m)
{
    for (const struct pm_ir_instr *i = m->module->sections[PM_IR_SECTION_NAME].first; i;
         i = i->next)
        if (i->opcode == SpvOpName)
            m->has_name[pm_ir_operand_id(&i->operands[0])] = *pm_ir_operand_text(&i->operands[1]);
}

static void put_file(struct marking *m)
{
    struct pm_ir_list *sources = &m->module->sections[PM_IR_SECTION_SOURCE];
    struct pm_ir_instr *file =
        pm_ir_instr_with(m->module, SpvOpString, NULL, PM_IR_ARGS(pm_ir_word('b')));
    put(sources, NULL, sources->first, file);
    m->file = file ? file->result : NULL;
}

/* The variable that keeps values of a type; made when there is none. */
static struct pm_ir_def *variable_of(struct marking *m, struct pm_ir_def *type)
{
    struct pm_ir_list *names = &m->module->sections[PM_IR_SECTION_NAME];
    if (m->variable[type->id])
        return m->variable[type->id];
    struct pm_ir_def *pointer =
        pm_ir_global_new(m->module, SpvOpTypePointer, NULL,
                         PM_IR_ARGS(pm_ir_word(SpvStorageClassPrivate), pm_ir_id(type)));
    struct pm_ir_def *variable = pm_ir_global_new(m->module, SpvOpVariable, pointer,
                                                  PM_IR_ARGS(pm_ir_word(SpvStorageClassPrivate)));
    struct pm_ir_instr *name =
        pm_ir_instr_with(m->module, SpvOpName, NULL, PM_IR_ARGS(pm_ir_id(variable), pm_ir_word(0)));
    if (name) {
        char text[32];
        snprintf(text, sizeof(text), PM_REPORT_KEPT "%u", type->id);
        pm_ir_operand_set_text(m->module, &name->operands[1], text);
    }
    put(names, NULL, names->first, name);
    return m->variable[type->id] = variable;
}

/* What may stand between two instructions that belong together: OpPhi and OpVariable come first in
 * a block, and nothing comes between a merge instruction and the branch behind it. */
static bool may_mark(const struct pm_ir_instr *instr, uint16_t before)
{
    return instr->opcode != SpvOpPhi && instr->opcode != SpvOpVariable &&
           before != SpvOpSelectionMerge && before != SpvOpLoopMerge;
}

static void mark_block(struct marking *m, struct pm_ir_block *block)
{
    uint16_t before = SpvOpLabel;
    for (struct pm_ir_instr *i = block->body.first, *next; i; before = i->opcode, i = next) {
        next = i->next;
        if (may_mark(i, before))
            put(&block->body, block, i,
                pm_ir_instr_with(
                    m->module, SpvOpLine, NULL,
                    PM_IR_ARGS(pm_ir_id(m->file), pm_ir_word(i->place), pm_ir_word(0))));
        if (is_kept(m, i))
            put(&block->body, block, next,
                pm_ir_instr_with(
                    m->module, SpvOpStore, NULL,
                    PM_IR_ARGS(pm_ir_id(variable_of(m, i->type.def)), pm_ir_id(i->result))));
    }
}

bool pm_report_mark(struct pm_ir_module *module, struct pm_words *marked, struct pm_error *error)
{
    struct marking m = {
        .module = module,
        .has_name = pm_arena_zalloc(module->arena, module->bound, sizeof(*m.has_name)),
        .variable = pm_arena_zalloc(module->arena, module->bound, sizeof(struct pm_ir_def *)),
    };
    if (!m.has_name || !m.variable)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    read_names(&m);
    put_file(&m);
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            mark_block(&m, b);
    return pm_ir_emit(module, marked, error);
}
