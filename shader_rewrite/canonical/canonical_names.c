/* Names what was marked. canonical_names.h. */
#include "shader_rewrite/canonical/canonical_names.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/ir/ir_walk.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void pm_value_names_finish(struct pm_value_names *names)
{
    for (uint32_t i = 1; i <= names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    *names = (struct pm_value_names){0};
}

/* What is known of an id. */
struct name {
    const char *given;                 /* by its OpName; NULL: none, or an empty one */
    uint32_t line;                     /* the text it gets; 0 none */
    const struct pm_ir_instr *whole;   /* the vector with a name that it is an element of */
    uint32_t element;                  /* and its number */
    const struct pm_ir_instr *of_type; /* the structure that a block variable is named after */
};

struct naming {
    struct pm_ir_module *module;
    const struct pm_value_names *names;
    struct name *of; /* by id */
    bool changed;
};

static struct name *of(const struct naming *n, const struct pm_ir_instr *instr)
{
    return &n->of[instr->result->id];
}

static void read_variable(struct naming *n, const struct pm_ir_instr *variable)
{
    const uint32_t storage = pm_ir_operand_word(&variable->operands[0]);
    const struct pm_ir_instr *pointee = pm_ir_operand_instr(pm_ir_type_of(variable), 1);
    const bool block = storage == SpvStorageClassUniform ||
                       storage == SpvStorageClassStorageBuffer ||
                       storage == SpvStorageClassPushConstant;
    if (block && !of(n, variable)->given && of(n, pointee)->given)
        of(n, variable)->of_type = pointee;
}

static void read_globals(struct naming *n)
{
    for (const struct pm_ir_instr *i = n->module->sections[PM_IR_SECTION_NAME].first; i;
         i = i->next) {
        const char *text = i->opcode == SpvOpName ? pm_ir_operand_text(&i->operands[1]) : NULL;
        if (text)
            n->of[i->operands[0].def->id].given = *text ? text : NULL;
    }
    for (const struct pm_ir_instr *i = n->module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next)
        if (i->opcode == SpvOpVariable)
            read_variable(n, i);
}

/* A line is one value's. */
static void read_lines(struct naming *n)
{
    uint32_t line = 0;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(n->module); pm_ir_walk_next(&walk);) {
        const struct pm_ir_instr *i = walk.instr;
        if (i->opcode == SpvOpLine) {
            line = walk.function ? pm_ir_operand_word(&i->operands[1]) : 0;
            continue;
        }
        if (line && line <= n->names->count && i->type.def && i->result && !of(n, i)->given)
            of(n, i)->line = line;
        line = 0;
    }
}

/* A phi is what its values are, where those with a name have the same. */
static void name_phi(struct naming *n, const struct pm_ir_instr *phi)
{
    uint32_t line = 0;
    if (of(n, phi)->line || of(n, phi)->given)
        return;
    for (uint32_t i = 0; i < phi->operand_count; i += 2) {
        const uint32_t value = of(n, pm_ir_operand_instr(phi, i))->line;
        if (value && line && strcmp(n->names->texts[value], n->names->texts[line]) != 0)
            return;
        line = value ? value : line;
    }
    of(n, phi)->line = line;
    n->changed = n->changed || line;
}

/* low.x is low_x where it is a value by itself. */
static void name_element(struct naming *n, const struct pm_ir_instr *extract)
{
    if (extract->operand_count != 2 || of(n, extract)->line || of(n, extract)->given)
        return;
    const struct pm_ir_instr *whole = pm_ir_operand_instr(extract, 0);
    const uint32_t element = pm_ir_operand_word(&extract->operands[1]);
    if (!of(n, whole)->line || pm_ir_type_of(whole)->opcode != SpvOpTypeVector || element > 3)
        return;
    of(n, extract)->whole = whole;
    of(n, extract)->element = element;
}

static void find_names(struct naming *n)
{
    read_globals(n);
    read_lines(n);
    for (n->changed = true; n->changed;) {
        n->changed = false;
        for (struct pm_ir_walk walk = pm_ir_walk_begin(n->module); pm_ir_walk_next(&walk);)
            if (walk.instr->opcode == SpvOpPhi)
                name_phi(n, walk.instr);
    }
    for (struct pm_ir_walk walk = pm_ir_walk_begin(n->module); pm_ir_walk_next(&walk);)
        if (walk.instr->opcode == SpvOpCompositeExtract)
            name_element(n, walk.instr);
}

/* NULL: out of memory. */
static char *text_of(const struct naming *n, const struct name *name)
{
    static const char *const elements[] = {"_x", "_y", "_z", "_w"};
    struct pm_arena *arena = n->module->arena;
    if (name->line)
        return n->names->texts[name->line];
    if (name->whole)
        return pm_arena_printf(arena, "%s%s", n->names->texts[of(n, name->whole)->line],
                               elements[name->element]);
    char *text = pm_arena_strdup(arena, of(n, name->of_type)->given);
    if (text)
        *text = (char)tolower((unsigned char)*text);
    return text;
}

static void put_name(const struct naming *n, struct pm_ir_def *id, struct pm_ir_instr *before)
{
    const char *text = text_of(n, &n->of[id->id]);
    struct pm_ir_instr *name =
        pm_ir_instr_with(n->module, SpvOpName, NULL, PM_IR_ARGS(pm_ir_id(id), pm_ir_word(0)));
    if (!text || !name) {
        n->module->failed = true;
        return;
    }
    pm_ir_operand_set_text(n->module, &name->operands[1], text);
    pm_ir_insert(&n->module->sections[PM_IR_SECTION_NAME], NULL, before, name);
}

/* An empty name of what gets one is dropped too. */
static bool is_dropped(const struct naming *n, const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpLine || instr->opcode == SpvOpNoLine ||
           instr->opcode == SpvOpString ||
           (instr->opcode == SpvOpName && n->of[instr->operands[0].def->id].of_type);
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct naming n = {
        .module = module,
        .names = context,
        .of = pm_arena_zalloc(module->arena, module->bound, sizeof(*n.of)),
    };
    if (!n.of)
        return pm_pass_result_of(pm_fail(error, PM_ERROR_MEMORY, "out of memory for names"), false);
    find_names(&n);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        if (is_dropped(&n, walk.instr))
            pm_ir_remove(walk.instr);
    struct pm_ir_instr *first = module->sections[PM_IR_SECTION_NAME].first;
    for (uint32_t id = 1; id < module->bound; id++)
        if (n.of[id].line || n.of[id].whole || n.of[id].of_type)
            put_name(&n, pm_ir_def_get(module, id), first);
    return pm_pass_result_of(true, true);
}

const struct pm_pass pm_pass_put_names = {"put names", 0, PM_ANALYSIS_ALL, run};
