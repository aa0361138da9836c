#include "shader_rewrite/ir/ir_module.h"

#include "shader_rewrite/ir/spirv_tools.h"
#include <string.h>

struct parser {
    struct pm_ir_module *module;
    struct pm_error *error;
    enum pm_ir_section section;      /* the section reached */
    struct pm_ir_function *function; /* that is open; NULL: between functions */
    struct pm_ir_block *block;       /* that is open */
    struct pm_ir_list loose;         /* lines before what they belong to is known */
    uint32_t place;                  /* index of the word being read */
};

static spv_result_t refuse(struct parser *p, const char *what, const char *name)
{
    pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V word %u: %s %s", p->place, name, what);
    return SPV_ERROR_INVALID_BINARY;
}

static spv_result_t out_of_memory(struct parser *p)
{
    pm_fail(p->error, PM_ERROR_MEMORY, "SPIR-V word %u: out of memory", p->place);
    return SPV_ERROR_OUT_OF_MEMORY;
}

static spv_result_t read_header(void *user, spv_endianness_t endian, uint32_t magic,
                                uint32_t version, uint32_t generator, uint32_t bound,
                                uint32_t schema)
{
    struct parser *p = user;
    struct pm_ir_module *module = p->module;
    uint32_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    (void)magic;
    module->swapped = (endian == SPV_ENDIANNESS_LITTLE) != (first == 1);
    module->version = version;
    module->generator = generator;
    module->bound = bound;
    module->schema = schema;
    p->place = 5;
    if (bound > PM_IR_MAX_BOUND) {
        pm_fail(p->error, PM_ERROR_LIMIT, "SPIR-V word 3: id bound %u is above %u", bound,
                PM_IR_MAX_BOUND);
        return SPV_ERROR_INVALID_BINARY;
    }
    return SPV_SUCCESS;
}

static bool is_id(spv_operand_type_t type)
{
    return type == SPV_OPERAND_TYPE_ID || type == SPV_OPERAND_TYPE_TYPE_ID ||
           type == SPV_OPERAND_TYPE_RESULT_ID || type == SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID ||
           type == SPV_OPERAND_TYPE_SCOPE_ID;
}

/* Makes the instruction with its operands; result and type are told apart from the operands by
 * their kind. */
static spv_result_t make(struct parser *p, const spv_parsed_instruction_t *parsed,
                         struct pm_ir_instr **out)
{
    struct pm_ir_module *module = p->module;
    struct pm_ir_instr *instr = pm_arena_zalloc(module->arena, 1, sizeof(*instr));
    struct pm_ir_operand *operands =
        pm_arena_zalloc(module->arena, parsed->num_operands, sizeof(*operands));
    if (!instr || !operands)
        return out_of_memory(p);
    instr->opcode = parsed->opcode;
    module->transposes |= parsed->opcode == SpvOpTranspose;
    instr->place = p->place;
    instr->operands = operands;
    instr->type.user = instr;
    for (uint16_t i = 0; i < parsed->num_operands; i++) {
        const spv_parsed_operand_t *from = &parsed->operands[i];
        const uint32_t *words = parsed->words + from->offset;
        struct pm_ir_def *def = NULL;
        if (is_id(from->type)) {
            if (words[0] == 0 || words[0] >= module->bound)
                return refuse(p, "names an id that is not below the bound",
                              pm_ir_opcode_name(parsed->opcode));
            def = pm_ir_def_get(module, words[0]);
            if (!def)
                return out_of_memory(p);
        }
        if (from->type == SPV_OPERAND_TYPE_RESULT_ID) {
            instr->result = def;
            def->instr = instr;
            continue;
        }
        if (from->type == SPV_OPERAND_TYPE_TYPE_ID) {
            pm_ir_operand_set(&instr->type, def);
            continue;
        }
        struct pm_ir_operand *to = &operands[instr->operand_count++];
        to->user = instr;
        to->word_count = from->num_words;
        if (def) {
            pm_ir_operand_set(to, def);
        } else if (from->num_words == 1) {
            to->word = words[0];
        } else {
            to->words = pm_arena_dup(module->arena, words, from->num_words * sizeof(uint32_t));
            if (!to->words)
                return out_of_memory(p);
        }
    }
    *out = instr;
    return SPV_SUCCESS;
}

static void take_loose(struct parser *p, struct pm_ir_list *list)
{
    *list = p->loose;
    for (struct pm_ir_instr *i = list->first; i; i = i->next)
        i->list = list;
    p->loose = (struct pm_ir_list){0};
}

static spv_result_t begin_function(struct parser *p, struct pm_ir_instr *instr)
{
    struct pm_ir_module *module = p->module;
    if (p->function)
        return refuse(p, "inside a function", "OpFunction");
    struct pm_ir_function *f = pm_arena_zalloc(module->arena, 1, sizeof(*f));
    if (!f)
        return out_of_memory(p);
    p->section = PM_IR_SECTIONS;
    f->module = module;
    f->function = instr;
    f->prev = module->last_function;
    if (f->prev)
        f->prev->next = f;
    else
        module->first_function = f;
    module->last_function = f;
    take_loose(p, &f->leading);
    p->function = f;
    return SPV_SUCCESS;
}

static spv_result_t begin_block(struct parser *p, struct pm_ir_instr *instr)
{
    if (!p->function || p->block)
        return refuse(p, p->block ? "before the block above it ended" : "outside a function",
                      "OpLabel");
    struct pm_ir_block *block = pm_arena_zalloc(p->module->arena, 1, sizeof(*block));
    if (!block)
        return out_of_memory(p);
    block->function = p->function;
    block->label = instr;
    instr->block = block;
    block->prev = p->function->last_block;
    if (block->prev)
        block->prev->next = block;
    else
        p->function->first_block = block;
    p->function->last_block = block;
    take_loose(p, &block->leading);
    p->block = block;
    return SPV_SUCCESS;
}

static spv_result_t end_function(struct parser *p, struct pm_ir_instr *instr)
{
    if (!p->function || p->block)
        return refuse(p, p->block ? "before its last block ended" : "outside a function",
                      "OpFunctionEnd");
    p->function->end = instr;
    take_loose(p, &p->function->trailing);
    p->function = NULL;
    return SPV_SUCCESS;
}

static bool may_be_loose(uint16_t opcode)
{
    return opcode == SpvOpLine || opcode == SpvOpNoLine || opcode == SpvOpExtInst;
}

/* Puts an instruction that opens or closes nothing where it belongs. */
static spv_result_t place_instr(struct parser *p, struct pm_ir_instr *instr)
{
    const struct pm_ir_opcode *opcode = pm_ir_opcode_find(instr->opcode);
    if (p->block) {
        pm_ir_insert(&p->block->body, p->block, NULL, instr);
        if (opcode->flags & PM_IR_OP_TERMINATOR)
            p->block = NULL;
        return SPV_SUCCESS;
    }
    if (p->function && instr->opcode == SpvOpFunctionParameter) {
        if (p->function->first_block)
            return refuse(p, "after the function's first block", opcode->name);
        struct pm_ir_list *list = &p->function->parameters;
        for (struct pm_ir_instr *i = p->loose.first, *next; i; i = next) {
            next = i->next;
            pm_ir_detach(i);
            pm_ir_insert(list, NULL, NULL, i);
        }
        pm_ir_insert(list, NULL, NULL, instr);
        return SPV_SUCCESS;
    }
    if (p->section == PM_IR_SECTIONS) {
        if (!may_be_loose(instr->opcode))
            return refuse(p, p->function ? "outside a block" : "after the first function",
                          opcode->name);
        pm_ir_insert(&p->loose, NULL, NULL, instr);
        return SPV_SUCCESS;
    }
    enum pm_ir_section section = opcode->section;
    if (section == PM_IR_SECTION_NONE)
        section = p->section < PM_IR_SECTION_GLOBAL && !may_be_loose(instr->opcode)
                      ? PM_IR_SECTION_GLOBAL
                      : p->section;
    if (section < p->section)
        return refuse(p, "is out of the layout's order", opcode->name);
    p->section = section;
    pm_ir_insert(&p->module->sections[section], NULL, NULL, instr);
    return SPV_SUCCESS;
}

static spv_result_t read_instruction(void *user, const spv_parsed_instruction_t *parsed)
{
    struct parser *p = user;
    struct pm_ir_instr *instr = NULL;
    spv_result_t result = make(p, parsed, &instr);
    if (result != SPV_SUCCESS)
        return result;
    switch (parsed->opcode) {
    case SpvOpFunction:
        result = begin_function(p, instr);
        break;
    case SpvOpLabel:
        result = begin_block(p, instr);
        break;
    case SpvOpFunctionEnd:
        result = end_function(p, instr);
        break;
    default:
        result = place_instr(p, instr);
        break;
    }
    p->place += parsed->num_words;
    return result;
}

/* Every label that a block's end or an OpPhi names is of the same function: the analyses rely on
 * it. */
static bool labels_are_local(struct parser *p, const struct pm_ir_function *function,
                             const struct pm_ir_instr *instr)
{
    uint32_t first = 0, step = 1, last = instr->operand_count;
    switch (instr->opcode) {
    case SpvOpBranch:
    case SpvOpSelectionMerge:
        last = 1;
        break;
    case SpvOpLoopMerge:
        last = 2;
        break;
    case SpvOpBranchConditional:
        first = 1;
        last = 3;
        break;
    case SpvOpSwitch: /* selector, default, then literal and label in turn */
        first = 1;
        step = 2;
        break;
    case SpvOpPhi:
        first = 1;
        step = 2;
        break;
    default:
        return true;
    }
    bool whole = last <= instr->operand_count &&
                 (instr->opcode != SpvOpPhi || instr->operand_count % 2 == 0);
    for (uint32_t i = first; whole && i < last; i += step) {
        const struct pm_ir_block *block = pm_ir_block_of(instr->operands[i].def);
        whole = block && block->function == function;
    }
    if (!whole)
        pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V word %u: %s names no block of its function",
                instr->place, pm_ir_opcode_name(instr->opcode));
    return whole;
}

/* Everything is made of what is above it, but for OpPhi, for functions and labels, and for pointers
 * that were announced: who follows what a value or a type is made of comes to an end. */
static bool is_made_of_earlier(struct parser *p, const struct pm_ir_instr *instr)
{
    if (instr->opcode == SpvOpPhi || instr->opcode == SpvOpTypeForwardPointer ||
        (!instr->block && may_be_loose(instr->opcode)))
        return true;
    for (uint32_t i = 0; i <= instr->operand_count; i++) {
        const struct pm_ir_operand *operand = i == 0 ? &instr->type : &instr->operands[i - 1];
        const struct pm_ir_instr *of = operand->def ? operand->def->instr : NULL;
        if (!of || of->place < instr->place || of->opcode == SpvOpLabel ||
            of->opcode == SpvOpFunction || (of != instr && of->opcode == SpvOpTypePointer))
            continue;
        return pm_fail(p->error, PM_ERROR_INPUT,
                       "SPIR-V word %u: %s names id %u before it is defined", instr->place,
                       pm_ir_opcode_name(instr->opcode), operand->def->id);
    }
    return true;
}

/* SPIRV-Tools reads numbers of any width; those of shaders fit 64 bits. */
static bool is_read_width(struct parser *p, const struct pm_ir_instr *instr)
{
    enum { WIDEST = 64 };
    if (instr->opcode != SpvOpTypeInt && instr->opcode != SpvOpTypeFloat)
        return true;
    const uint32_t width = pm_ir_operand_word(&instr->operands[0]);
    return (width > 0 && width <= WIDEST) ||
           pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V word %u: %s of %u bits, 1 to %d are read",
                   instr->place, pm_ir_opcode_name(instr->opcode), width, WIDEST);
}

static bool is_variable_whole(struct parser *p, const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = instr->type.def ? instr->type.def->instr : NULL;
    return instr->opcode != SpvOpVariable || (type && type->opcode == SpvOpTypePointer) ||
           pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V word %u: the type of OpVariable is no pointer",
                   instr->place);
}

static bool is_typed(struct parser *p, const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = instr->type.def ? instr->type.def->instr : NULL;
    return !type || pm_ir_opcode_is(type->opcode, PM_IR_OP_TYPE) ||
           pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V word %u: the type of %s is no type",
                   instr->place, pm_ir_opcode_name(instr->opcode));
}

/* What the binary parser does not see and the IR relies on. */
static bool check(struct parser *p)
{
    const struct pm_ir_module *module = p->module;
    if (p->function)
        return pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V word %u: a function does not end",
                       p->place);
    for (uint32_t id = 0; id < module->defs_capacity; id++)
        if (module->defs[id] && !module->defs[id]->instr)
            return pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V: id %u is used but not defined", id);
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i; i = i->next)
        if (!is_read_width(p, i) || !is_made_of_earlier(p, i) || !is_variable_whole(p, i))
            return false;
    for (const struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (const struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
                if (!labels_are_local(p, f, i) || !is_typed(p, i) || !is_made_of_earlier(p, i) ||
                    !is_variable_whole(p, i))
                    return false;
    return true;
}

static bool parse_into(struct parser *p, const uint32_t *words, size_t count)
{
    spv_context context = pm_spirv_context(SPV_ENV_UNIVERSAL_1_6);
    if (!context)
        return pm_fail(p->error, PM_ERROR_MEMORY, "out of memory");
    spv_diagnostic diagnostic = NULL;
    spv_result_t result =
        pm_spirv_parse(context, p, words, count, read_header, read_instruction, &diagnostic);
    if (result == SPV_ERROR_OUT_OF_MEMORY)
        pm_fail(p->error, PM_ERROR_MEMORY, "out of memory in SPIRV-Tools");
    else if (result != SPV_SUCCESS && diagnostic)
        pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V word %u: %s", p->place, diagnostic->error);
    else if (result != SPV_SUCCESS && p->error && p->error->code == PM_OK)
        pm_fail(p->error, PM_ERROR_INPUT, "SPIR-V: SPIRV-Tools refuses it (%d)", (int)result);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    if (result == SPV_SUCCESS)
        take_loose(p, &p->module->trailing);
    return result == SPV_SUCCESS && check(p);
}

struct pm_ir_module *pm_ir_parse(const uint32_t *words, size_t count, struct pm_error *error)
{
    struct pm_error local;
    struct parser p = {.error = error ? error : &local};
    *p.error = (struct pm_error){0};
    if (count > PM_IR_MAX_WORDS) {
        pm_fail(p.error, PM_ERROR_LIMIT, "SPIR-V of %zu words: more than %zu are not read", count,
                PM_IR_MAX_WORDS);
        return NULL;
    }
    /* An operand costs about 48 bytes; passes need room too. */
    struct pm_arena *arena = pm_arena_create(((size_t)64 << 20) + count * 512);
    struct pm_ir_module *module = arena ? pm_arena_zalloc(arena, 1, sizeof(*module)) : NULL;
    if (!module) {
        pm_arena_destroy(arena);
        pm_fail(p.error, PM_ERROR_MEMORY, "out of memory");
        return NULL;
    }
    module->arena = arena;
    p.module = module;
    if (parse_into(&p, words, count))
        return module;
    pm_ir_module_destroy(module);
    return NULL;
}
