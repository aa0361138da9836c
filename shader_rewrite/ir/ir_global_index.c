#include "shader_rewrite/ir/ir_global_index.h"

#include <string.h>

enum { FEWEST_CHAINS = 64, NONE = UINT32_MAX };

struct entry {
    struct pm_ir_instr *instr;
    uint32_t next; /* of the chain, in the module's order; NONE */
};

struct pm_ir_global_index {
    const struct pm_ir_instr *last; /* that was read; NULL: none */
    struct entry *entries;
    uint32_t count, capacity;
    struct {
        uint32_t first, last; /* entries; NONE */
    } * chains;               /* by hash */
    uint32_t chain_count;     /* a power of two, at least as many as there is room for entries */
};

/* ---- forms ---- */

static uint32_t mix(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

static uint32_t hash_of_form(const struct pm_ir_form *form)
{
    uint32_t hash = mix(form->opcode, form->type ? form->type->id : 0);
    for (uint32_t i = 0; i < form->arg_count; i++)
        hash = mix(hash, form->args[i].def ? form->args[i].def->id : form->args[i].word);
    for (uint32_t i = 0; form->words && i < 2; i++)
        hash = mix(hash, form->words[i]);
    return hash;
}

static uint32_t hash_of_instr(const struct pm_ir_instr *instr)
{
    uint32_t hash = mix(instr->opcode, instr->type.def ? instr->type.def->id : 0);
    for (uint32_t i = 0; i < instr->operand_count; i++) {
        const struct pm_ir_operand *operand = &instr->operands[i];
        if (operand->def || !operand->words)
            hash = mix(hash, operand->def ? operand->def->id : operand->word);
        else
            for (uint32_t w = 0; w < operand->word_count; w++)
                hash = mix(hash, operand->words[w]);
    }
    return hash;
}

static bool has_words(const struct pm_ir_instr *instr, const uint32_t *words)
{
    const struct pm_ir_operand *operand = instr->operands;
    return instr->operand_count == 1 && !operand->def && operand->words &&
           operand->word_count == 2 && memcmp(operand->words, words, 2 * sizeof(*words)) == 0;
}

static bool has_args(const struct pm_ir_instr *instr, const struct pm_ir_arg *args, uint32_t count)
{
    if (instr->operand_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_ir_operand *operand = &instr->operands[i];
        if (args[i].is_id ? !operand->def || operand->def != args[i].def
                          : operand->def || operand->words || operand->word != args[i].word)
            return false;
    }
    return true;
}

static bool has_form(const struct pm_ir_instr *instr, const struct pm_ir_form *form)
{
    return instr->opcode == form->opcode && instr->type.def == form->type &&
           (form->words ? has_words(instr, form->words)
                        : has_args(instr, form->args, form->arg_count));
}

/* ---- the index ---- */

static void link_entry(struct pm_ir_global_index *index, uint32_t e)
{
    const uint32_t c = hash_of_instr(index->entries[e].instr) & (index->chain_count - 1);
    index->entries[e].next = NONE;
    if (index->chains[c].first == NONE)
        index->chains[c].first = e;
    else
        index->entries[index->chains[c].last].next = e;
    index->chains[c].last = e;
}

/* Room for twice as many. What there was stays in the arena. */
static bool grow(struct pm_ir_module *module, struct pm_ir_global_index *index)
{
    const uint32_t capacity = index->capacity ? index->capacity * 2 : FEWEST_CHAINS;
    struct entry *entries = pm_arena_zalloc(module->arena, capacity, sizeof(*entries));
    void *chains = pm_arena_zalloc(module->arena, capacity, sizeof(*index->chains));
    if (!entries || !chains) {
        module->failed = true;
        return false;
    }
    if (index->count)
        memcpy(entries, index->entries, index->count * sizeof(*entries));
    index->entries = entries;
    index->chains = chains;
    index->capacity = index->chain_count = capacity;
    for (uint32_t c = 0; c < capacity; c++)
        index->chains[c].first = index->chains[c].last = NONE;
    for (uint32_t e = 0; e < index->count; e++)
        link_entry(index, e);
    return true;
}

/* Reads what was appended since it was read last. NULL: the module failed. */
static struct pm_ir_global_index *index_of(struct pm_ir_module *module)
{
    const struct pm_ir_list *globals = &module->sections[PM_IR_SECTION_GLOBAL];
    struct pm_ir_global_index *index = module->global_index;
    if (!index)
        index = module->global_index = pm_arena_zalloc(module->arena, 1, sizeof(*index));
    if (!index) {
        module->failed = true;
        return NULL;
    }
    if (index->last && index->last->list != globals) { /* that was removed: it is all read anew */
        index->last = NULL;
        index->count = 0;
        for (uint32_t c = 0; c < index->chain_count; c++)
            index->chains[c].first = index->chains[c].last = NONE;
    }
    for (struct pm_ir_instr *i = index->last ? index->last->next : globals->first; i; i = i->next) {
        if (index->count == index->capacity && !grow(module, index))
            return NULL;
        index->entries[index->count].instr = i;
        link_entry(index, index->count++);
        index->last = i;
    }
    return index;
}

struct pm_ir_instr *pm_ir_global_find(struct pm_ir_module *module, const struct pm_ir_form *form,
                                      bool decorated)
{
    const struct pm_ir_list *globals = &module->sections[PM_IR_SECTION_GLOBAL];
    const struct pm_ir_global_index *index = index_of(module);
    if (!index || !index->count)
        return NULL;
    uint32_t e = index->chains[hash_of_form(form) & (index->chain_count - 1)].first;
    for (; e != NONE; e = index->entries[e].next) {
        struct pm_ir_instr *instr = index->entries[e].instr;
        if (instr->list == globals && instr->result && has_form(instr, form) &&
            (decorated || !instr->result->decorated))
            return instr;
    }
    return NULL;
}
