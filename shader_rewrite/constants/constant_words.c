#include "shader_rewrite/constants/constant_words.h"

#include "shader_rewrite/analysis/analysis_casts.h"
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/analysis/analysis_permission.h"
#include "shader_rewrite/constants/constant_layout.h"

#include <stdlib.h>

/* Words times places where they are loaded. */
enum { MOST_READS = 65536 };

struct found {
    struct pm_constant_point point;
    struct pm_constant_read read;
    const struct pm_ir_instr *variable;
    uint32_t order;
};

struct finding {
    const struct pm_ir_module *module;
    const struct pm_ir_function *function;
    struct pm_memory memory;
    const bool *disguised; /* by id */
    struct found *found;   /* NULL: they are only counted */
    uint32_t count;
};

/* ---- variables ---- */

/* Where words of a variable are; false: it is none of ours. */
static bool describe_variable(const struct finding *f, const struct pm_ir_instr *variable,
                              struct pm_constant_point *point)
{
    const uint32_t storage = pm_ir_operand_word(&variable->operands[0]);
    uint32_t word, indices;
    const struct pm_ir_instr *block = pm_constant_block_of(variable, &indices);
    *point = (struct pm_constant_point){.source = PM_CONSTANT_PUSH};
    if (!block || !pm_constant_decoration(block->result, SpvDecorationBlock, &word))
        return false;
    if (storage == SpvStorageClassPushConstant)
        return true;
    point->source = PM_CONSTANT_UNIFORM;
    return storage == SpvStorageClassUniform && !f->memory.writable_uniforms &&
           pm_constant_decoration(variable->result, SpvDecorationDescriptorSet, &point->set) &&
           pm_constant_decoration(variable->result, SpvDecorationBinding, &point->binding);
}

/* ---- reads ---- */

static bool is_word(const struct pm_ir_instr *type)
{
    return type && (type->opcode == SpvOpTypeInt || type->opcode == SpvOpTypeFloat) &&
           pm_ir_operand_word(&type->operands[0]) == 32;
}

uint32_t pm_constant_value_words(const struct pm_ir_instr *value)
{
    const struct pm_ir_instr *type = pm_ir_type_of(value);
    uint32_t count = 1;
    for (; type && (type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix);
         type = pm_ir_operand_instr(type, 0))
        count *= pm_ir_operand_word(&type->operands[1]);
    return is_word(type) ? count : 0;
}

static bool is_float(const struct finding *f, const struct pm_ir_instr *value)
{
    return pm_scalar_type(pm_ir_type_of(value))->opcode == SpvOpTypeFloat ||
           f->disguised[value->result->id];
}

static void add_word(struct finding *f, const struct found *read, struct pm_constant_place place,
                     uint32_t component)
{
    if (place.offset % 4)
        return;
    if (f->found) {
        struct found *found = &f->found[f->count];
        *found = *read;
        found->point.offset = place.offset;
        found->read.component = component;
        found->order = f->count;
    }
    f->count++;
}

static void add_vector(struct finding *f, const struct found *read, struct pm_constant_place place,
                       uint32_t first)
{
    if (place.type->opcode != SpvOpTypeVector) {
        add_word(f, read, place, first);
        return;
    }
    for (uint32_t i = 0; i < pm_ir_operand_word(&place.type->operands[1]) && i < 4; i++) {
        struct pm_constant_place component = place;
        if (pm_constant_place_step(&component, i))
            add_word(f, read, component, first + i);
    }
}

/* A value that was read, or taken out of what was. */
static void add_value(struct finding *f, struct found *read, struct pm_constant_place place,
                      uint32_t depth)
{
    struct pm_ir_instr *value = read->read.value;
    if (pm_constant_value_words(value)) {
        read->point.is_float = is_float(f, value);
        if (place.type->opcode != SpvOpTypeMatrix) {
            add_vector(f, read, place, 0);
            return;
        }
        for (uint32_t c = 0; c < pm_ir_operand_word(&place.type->operands[1]); c++) {
            struct pm_constant_place column = place;
            if (pm_constant_place_step(&column, c))
                add_vector(f, read, column, c * 4);
        }
    }
    /* What is taken out of a matrix, a structure or an array. */
    for (const struct pm_ir_operand *use = value->result->first_use;
         use && depth < PM_CONSTANT_DEEPEST; use = use->next_use) {
        struct pm_ir_instr *user = use->user;
        struct pm_constant_place part = place;
        bool known = user->opcode == SpvOpCompositeExtract && use == &user->operands[0];
        for (uint32_t o = 1; known && o < user->operand_count; o++)
            known = pm_constant_place_step(&part, pm_ir_operand_word(&user->operands[o]));
        if (!known)
            continue;
        struct found taken = *read;
        taken.read.value = user;
        add_value(f, &taken, part, depth + 1);
    }
}

bool pm_constant_always_runs(const struct pm_ir_function *function, uint32_t block)
{
    return block == 0 || pm_dominates(pm_postdominators(function), block, 0);
}

static void look_at(struct finding *f, struct pm_ir_instr *instr)
{
    struct pm_constant_place place;
    struct found read = {.read = {instr, 0}};
    if (instr->opcode != SpvOpLoad || pm_memory_access_of(&f->memory, instr).writes)
        return;
    read.variable = pm_constant_place_of_pointer(pm_ir_operand_instr(instr, 0), &place);
    if (!read.variable || !describe_variable(f, read.variable, &read.point))
        return;
    read.point.every_path = pm_constant_always_runs(f->function, instr->block->index);
    add_value(f, &read, place, 0);
}

static void look_at_all(struct finding *f)
{
    const struct pm_cfg *cfg = pm_cfg(f->function);
    f->count = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            if (pm_cfg_reachable(cfg, b) && f->count <= MOST_READS)
                look_at(f, i);
}

/* ---- words ---- */

static int compare_points(const struct pm_constant_point *a, const struct pm_constant_point *b)
{
    const uint32_t x[] = {(uint32_t)a->source, a->set, a->binding, a->offset};
    const uint32_t y[] = {(uint32_t)b->source, b->set, b->binding, b->offset};
    for (int i = 0; i < 4; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int by_word(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    const int order = compare_points(&x->point, &y->point);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void gather(const struct finding *f, struct pm_constant_read *reads,
                   struct pm_constant_words *out)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct found *found = &f->found[i];
        struct pm_constant_word *word = out->count ? &out->words[out->count - 1] : NULL;
        reads[i] = found->read;
        if (word && pm_constant_same_word(&word->point, &found->point)) {
            word->point.every_path |= found->point.every_path;
            word->point.is_float &= found->point.is_float;
            word->read_count++;
        } else {
            out->words[out->count++] =
                (struct pm_constant_word){found->point, &reads[i], 1, found->variable};
        }
    }
}

/* Words of a buffer are one behind the other. */
static void find_within(struct pm_constant_words *out)
{
    bool within = false;
    for (uint32_t w = out->count; w-- > 0;) {
        struct pm_constant_point *point = &out->words[w].point;
        const struct pm_constant_point *next = &out->words[w + 1].point;
        if (w + 1 == out->count || next->source != point->source || next->set != point->set ||
            next->binding != point->binding)
            within = false;
        within |= point->every_path;
        point->within = within;
    }
}

bool pm_constant_words_find(const struct pm_ir_module *module,
                            const struct pm_ir_function *function, struct pm_arena *arena,
                            struct pm_constant_words *out, struct pm_error *error)
{
    struct finding f = {.module = module,
                        .function = function,
                        .memory = pm_memory_of(module),
                        .disguised = pm_disguised_floats_find(function, arena)};
    *out = (struct pm_constant_words){0};
    if (!f.disguised)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    look_at_all(&f);
    if (f.count > MOST_READS)
        return pm_fail(error, PM_ERROR_LIMIT, "words of constants are read in more than %d places",
                       MOST_READS);
    struct pm_constant_read *reads = pm_arena_zalloc(arena, f.count + 1u, sizeof(*reads));
    out->words = pm_arena_zalloc(arena, f.count + 1u, sizeof(*out->words));
    f.found = pm_arena_zalloc(arena, f.count + 1u, sizeof(*f.found));
    if (!reads || !out->words || !f.found)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    look_at_all(&f);
    qsort(f.found, f.count, sizeof(*f.found), by_word);
    gather(&f, reads, out);
    find_within(out);
    return true;
}

const struct pm_constant_word *pm_constant_words_of(const struct pm_constant_words *words,
                                                    const struct pm_constant_point *point)
{
    for (uint32_t i = 0; i < words->count; i++)
        if (pm_constant_same_word(&words->words[i].point, point))
            return &words->words[i];
    return NULL;
}
