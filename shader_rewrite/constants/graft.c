#include "shader_rewrite/constants/graft.h"

#include "shader_rewrite/constants/constant_layout.h"

enum { MOST_ARGS = 64 };

bool pm_graft_init(struct pm_graft *graft, struct pm_ir_module *to, struct pm_ir_module *from,
                   struct pm_ir_instr *entry, struct pm_arena *arena)
{
    *graft = (struct pm_graft){.to = to, .from = from, .entry = entry};
    graft->map = pm_arena_zalloc(arena, from->bound, sizeof(struct pm_ir_def *));
    return graft->map != NULL;
}

/* ---- globals ---- */

static bool same_operand(const struct pm_graft *g, const struct pm_ir_operand *to,
                         const struct pm_ir_operand *from)
{
    if (from->def)
        return to->def && to->def == g->map[from->def->id];
    if (to->def || to->word_count != from->word_count)
        return false;
    if (!from->words)
        return !to->words && to->word == from->word;
    for (uint32_t i = 0; i < from->word_count; i++)
        if (!to->words || to->words[i] != from->words[i])
            return false;
    return true;
}

static bool same_global(const struct pm_graft *g, const struct pm_ir_instr *to,
                        const struct pm_ir_instr *from)
{
    if (!to || to->opcode != from->opcode || to->operand_count != from->operand_count ||
        (from->type.def && to->type.def != g->map[from->type.def->id]))
        return false;
    for (uint32_t o = 0; o < from->operand_count; o++)
        if (!same_operand(g, &to->operands[o], &from->operands[o]))
            return false;
    return true;
}

static struct pm_ir_def *make_builtin(struct pm_graft *g, const struct pm_ir_instr *variable)
{
    const struct pm_ir_instr *pointer = pm_ir_type_of(variable);
    uint32_t builtin;
    if (pm_ir_operand_word(&variable->operands[0]) != SpvStorageClassInput ||
        !pm_constant_decoration(variable->result, SpvDecorationBuiltIn, &builtin))
        return NULL;
    return pm_ir_builtin_input(g->to, g->entry, (SpvBuiltIn)builtin,
                               g->map[pointer->operands[1].def->id]);
}

/* A global that `to` has not under this id: what may be there under another one. */
static struct pm_ir_def *make_global(struct pm_graft *g, const struct pm_ir_instr *from)
{
    struct pm_ir_arg args[MOST_ARGS];
    struct pm_ir_def *type = from->type.def ? g->map[from->type.def->id] : NULL;
    if (from->opcode == SpvOpVariable)
        return make_builtin(g, from);
    if (from->opcode == SpvOpTypeStruct || from->opcode == SpvOpTypeArray ||
        from->opcode == SpvOpTypeRuntimeArray || from->operand_count > MOST_ARGS ||
        (from->type.def && !type))
        return NULL;
    if (from->opcode == SpvOpConstant && from->operands[0].word_count == 2)
        return pm_ir_constant_int64(g->to, type, pm_ir_operand_literal(&from->operands[0]));
    for (uint32_t o = 0; o < from->operand_count; o++) {
        const struct pm_ir_operand *operand = &from->operands[o];
        if (operand->def ? !g->map[operand->def->id] : operand->word_count > 1)
            return NULL;
        args[o] = operand->def ? pm_ir_id(g->map[operand->def->id])
                               : pm_ir_word(pm_ir_operand_word(operand));
    }
    return pm_ir_global(g->to, from->opcode, type, args, from->operand_count);
}

static bool take_global(struct pm_graft *g, const struct pm_ir_instr *from, struct pm_error *error)
{
    if (!from->result)
        return true;
    struct pm_ir_instr *to = pm_ir_find(g->to, from->result->id);
    struct pm_ir_def *def = same_global(g, to, from) ? to->result : NULL;
    if (!def && from->opcode != SpvOpExtInstImport)
        def = make_global(g, from);
    g->map[from->result->id] = def;
    if (g->to->failed)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    return def || pm_fail(error, PM_ERROR_UNSUPPORTED, "what was made has a new %s",
                          pm_ir_opcode_name(from->opcode));
}

bool pm_graft_globals(struct pm_graft *g, struct pm_error *error)
{
    struct pm_ir_list *sections = g->from->sections;
    pm_ir_require_version(g->to, g->from->version);
    for (const struct pm_ir_instr *i = sections[PM_IR_SECTION_CAPABILITY].first; i; i = i->next)
        pm_ir_require_capability(g->to, (SpvCapability)pm_ir_operand_word(&i->operands[0]));
    for (const struct pm_ir_instr *i = sections[PM_IR_SECTION_EXTENSION].first; i; i = i->next)
        pm_ir_require_extension(g->to, pm_ir_operand_text(&i->operands[0]));
    for (const struct pm_ir_instr *i = sections[PM_IR_SECTION_IMPORT].first; i; i = i->next)
        if (!take_global(g, i, error))
            return false;
    for (const struct pm_ir_instr *i = sections[PM_IR_SECTION_GLOBAL].first; i; i = i->next)
        if (!take_global(g, i, error))
            return false;
    return true;
}

/* ---- blocks ---- */

static void copy_instr(struct pm_graft *g, const struct pm_ir_instr *from, struct pm_ir_block *to,
                       struct pm_ir_block *entry)
{
    struct pm_ir_def *type = from->type.def ? g->map[from->type.def->id] : NULL;
    struct pm_ir_instr *copy = pm_ir_instr_like(g->to, from, type);
    if (!copy)
        return;
    if (from->result)
        g->map[from->result->id] = copy->result;
    if (from->opcode == SpvOpVariable)
        pm_ir_insert(&entry->body, entry, entry->body.first, copy);
    else
        pm_ir_insert(&to->body, to, NULL, copy);
}

static void set_operands(struct pm_graft *g, struct pm_ir_instr *copy,
                         const struct pm_ir_instr *from)
{
    for (uint32_t o = 0; o < from->operand_count; o++) {
        if (!from->operands[o].def)
            pm_ir_operand_copy_literal(&copy->operands[o], &from->operands[o]);
        else if (g->map[from->operands[o].def->id])
            pm_ir_operand_set(&copy->operands[o], g->map[from->operands[o].def->id]);
        else
            g->to->failed = g->missing = true;
    }
}

static void fill_block(struct pm_graft *g, const struct pm_ir_block *from)
{
    struct pm_ir_block *to = pm_ir_block_of(g->map[from->label->result->id]);
    struct pm_ir_instr *copy = to->body.first;
    for (const struct pm_ir_instr *i = from->body.first; i && !g->to->failed; i = i->next) {
        if (i->opcode == SpvOpVariable) {
            set_operands(g, g->map[i->result->id]->instr, i);
            continue;
        }
        set_operands(g, copy, i);
        copy = copy->next;
    }
}

/* Of what is in blocks; what is global has them. */
static void copy_decorations(struct pm_graft *g)
{
    for (const struct pm_ir_instr *i = g->from->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next) {
        const struct pm_ir_instr *of = pm_ir_operand_instr(i, 0);
        if (!of || !of->block || !g->map[of->result->id])
            continue;
        struct pm_ir_instr *copy = pm_ir_instr_like(g->to, i, NULL);
        if (!copy)
            return;
        set_operands(g, copy, i);
        pm_ir_insert(&g->to->sections[PM_IR_SECTION_ANNOTATION], NULL, NULL, copy);
    }
}

struct pm_ir_block *pm_graft_blocks(struct pm_graft *g, const struct pm_ir_function *function,
                                    struct pm_ir_block *after, struct pm_ir_block *entry,
                                    struct pm_ir_block **last)
{
    struct pm_ir_block *first = NULL;
    *last = after;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        *last = pm_ir_block_create(g->to, *last);
        if (!*last)
            return NULL;
        first = first ? first : *last;
        g->map[b->label->result->id] = (*last)->label->result;
        for (const struct pm_ir_instr *i = b->body.first; i && !g->to->failed; i = i->next)
            copy_instr(g, i, *last, entry);
    }
    for (const struct pm_ir_block *b = function->first_block; b && !g->to->failed; b = b->next)
        fill_block(g, b);
    copy_decorations(g);
    return g->to->failed ? NULL : first;
}
