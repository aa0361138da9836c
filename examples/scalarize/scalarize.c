#include "examples/scalarize/scalarize.h"
#include "examples/scalarize/scalarize_private.h"

bool pm_scalarize_shape(const struct pm_ir_def *type, uint32_t *rows, uint32_t *columns,
                        struct pm_ir_def **component)
{
    *rows = *columns = 1;
    const struct pm_ir_instr *instr = type->instr;
    if (instr->opcode == SpvOpTypeMatrix) {
        *columns = pm_ir_operand_word(&instr->operands[1]);
        instr = instr->operands[0].def->instr;
    }
    if (instr->opcode == SpvOpTypeVector) {
        *rows = pm_ir_operand_word(&instr->operands[1]);
        instr = instr->operands[0].def->instr;
    }
    *component = instr->result;
    return instr->opcode == SpvOpTypeFloat || instr->opcode == SpvOpTypeInt ||
           instr->opcode == SpvOpTypeBool;
}

/* NULL when the instruction's result is no value of a scalar, vector or matrix type. */
static struct pm_parts *new_parts(struct pm_scalarizer *s, const struct pm_ir_instr *instr)
{
    uint32_t rows, columns;
    struct pm_ir_def *component;
    if (!instr->result || !instr->type.def ||
        !pm_scalarize_shape(instr->type.def, &rows, &columns, &component))
        return NULL;
    struct pm_parts *parts = pm_arena_zalloc(s->module->arena, 1, sizeof *parts);
    if (!parts) {
        s->module->failed = true;
        return NULL;
    }
    parts->rows = rows;
    parts->count = rows * columns;
    parts->type = component;
    return parts;
}

/* Right behind an instruction; behind all of a block's OpPhi, and for what is defined outside of
 * functions at the start of the one there is. */
static struct pm_ir_builder behind(const struct pm_scalarizer *s, struct pm_ir_instr *instr)
{
    struct pm_ir_builder builder = {.module = s->module, .block = instr->block};
    if (!builder.block)
        builder.block = s->builder.block->function->first_block;
    builder.before = instr->block && instr->opcode != SpvOpPhi && instr->opcode != SpvOpVariable
                         ? instr->next
                         : pm_ir_block_start(builder.block);
    return builder;
}

static void take_apart(struct pm_scalarizer *s, struct pm_ir_instr *instr, struct pm_parts *parts)
{
    if (parts->count == 1) {
        parts->at[0] = instr->result;
        return;
    }
    const bool matrix = parts->count > parts->rows;
    if (instr->opcode == SpvOpConstantComposite) {
        for (uint32_t i = 0; i < parts->count; i++)
            parts->at[i] =
                matrix ? pm_part_of(s, instr->operands[i / parts->rows].def, i % parts->rows)
                       : instr->operands[i].def;
        return;
    }
    if (instr->opcode == SpvOpConstantNull) {
        for (uint32_t i = 0; i < parts->count; i++)
            parts->at[i] = pm_ir_global(s->module, SpvOpConstantNull, parts->type, NULL, 0);
        return;
    }
    struct pm_ir_builder builder = behind(s, instr);
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct pm_ir_arg column[] = {pm_ir_id(instr->result), pm_ir_word(i / parts->rows),
                                           pm_ir_word(i % parts->rows)};
        const struct pm_ir_arg row[] = {pm_ir_id(instr->result), pm_ir_word(i)};
        parts->at[i] = pm_ir_build(&builder, SpvOpCompositeExtract, parts->type,
                                   matrix ? column : row, matrix ? 3 : 2);
    }
}

struct pm_parts *pm_parts_of(struct pm_scalarizer *s, struct pm_ir_def *value)
{
    struct pm_parts *parts = value->id < s->bound ? s->parts[value->id] : NULL;
    if (parts)
        return parts;
    parts = new_parts(s, value->instr);
    if (!parts)
        return NULL;
    take_apart(s, value->instr, parts);
    if (value->id < s->bound)
        s->parts[value->id] = parts;
    return parts;
}

struct pm_ir_def *pm_part_of(struct pm_scalarizer *s, struct pm_ir_def *value, uint32_t index)
{
    const struct pm_parts *parts = value ? pm_parts_of(s, value) : NULL;
    return parts ? parts->at[index] : NULL;
}

/* The value that parts were taken from, when they are all of its parts in order. */
static struct pm_ir_def *source_of(const struct pm_parts *parts, const struct pm_ir_def *type)
{
    struct pm_ir_def *source = NULL;
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct pm_ir_instr *part = parts->at[i]->instr;
        if (part->opcode != SpvOpCompositeExtract || part->operand_count != 2 ||
            pm_ir_operand_word(&part->operands[1]) != i ||
            (source && part->operands[0].def != source))
            return NULL;
        source = part->operands[0].def;
    }
    return source && source->instr->type.def == type ? source : NULL;
}

static struct pm_ir_def *construct(struct pm_ir_builder *builder, struct pm_ir_def *type,
                                   struct pm_ir_def *const *constituents, uint32_t count)
{
    struct pm_ir_arg args[PM_MAX_PARTS];
    for (uint32_t i = 0; i < count; i++)
        args[i] = pm_ir_id(constituents[i]);
    return pm_ir_build(builder, SpvOpCompositeConstruct, type, args, count);
}

/* The value again, for an instruction that takes nothing else. */
static struct pm_ir_def *whole_of(struct pm_scalarizer *s, struct pm_parts *parts)
{
    struct pm_ir_def *type = parts->split->type.def;
    if (s->module->failed)
        return NULL;
    if (!parts->whole)
        parts->whole = source_of(parts, type);
    if (parts->whole)
        return parts->whole;
    struct pm_ir_builder builder = behind(s, parts->split);
    const uint32_t columns = parts->count / parts->rows;
    if (columns == 1) {
        parts->whole = construct(&builder, type, parts->at, parts->count);
        return parts->whole;
    }
    struct pm_ir_def *vectors[4], *column = type->instr->operands[0].def;
    for (uint32_t i = 0; i < columns; i++)
        vectors[i] = construct(&builder, column, parts->at + i * parts->rows, parts->rows);
    parts->whole = construct(&builder, type, vectors, columns);
    return parts->whole;
}

/* The OpPhi of parts get their operands when all values are known. */
static void split_phi(struct pm_scalarizer *s, struct pm_parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++)
        parts->at[i] = pm_ir_build(&s->builder, SpvOpPhi, parts->type, NULL, 0);
}

static void complete_phi(struct pm_scalarizer *s, const struct pm_parts *parts)
{
    const struct pm_ir_instr *phi = parts->split;
    for (uint32_t pair = 0; pair + 1 < phi->operand_count; pair += 2)
        for (uint32_t i = 0; i < parts->count && !s->module->failed; i++)
            pm_ir_phi_add(s->module, parts->at[i]->instr, pm_part_of(s, phi->operands[pair].def, i),
                          pm_ir_block_of(phi->operands[pair + 1].def));
}

/* Exactness asked for is asked for of each part. */
static void copy_decorations(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                             const struct pm_parts *parts)
{
    for (struct pm_ir_operand *use = instr->result->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (user->opcode != SpvOpDecorate || use != &user->operands[0] || user->operand_count != 2)
            continue;
        const SpvDecoration decoration = (SpvDecoration)pm_ir_operand_word(&user->operands[1]);
        for (uint32_t i = 0; i < parts->count; i++)
            if (parts->at[i] && parts->at[i]->id >= s->bound)
                pm_ir_decorate(s->module, parts->at[i], decoration, NULL, 0);
    }
}

static void split(struct pm_scalarizer *s, struct pm_ir_instr *instr)
{
    struct pm_parts *parts = new_parts(s, instr);
    if (!parts || instr->result->id >= s->bound)
        return;
    s->builder.block = instr->block;
    s->builder.before = instr;
    if (instr->opcode == SpvOpPhi) {
        if (parts->count == 1)
            return;
        split_phi(s, parts);
    } else if (!pm_scalarize_instr(s, instr, parts)) {
        return;
    }
    parts->split = instr;
    s->parts[instr->result->id] = parts;
    if (parts->count == 1)
        pm_ir_replace_uses(instr->result, parts->at[0]);
    else
        copy_decorations(s, instr, parts);
}

/* Whoever still reads a value that was split gets it put together. */
static void rewrite_users(struct pm_scalarizer *s, struct pm_ir_instr *instr)
{
    const struct pm_parts *own =
        instr->result && instr->result->id < s->bound ? s->parts[instr->result->id] : NULL;
    if (own && own->split == instr)
        return;
    for (uint32_t i = 0; i < instr->operand_count; i++) {
        const struct pm_ir_def *def = instr->operands[i].def;
        struct pm_parts *parts = def && def->id < s->bound ? s->parts[def->id] : NULL;
        if (parts && parts->split)
            pm_ir_operand_set(&instr->operands[i], whole_of(s, parts));
    }
}

static void for_each_instr(struct pm_scalarizer *s,
                           void (*visit)(struct pm_scalarizer *, struct pm_ir_instr *))
{
    for (struct pm_ir_function *f = s->module->first_function; f; f = f->next)
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (struct pm_ir_instr *i = b->body.first, *next; i && !s->module->failed; i = next) {
                next = i->next;
                visit(s, i);
            }
}

static void scalarize_module(struct pm_scalarizer *s)
{
    for_each_instr(s, split);
    for (uint32_t id = 0; id < s->bound && !s->module->failed; id++)
        if (s->parts[id] && s->parts[id]->split && s->parts[id]->split->opcode == SpvOpPhi)
            complete_phi(s, s->parts[id]);
    for_each_instr(s, rewrite_users);
    if (s->module->failed)
        return;
    /* Those that were split may name each other, in loops. */
    for (uint32_t id = 0; id < s->bound; id++)
        if (s->parts[id] && s->parts[id]->split)
            pm_ir_operands_remove(s->parts[id]->split, 0, s->parts[id]->split->operand_count);
    for (uint32_t id = 0; id < s->bound; id++)
        if (s->parts[id] && s->parts[id]->split)
            pm_ir_remove(s->parts[id]->split);
}

static bool canonicalize(const uint32_t *words, size_t count, enum pm_stage stage,
                         struct pm_words *out, struct pm_error *error)
{
    const struct pm_canonicalize_info info = {
        .words = words,
        .word_count = count,
        .stage = stage,
        .entry_point = "main",
        .target = {.vulkan_minor = 1},
    };
    return pm_canonicalize(&info, out, error);
}

bool pm_scalarize(const uint32_t *words, size_t count, enum pm_stage stage, struct pm_words *out,
                  struct pm_error *error)
{
    struct pm_words canonical = {0}, scalar = {0};
    bool done = false;
    if (!canonicalize(words, count, stage, &canonical, error))
        return false;
    struct pm_ir_module *module = pm_ir_parse(canonical.data, canonical.count, error);
    if (!module)
        goto end;
    struct pm_scalarizer s = {.module = module, .bound = module->bound};
    s.builder.module = module;
    s.parts = pm_arena_zalloc(module->arena, s.bound, sizeof(*s.parts));
    if (!s.parts) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        goto end;
    }
    scalarize_module(&s);
    const struct pm_target target = {.vulkan_minor = 1};
    done = pm_ir_emit(module, &scalar, error) &&
           pm_validate(scalar.data, scalar.count, &target, error) &&
           canonicalize(scalar.data, scalar.count, stage, out, error);
end:
    pm_ir_module_destroy(module);
    pm_words_finish(&canonical);
    pm_words_finish(&scalar);
    return done;
}
