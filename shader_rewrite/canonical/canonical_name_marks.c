/* Marks values before the optimizer runs. canonical_names.h. */
#include "shader_rewrite/canonical/canonical_names.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/ir/ir_walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct marking {
    struct pm_ir_module *module;
    struct pm_value_names *names;
    const char **name; /* by id: its last OpName's text */
    bool failed;
};

/* A value's mark is the number of its line; 0: none. Only what is made by an instruction in a block
 * and is none of these can have one. */
static bool can_have_line(const struct pm_ir_instr *value)
{
    switch (value->opcode) {
    case SpvOpVariable:
    case SpvOpAccessChain:
    case SpvOpPhi:
    case SpvOpUndef:
        return false;
    default:
        return value->block && value->type.def;
    }
}

static const char *name_of(const struct marking *m, const struct pm_ir_instr *instr)
{
    const char *name = m->name[instr->result->id];
    return name ? name : "";
}

/* Up to the parenthesis of a function's mangled name. */
static void give(struct marking *m, struct pm_ir_instr *value, const char *name, const char *member)
{
    char *text = NULL;
    /* glslang's copies of a call's arguments are called "param". */
    if (!can_have_line(value) || value->mark || m->name[value->result->id] || !*name ||
        strcmp(name, "param") == 0)
        return;
    m->failed = m->failed || asprintf(&text, "%.*s%s%s", (int)strcspn(name, "("), name,
                                      *member ? "_" : "", member) < 0;
    if (m->failed)
        return;
    m->names->texts[++m->names->count] = text;
    value->mark = m->names->count;
}

/* "" where it has none. */
static const char *member_name(const struct marking *m, const struct pm_ir_instr *structure,
                               uint32_t member)
{
    for (const struct pm_ir_instr *i = m->module->sections[PM_IR_SECTION_NAME].first; i;
         i = i->next)
        if (i->opcode == SpvOpMemberName && pm_ir_operand_instr(i, 0) == structure &&
            pm_ir_operand_word(&i->operands[1]) == member)
            return pm_ir_operand_text(&i->operands[2]);
    return "";
}

/* Of a function or an invocation, or a parameter. */
static bool is_variable(const struct pm_ir_instr *instr)
{
    if (instr->opcode == SpvOpFunctionParameter)
        return pm_ir_type_of(instr)->opcode == SpvOpTypePointer;
    return instr->opcode == SpvOpVariable &&
           (pm_ir_operand_word(&instr->operands[0]) == SpvStorageClassFunction ||
            pm_ir_operand_word(&instr->operands[0]) == SpvStorageClassPrivate);
}

static void store(struct marking *m, const struct pm_ir_instr *to, struct pm_ir_instr *value)
{
    if (is_variable(to))
        give(m, value, name_of(m, to), "");
    if (to->opcode != SpvOpAccessChain || to->operand_count != 2) /* one index */
        return;
    const struct pm_ir_instr *base = pm_ir_operand_instr(to, 0);
    const struct pm_ir_instr *index = pm_ir_operand_instr(to, 1);
    if (!is_variable(base))
        return;
    const struct pm_ir_instr *structure = pm_ir_operand_instr(pm_ir_type_of(base), 1);
    const uint32_t member =
        index->opcode == SpvOpConstant ? pm_ir_operand_word(&index->operands[0]) : 0;
    give(m, value, name_of(m, base), member_name(m, structure, member));
}

static void give_all(struct marking *m)
{
    for (struct pm_ir_walk walk = pm_ir_walk_begin(m->module); pm_ir_walk_next(&walk);)
        walk.instr->mark = 0;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(m->module); pm_ir_walk_next(&walk);) {
        const struct pm_ir_instr *i = walk.instr;
        if (i->opcode == SpvOpName)
            m->name[i->operands[0].def->id] = pm_ir_operand_text(&i->operands[1]);
        else if (i->opcode == SpvOpStore)
            store(m, pm_ir_operand_instr(i, 0), pm_ir_operand_instr(i, 1));
        else if (i->opcode == SpvOpReturnValue)
            give(m, pm_ir_operand_instr(i, 0), name_of(m, walk.function->function), "");
    }
}

static void put_line(struct pm_ir_module *module, struct pm_ir_instr *value, struct pm_ir_def *file)
{
    struct pm_ir_instr *line =
        pm_ir_instr_with(module, SpvOpLine, NULL,
                         PM_IR_ARGS(pm_ir_id(file), pm_ir_word(value->mark), pm_ir_word(0)));
    struct pm_ir_instr *end = pm_ir_instr_with(module, SpvOpNoLine, NULL, NULL, 0);
    if (!line || !end)
        return;
    pm_ir_insert(&value->block->body, value->block, value, line);
    pm_ir_insert(&value->block->body, value->block, value->next, end);
}

static void put_lines(struct pm_ir_module *module)
{
    struct pm_ir_list *sources = &module->sections[PM_IR_SECTION_SOURCE];
    struct pm_ir_instr *file =
        pm_ir_instr_with(module, SpvOpString, NULL, PM_IR_ARGS(pm_ir_word('n')));
    if (!file)
        return;
    pm_ir_insert(sources, NULL, sources->first, file);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        if (walk.instr->mark)
            put_line(module, walk.instr, file->result);
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct marking m = {
        .module = module,
        .names = context,
        .name = pm_arena_zalloc(module->arena, module->bound, sizeof(*m.name)),
    };
    m.names->texts = calloc(module->bound + 1u, sizeof(*m.names->texts));
    m.failed = !m.name || !m.names->texts;
    if (!m.failed)
        give_all(&m);
    if (m.failed)
        return pm_pass_result_of(pm_fail(error, PM_ERROR_MEMORY, "out of memory for names"), false);
    put_lines(module);
    return pm_pass_result_of(true, true);
}

const struct pm_pass pm_pass_mark_names = {"mark names", 0, PM_ANALYSIS_ALL, run};
