#include "shader_rewrite/partition/own_memory.h"

#include "shader_rewrite/partition/spilled_value.h"

/* More of one shader's stay where they are. */
enum { MOST_WORDS = 1 << 16 };

static bool is_chain(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpAccessChain || instr->opcode == SpvOpInBoundsAccessChain ||
           instr->opcode == SpvOpCopyObject;
}

/* By its memory operands, from this one on. */
static bool is_volatile(const struct pm_ir_instr *instr, uint32_t from)
{
    return instr->operand_count > from &&
           (pm_ir_operand_word(&instr->operands[from]) & SpvMemoryAccessVolatileMask) != 0;
}

/* Whether nothing but loads and stores of what can be spilled reaches a pointer. */
static bool is_plain(const struct pm_ir_module *module, const struct pm_ir_def *pointer)
{
    for (const struct pm_ir_operand *use = pointer->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        bool plain;
        if (user->opcode == SpvOpLoad)
            plain = !is_volatile(user, 1) && pm_can_be_spilled(module, pm_ir_type_of(user));
        else if (user->opcode == SpvOpStore)
            plain = use == &user->operands[0] && !is_volatile(user, 2) &&
                    pm_can_be_spilled(module, pm_ir_type_of(pm_ir_operand_instr(user, 1)));
        else if (is_chain(user))
            plain = is_plain(module, user->result);
        else
            plain = user->opcode == SpvOpEntryPoint || user->opcode == SpvOpName ||
                    pm_ir_opcode_is(user->opcode, PM_IR_OP_ANNOTATION);
        if (!plain)
            return false;
    }
    return true;
}

static const struct pm_ir_instr *pointee(const struct pm_ir_instr *variable)
{
    return pm_ir_operand_instr(pm_ir_type_of(variable), 1);
}

static void consider(const struct pm_ir_module *module, const struct pm_ir_instr *variable,
                     struct pm_own_memory *out)
{
    const uint32_t storage = pm_ir_operand_word(&variable->operands[0]);
    if ((storage != SpvStorageClassFunction && storage != SpvStorageClassPrivate) ||
        variable->operand_count > 1 || !is_plain(module, variable->result))
        return;
    const uint64_t words = pm_type_words(pointee(variable));
    if (words == 0 || words > MOST_WORDS - out->words)
        return;
    out->places[variable->result->id] = out->words + 1;
    out->words += (uint32_t)words;
}

bool pm_own_memory_find(const struct pm_ir_function *function, struct pm_arena *arena,
                        struct pm_own_memory *out)
{
    const struct pm_ir_module *module = function->module;
    *out = (struct pm_own_memory){.bound = module->bound};
    out->places = pm_arena_zalloc(arena, module->bound + (size_t)1, sizeof(*out->places));
    if (!out->places)
        return false;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; i; i = i->next)
        if (i->opcode == SpvOpVariable)
            consider(module, i, out);
    for (const struct pm_ir_instr *i = function->first_block->body.first; i; i = i->next)
        if (i->opcode == SpvOpVariable)
            consider(module, i, out);
    return true;
}

/* ---- where a pointer leads to ---- */

struct place {
    uint32_t word;                  /* of the variables' */
    struct pm_ir_def *more;         /* and so many words; NULL: none */
    const struct pm_ir_instr *type; /* of what is there */
};

/* An index as a 32-bit unsigned value below count: one outside is undefined behaviour, which should
 * not reach other memory for that. */
static struct pm_ir_def *bounded(struct pm_ir_builder *b, struct pm_ir_def *index, uint32_t count)
{
    struct pm_ir_def *uint = pm_ir_type_int(b->module, 32, false);
    const struct pm_ir_instr *type = pm_ir_type_of(index->instr);
    struct pm_ir_def *last = pm_ir_constant_uint(b->module, count - 1);
    const uint32_t width = pm_ir_operand_word(&type->operands[0]);
    const bool is_signed = pm_ir_operand_word(&type->operands[1]) != 0;
    if (width != 32) /* an SConvert's type may be unsigned */
        index = pm_ir_build(b, is_signed ? SpvOpSConvert : SpvOpUConvert, uint,
                            PM_IR_ARGS(pm_ir_id(index)));
    else if (is_signed)
        index = pm_ir_build(b, SpvOpBitcast, uint, PM_IR_ARGS(pm_ir_id(index)));
    struct pm_ir_def *inside = pm_ir_build(b, SpvOpULessThan, pm_ir_type_bool(b->module),
                                           PM_IR_ARGS(pm_ir_id(index), pm_ir_id(last)));
    return pm_ir_build(b, SpvOpSelect, uint,
                       PM_IR_ARGS(pm_ir_id(inside), pm_ir_id(index), pm_ir_id(last)));
}

static void step_into(struct pm_ir_builder *b, struct place *place, struct pm_ir_def *index)
{
    struct pm_ir_def *uint = pm_ir_type_int(b->module, 32, false);
    const bool known = index->instr->opcode == SpvOpConstant;
    uint32_t count, at = known ? pm_ir_operand_word(&index->instr->operands[0]) : 0;
    const struct pm_ir_instr *within = place->type;
    const struct pm_ir_instr *member = pm_spilled_member(within, 0, &count);
    if (within->opcode == SpvOpTypeStruct) {
        for (uint32_t i = 0; i < at && i < count; i++)
            place->word += (uint32_t)pm_type_words(pm_spilled_member(within, i, &count));
        place->type = pm_spilled_member(within, at < count ? at : 0, &count);
        return;
    }
    const uint32_t stride = (uint32_t)pm_type_words(member);
    place->type = member;
    if (known) {
        place->word += stride * (at < count ? at : count - 1);
        return;
    }
    struct pm_ir_def *words =
        pm_ir_build(b, SpvOpIMul, uint,
                    PM_IR_ARGS(pm_ir_id(bounded(b, index, count)),
                               pm_ir_id(pm_ir_constant_uint(b->module, stride))));
    place->more = place->more ? pm_ir_build(b, SpvOpIAdd, uint,
                                            PM_IR_ARGS(pm_ir_id(place->more), pm_ir_id(words)))
                              : words;
}

static struct place place_of(const struct pm_own_memory *own, struct pm_ir_builder *b,
                             const struct pm_ir_instr *pointer)
{
    if (pointer->opcode == SpvOpVariable)
        return (struct place){.word = own->places[pointer->result->id] - 1,
                              .type = pointee(pointer)};
    struct place place = place_of(own, b, pm_ir_operand_instr(pointer, 0));
    for (uint32_t o = 1; o < pointer->operand_count; o++)
        step_into(b, &place, pointer->operands[o].def);
    return place;
}

static bool leads_there(const struct pm_own_memory *own, const struct pm_ir_instr *pointer)
{
    while (pointer && is_chain(pointer))
        pointer = pm_ir_operand_instr(pointer, 0);
    return pointer && pointer->opcode == SpvOpVariable && pm_own_memory_has(own, pointer->result);
}

void pm_own_memory_move(const struct pm_own_memory *own, const struct pm_scratch *scratch,
                        uint32_t first, struct pm_ir_instr *instr, struct pm_ir_def **words)
{
    if ((instr->opcode != SpvOpLoad && instr->opcode != SpvOpStore) ||
        !leads_there(own, pm_ir_operand_instr(instr, 0)))
        return;
    struct pm_ir_builder b = {scratch->module, instr->block, instr};
    const struct place place = place_of(own, &b, pm_ir_operand_instr(instr, 0));
    const uint32_t count = pm_spilled_words(place.type);
    if (instr->opcode == SpvOpStore) {
        pm_spilled_split(&b, instr->operands[1].def, words);
        for (uint32_t w = 0; w < count; w++)
            pm_scratch_store(scratch, &b, first + place.word + w, place.more, words[w]);
        pm_ir_detach(instr);
        return;
    }
    for (uint32_t w = 0; w < count; w++)
        words[w] = pm_scratch_load(scratch, &b, first + place.word + w, place.more);
    struct pm_ir_def *value = pm_spilled_join(&b, place.type, words);
    if (!value)
        return;
    pm_ir_operands_remove(instr, 1, instr->operand_count - 1);
    pm_ir_operand_set(&instr->operands[0], value);
    instr->opcode = SpvOpCopyObject;
}

/* Chains that nothing uses, and those that only they use. */
static void remove_unused(struct pm_ir_def *pointer)
{
    for (struct pm_ir_operand *use = pointer->first_use, *next; use; use = next) {
        struct pm_ir_instr *user = use->user;
        next = use->next_use;
        if (!is_chain(user) || !user->block)
            continue;
        remove_unused(user->result);
        if (!user->result->first_use)
            pm_ir_remove(user);
    }
}

void pm_own_memory_clean(const struct pm_own_memory *own, struct pm_ir_module *module)
{
    for (uint32_t id = 1; id < own->bound && own->words > 0; id++)
        if (own->places[id] && pm_ir_find(module, id))
            remove_unused(module->defs[id]);
}
