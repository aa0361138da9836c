#include "shader_rewrite/ir/ir_module.h"

#include <stdlib.h>
#include <string.h>

void pm_ir_module_destroy(struct pm_ir_module *module)
{
    if (!module)
        return;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        if (f->analyses)
            f->analyses_finish(f->analyses);
    free(module->defs);
    pm_arena_destroy(module->arena);
}

struct pm_ir_instr *pm_ir_find(const struct pm_ir_module *module, uint32_t id)
{
    if (id >= module->defs_capacity || !module->defs[id])
        return NULL;
    return module->defs[id]->instr;
}

static bool defs_reserve(struct pm_ir_module *module, uint32_t id)
{
    if (id < module->defs_capacity)
        return true;
    uint32_t capacity = id + id / 2 + 64;
    struct pm_ir_def **defs = realloc(module->defs, capacity * sizeof(*defs));
    if (!defs)
        return false;
    memset(defs + module->defs_capacity, 0,
           (capacity - module->defs_capacity) * sizeof(struct pm_ir_def *));
    module->defs = defs;
    module->defs_capacity = capacity;
    return true;
}

struct pm_ir_def *pm_ir_def_get(struct pm_ir_module *module, uint32_t id)
{
    if (id < module->defs_capacity && module->defs[id])
        return module->defs[id];
    struct pm_ir_def *def = NULL;
    if (id <= PM_IR_MAX_BOUND && defs_reserve(module, id))
        def = pm_arena_zalloc(module->arena, 1, sizeof(*def));
    if (!def) {
        module->failed = true;
        return NULL;
    }
    def->id = id;
    module->defs[id] = def;
    return def;
}

struct pm_ir_def *pm_ir_def_create(struct pm_ir_module *module)
{
    if (module->bound >= PM_IR_MAX_BOUND) {
        module->failed = true;
        return NULL;
    }
    struct pm_ir_def *def = pm_ir_def_get(module, module->bound);
    if (def)
        module->bound++;
    return def;
}

uint32_t pm_ir_operand_id(const struct pm_ir_operand *operand)
{
    return operand->def ? operand->def->id : 0;
}

uint32_t pm_ir_operand_word(const struct pm_ir_operand *operand)
{
    if (operand->def)
        return operand->def->id;
    return operand->words ? operand->words[0] : operand->word;
}

uint64_t pm_ir_operand_literal(const struct pm_ir_operand *operand)
{
    const uint64_t high = operand->word_count > 1 ? operand->words[1] : 0;
    return pm_ir_operand_word(operand) | high << 32;
}

struct pm_ir_instr *pm_ir_operand_instr(const struct pm_ir_instr *instr, uint32_t index)
{
    if (index >= instr->operand_count || !instr->operands[index].def)
        return NULL;
    return instr->operands[index].def->instr;
}

struct pm_ir_instr *pm_ir_type_of(const struct pm_ir_instr *instr)
{
    return instr->type.def ? instr->type.def->instr : NULL;
}

uint32_t pm_ir_components(const struct pm_ir_instr *type)
{
    return type && type->opcode == SpvOpTypeVector ? pm_ir_operand_word(&type->operands[1]) : 1;
}

const struct pm_ir_instr *pm_ir_component_type(const struct pm_ir_instr *type)
{
    return type && type->opcode == SpvOpTypeVector ? pm_ir_operand_instr(type, 0) : type;
}

static void use_link(struct pm_ir_operand *operand, struct pm_ir_def *def)
{
    if (operand->user && pm_ir_opcode_is(operand->user->opcode, PM_IR_OP_ANNOTATION))
        def->decorated = true;
    operand->def = def;
    operand->word_count = 1;
    operand->prev_use = NULL;
    operand->next_use = def->first_use;
    if (def->first_use)
        def->first_use->prev_use = operand;
    def->first_use = operand;
}

static void use_unlink(struct pm_ir_operand *operand)
{
    if (!operand->def)
        return;
    if (operand->prev_use)
        operand->prev_use->next_use = operand->next_use;
    else
        operand->def->first_use = operand->next_use;
    if (operand->next_use)
        operand->next_use->prev_use = operand->prev_use;
    operand->def = NULL;
}

void pm_ir_operand_set(struct pm_ir_operand *operand, struct pm_ir_def *def)
{
    use_unlink(operand);
    use_link(operand, def);
}

void pm_ir_operand_set_word(struct pm_ir_operand *operand, uint32_t word)
{
    use_unlink(operand);
    operand->words = NULL;
    operand->word = word;
    operand->word_count = 1;
}

void pm_ir_operand_copy_literal(struct pm_ir_operand *operand, const struct pm_ir_operand *from)
{
    use_unlink(operand);
    operand->words = from->words;
    operand->word = from->word;
    operand->word_count = from->word_count;
}

void pm_ir_operand_set_words(struct pm_ir_module *module, struct pm_ir_operand *operand,
                             const uint32_t *words, uint32_t count)
{
    pm_ir_operand_set_word(operand, 0);
    operand->words = pm_arena_dup(module->arena, words, count * sizeof(*words));
    if (!operand->words)
        module->failed = true;
    else
        operand->word_count = count;
}

const char *pm_ir_operand_text(const struct pm_ir_operand *operand)
{
    return (const char *)(operand->words ? operand->words : &operand->word);
}

const struct pm_ir_instr *pm_ir_variable_of(const struct pm_ir_instr *pointer)
{
    while (pointer &&
           (pointer->opcode == SpvOpAccessChain || pointer->opcode == SpvOpInBoundsAccessChain ||
            pointer->opcode == SpvOpCopyObject))
        pointer = pm_ir_operand_instr(pointer, 0);
    return pointer && pointer->opcode == SpvOpVariable ? pointer : NULL;
}

bool pm_ir_imports_glsl(const struct pm_ir_instr *instr)
{
    return instr && instr->opcode == SpvOpExtInstImport &&
           strcmp(pm_ir_operand_text(&instr->operands[0]), "GLSL.std.450") == 0;
}

bool pm_ir_is_glsl(const struct pm_ir_instr *instr)
{
    return pm_ir_imports_glsl(pm_ir_operand_instr(instr, 0));
}

void pm_ir_operand_set_text(struct pm_ir_module *module, struct pm_ir_operand *operand,
                            const char *text)
{
    size_t words = strlen(text) / sizeof(uint32_t) + 1;
    uint32_t *copy = pm_arena_zalloc(module->arena, words, sizeof(*copy));
    pm_ir_operand_set_word(operand, 0);
    if (!copy || words > UINT16_MAX) {
        module->failed = true;
        return;
    }
    memcpy(copy, text, strlen(text));
    operand->words = copy;
    operand->word_count = (uint32_t)words;
}

/* Copies an operand to another place in memory, where it stands in the list of uses instead. */
static void operand_move(struct pm_ir_operand *to, struct pm_ir_operand *from)
{
    struct pm_ir_operand copy = *from;
    use_unlink(from);
    *to = copy;
    if (copy.def)
        use_link(to, copy.def);
}

bool pm_ir_operands_insert(struct pm_ir_module *module, struct pm_ir_instr *instr, uint32_t index,
                           uint32_t count)
{
    struct pm_ir_operand *operands =
        pm_arena_zalloc(module->arena, (size_t)instr->operand_count + count, sizeof(*operands));
    if (!operands) {
        module->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < instr->operand_count; i++)
        operand_move(&operands[i < index ? i : i + count], &instr->operands[i]);
    for (uint32_t i = index; i < index + count; i++) {
        operands[i].user = instr;
        operands[i].word_count = 1;
    }
    instr->operands = operands;
    instr->operand_count += count;
    return true;
}

void pm_ir_operands_remove(struct pm_ir_instr *instr, uint32_t index, uint32_t count)
{
    for (uint32_t i = index; i < index + count; i++)
        use_unlink(&instr->operands[i]);
    for (uint32_t i = index; i + count < instr->operand_count; i++)
        operand_move(&instr->operands[i], &instr->operands[i + count]);
    instr->operand_count -= count;
}

void pm_ir_replace_uses(struct pm_ir_def *def, struct pm_ir_def *with)
{
    if (def == with)
        return;
    while (def->first_use)
        pm_ir_operand_set(def->first_use, with);
}

struct pm_ir_instr *pm_ir_instr_create(struct pm_ir_module *module, uint16_t opcode,
                                       struct pm_ir_def *type, uint32_t operand_count)
{
    struct pm_ir_instr *instr = pm_arena_zalloc(module->arena, 1, sizeof(*instr));
    struct pm_ir_operand *operands =
        pm_arena_zalloc(module->arena, operand_count, sizeof(*operands));
    if (!instr || !operands) {
        module->failed = true;
        return NULL;
    }
    instr->opcode = opcode;
    instr->place = UINT32_MAX;
    instr->operands = operands;
    instr->operand_count = operand_count;
    instr->type.user = instr;
    for (uint32_t i = 0; i < operand_count; i++) {
        operands[i].user = instr;
        operands[i].word_count = 1;
    }
    if (type)
        use_link(&instr->type, type);
    if (pm_ir_opcode_is(opcode, PM_IR_OP_HAS_RESULT)) {
        instr->result = pm_ir_def_create(module);
        if (!instr->result)
            return NULL;
        instr->result->instr = instr;
    }
    module->transposes |= opcode == SpvOpTranspose;
    return instr;
}

struct pm_ir_instr *pm_ir_instr_like(struct pm_ir_module *module, const struct pm_ir_instr *instr,
                                     struct pm_ir_def *type)
{
    struct pm_ir_instr *copy =
        pm_ir_instr_create(module, instr->opcode, type, instr->operand_count);
    if (copy)
        copy->noted = instr->noted;
    return copy;
}

void pm_ir_insert(struct pm_ir_list *list, struct pm_ir_block *block, struct pm_ir_instr *before,
                  struct pm_ir_instr *instr)
{
    instr->list = list;
    instr->block = block;
    instr->next = before;
    instr->prev = before ? before->prev : list->last;
    if (instr->prev)
        instr->prev->next = instr;
    else
        list->first = instr;
    if (before)
        before->prev = instr;
    else
        list->last = instr;
}

void pm_ir_detach(struct pm_ir_instr *instr)
{
    if (!instr->list)
        return;
    if (instr->prev)
        instr->prev->next = instr->next;
    else
        instr->list->first = instr->next;
    if (instr->next)
        instr->next->prev = instr->prev;
    else
        instr->list->last = instr->prev;
    instr->prev = instr->next = NULL;
    instr->list = NULL;
    instr->block = NULL;
}

/* Whether this use goes with what it names: a name or a decoration of it alone. */
static bool use_is_annotation(const struct pm_ir_operand *use)
{
    const struct pm_ir_instr *user = use->user;
    bool target_first = use == &user->operands[0];
    switch (user->opcode) {
    case SpvOpName:
    case SpvOpMemberName:
    case SpvOpDecorate:
    case SpvOpDecorateId:
    case SpvOpDecorateString:
    case SpvOpMemberDecorate:
    case SpvOpMemberDecorateString:
        return target_first;
    default:
        return false;
    }
}

void pm_ir_remove_alone(struct pm_ir_instr *instr)
{
    pm_ir_detach(instr);
    use_unlink(&instr->type);
    for (uint32_t i = 0; i < instr->operand_count; i++)
        use_unlink(&instr->operands[i]);
    instr->operand_count = 0;
    if (instr->result)
        instr->result->instr = NULL;
}

void pm_ir_remove(struct pm_ir_instr *instr)
{
    pm_ir_remove_alone(instr);
    struct pm_ir_operand *next;
    for (struct pm_ir_operand *use = instr->result ? instr->result->first_use : NULL; use;
         use = next) {
        next = use->next_use;
        if (use_is_annotation(use))
            pm_ir_remove(use->user);
    }
}

struct pm_ir_instr *pm_ir_terminator(const struct pm_ir_block *block)
{
    return block->body.last;
}

bool pm_ir_ends_invocation(const struct pm_ir_instr *terminator)
{
    switch (terminator->opcode) {
    case SpvOpReturn:
    case SpvOpKill:
    case SpvOpTerminateInvocation:
    case SpvOpUnreachable:
        return true;
    default:
        return false;
    }
}

struct pm_ir_instr *pm_ir_merge(const struct pm_ir_block *block)
{
    struct pm_ir_instr *instr = block->body.last ? block->body.last->prev : NULL;
    while (instr && (instr->opcode == SpvOpLine || instr->opcode == SpvOpNoLine))
        instr = instr->prev;
    if (instr && (instr->opcode == SpvOpSelectionMerge || instr->opcode == SpvOpLoopMerge))
        return instr;
    return NULL;
}

struct pm_ir_block *pm_ir_block_of(const struct pm_ir_def *label)
{
    if (!label || !label->instr || label->instr->opcode != SpvOpLabel)
        return NULL;
    return label->instr->block;
}

struct pm_ir_function *pm_ir_function_of(const struct pm_ir_module *module, uint32_t id)
{
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        if (f->function->result && f->function->result->id == id)
            return f;
    return NULL;
}
