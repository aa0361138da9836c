/*
 * Casts of a value's bits to another type and back. Translation layers wrap every value in them
 * (zink: half of a shader's instructions), component by component where a vector was:
 * Bitcast(Bitcast x) is x, also where the parts of a vector, a selection or an OpPhi lie between.
 * Only moves change their type, so every bit stays what it was (HAZARDS 3 and 7); a constant stays
 * behind its cast.
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"

enum {
    MOST_STEPS = 8,    /* of a value that is looked through */
    MOST_MEMBERS = 32, /* of OpPhi and OpSelect that get another type together */
    MOST_PARTS = 4,    /* of a vector */
    MOST_TURNS = 16,   /* to another type, on average of what chooses in a block */
};

static bool is_numeric(const struct pm_ir_instr *type)
{
    return type && (type->opcode == SpvOpTypeInt || type->opcode == SpvOpTypeFloat ||
                    type->opcode == SpvOpTypeVector);
}

static bool is_vector_of(const struct pm_ir_instr *type, const struct pm_ir_def *component,
                         uint32_t count)
{
    return type && type->opcode == SpvOpTypeVector && type->operands[0].def == component &&
           pm_ir_operand_word(&type->operands[1]) == count;
}

static uint32_t components_of(const struct pm_ir_instr *type)
{
    return type->opcode == SpvOpTypeVector ? pm_ir_operand_word(&type->operands[1]) : 1;
}

/* What its users may need to know of it would be lost. */
static bool is_non_uniform(const struct pm_ir_def *def)
{
    const struct pm_ir_operand *use = def->decorated ? def->first_use : NULL;
    while (use && !(use->user->opcode == SpvOpDecorate &&
                    pm_ir_operand_word(&use->user->operands[1]) == SpvDecorationNonUniform))
        use = use->next_use;
    return use;
}

/* ---- values as another type ---- */

/* Of the functions below: with `builder` NULL nothing is built, and what they return says only that
 * it could be. */

static struct pm_ir_def *built(struct pm_ir_builder *builder, struct pm_ir_def *value,
                               uint16_t opcode, struct pm_ir_def *type,
                               const struct pm_ir_arg *args, uint32_t arg_count)
{
    return builder ? pm_ir_build(builder, opcode, type, args, arg_count) : value;
}

/* The vector of so many components of another type that a vector was cast from; NULL: none. */
static struct pm_ir_def *vector_behind(const struct pm_ir_instr *vector,
                                       const struct pm_ir_def *component)
{
    const uint32_t count = vector ? components_of(pm_ir_type_of(vector)) : 0;
    for (int steps = 0; vector && steps < MOST_STEPS; steps++) {
        if (is_vector_of(pm_ir_type_of(vector), component, count))
            return vector->result;
        vector = vector->opcode == SpvOpBitcast ? pm_ir_operand_instr(vector, 0) : NULL;
        vector = vector && is_numeric(pm_ir_type_of(vector)) ? vector : NULL;
    }
    return NULL;
}

static struct pm_ir_def *part_as(struct pm_ir_builder *builder, const struct pm_ir_instr *extract,
                                 struct pm_ir_def *type)
{
    const struct pm_ir_instr *vector = pm_ir_operand_instr(extract, 0);
    if (extract->operand_count != 2 || pm_ir_type_of(vector)->opcode != SpvOpTypeVector)
        return NULL;
    struct pm_ir_def *from = vector_behind(vector, type);
    return from ? built(builder, extract->result, SpvOpCompositeExtract, type,
                        PM_IR_ARGS(pm_ir_id(from),
                                   pm_ir_word(pm_ir_operand_word(&extract->operands[1]))))
                : NULL;
}

static struct pm_ir_def *shuffle_as(struct pm_ir_builder *builder,
                                    const struct pm_ir_instr *shuffle, struct pm_ir_def *type)
{
    if (components_of(type->instr) != shuffle->operand_count - 2)
        return NULL;
    const struct pm_ir_def *component = type->instr->operands[0].def;
    struct pm_ir_arg args[2 + MOST_PARTS];
    for (uint32_t i = 0; i < shuffle->operand_count && i < 2 + MOST_PARTS; i++)
        args[i] = i < 2 ? pm_ir_id(vector_behind(pm_ir_operand_instr(shuffle, i), component))
                        : pm_ir_word(pm_ir_operand_word(&shuffle->operands[i]));
    return args[0].def && args[1].def && shuffle->operand_count <= 2 + MOST_PARTS
               ? built(builder, shuffle->result, SpvOpVectorShuffle, type, args,
                       shuffle->operand_count)
               : NULL;
}

static struct pm_ir_def *value_as(struct pm_ir_builder *builder, struct pm_ir_def *value,
                                  struct pm_ir_def *type, int steps);

/* A vector made of scalars: those that were no such type are cast one by one. */
static struct pm_ir_def *construct_as(struct pm_ir_builder *builder,
                                      const struct pm_ir_instr *construct, struct pm_ir_def *type,
                                      int steps)
{
    const uint32_t count = construct->operand_count;
    if (count > MOST_PARTS || type->instr->opcode != SpvOpTypeVector ||
        components_of(type->instr) != count || components_of(pm_ir_type_of(construct)) != count)
        return NULL;
    struct pm_ir_def *component = type->instr->operands[0].def;
    struct pm_ir_arg args[MOST_PARTS];
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= value_as(NULL, construct->operands[i].def, component, steps) != NULL;
    for (uint32_t i = 0; builder && any && i < count; i++) {
        struct pm_ir_def *part = construct->operands[i].def;
        struct pm_ir_def *as = value_as(builder, part, component, steps);
        args[i] = pm_ir_id(
            as ? as : pm_ir_build(builder, SpvOpBitcast, component, PM_IR_ARGS(pm_ir_id(part))));
    }
    return any ? built(builder, construct->result, SpvOpCompositeConstruct, type, args, count)
               : NULL;
}

/* The value's bits as this type, without a cast of the whole; NULL: they never were of it. */
static struct pm_ir_def *value_as(struct pm_ir_builder *builder, struct pm_ir_def *value,
                                  struct pm_ir_def *type, int steps)
{
    const struct pm_ir_instr *instr = value->instr;
    if (!instr || instr->type.def == type)
        return instr ? value : NULL;
    if (steps == 0 || !is_numeric(pm_ir_type_of(instr)))
        return NULL;
    switch (instr->opcode) {
    case SpvOpBitcast:
        return value_as(builder, instr->operands[0].def, type, steps - 1);
    case SpvOpCompositeExtract:
        return part_as(builder, instr, type);
    case SpvOpCompositeConstruct:
        return construct_as(builder, instr, type, steps - 1);
    case SpvOpVectorShuffle:
        return type->instr->opcode == SpvOpTypeVector ? shuffle_as(builder, instr, type) : NULL;
    default:
        return NULL;
    }
}

/* Decorations stay with what they decorate. */
static void replace(struct pm_ir_instr *cast, struct pm_ir_def *with)
{
    for (struct pm_ir_operand *use = cast->result->first_use, *next; use; use = next) {
        next = use->next_use;
        if (use->user->block)
            pm_ir_operand_set(use, with);
    }
    pm_ir_remove(cast);
}

static bool fold_cast(struct pm_ir_module *module, struct pm_ir_instr *cast)
{
    struct pm_ir_instr *from = pm_ir_operand_instr(cast, 0);
    if (!is_numeric(pm_ir_type_of(cast)) || !is_numeric(pm_ir_type_of(from)) ||
        is_non_uniform(cast->result))
        return false;
    if (value_as(NULL, from->result, cast->type.def, MOST_STEPS)) {
        struct pm_ir_builder before = {module, cast->block, cast};
        struct pm_ir_def *as = value_as(&before, from->result, cast->type.def, MOST_STEPS);
        if (as)
            replace(cast, as);
        return as;
    }
    const struct pm_ir_instr *first =
        from->opcode == SpvOpBitcast ? pm_ir_operand_instr(from, 0) : NULL;
    if (!first || !is_numeric(pm_ir_type_of(first)))
        return false;
    pm_ir_operand_set(&cast->operands[0], first->result);
    return true;
}

/* ---- OpPhi and OpSelect ---- */

/* Those that are used by each other and by casts to one type, and nothing else. */
struct web {
    struct pm_ir_module *module;
    struct pm_ir_instr *members[MOST_MEMBERS], *as[MOST_MEMBERS];
    struct pm_ir_def *type; /* that they are cast to */
    uint32_t count;
    bool failed;
};

static bool chooses(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpPhi || instr->opcode == SpvOpSelect;
}

/* The operands that it chooses from: every second one, or the last two. */
static uint32_t first_choice(const struct pm_ir_instr *member)
{
    return member->opcode == SpvOpPhi ? 0 : 1;
}

static uint32_t next_choice(const struct pm_ir_instr *member, uint32_t operand)
{
    return operand + (member->opcode == SpvOpPhi ? 2 : 1);
}

static uint32_t member_of(const struct web *web, const struct pm_ir_instr *instr)
{
    uint32_t i = 0;
    while (i < web->count && web->members[i] != instr)
        i++;
    return i;
}

static void join(struct web *web, struct pm_ir_instr *member)
{
    if (member_of(web, member) < web->count)
        return;
    if (web->count == MOST_MEMBERS || is_non_uniform(member->result)) {
        web->failed = true;
        return;
    }
    web->members[web->count++] = member;
}

static void add_user(struct web *web, struct pm_ir_instr *user, const struct pm_ir_instr *member)
{
    if (!user->block)
        return;
    if (user->opcode == SpvOpBitcast && (!web->type || web->type == user->type.def) &&
        is_numeric(pm_ir_type_of(user)) && !is_non_uniform(user->result))
        web->type = user->type.def;
    else if (chooses(user) && user->type.def == member->type.def)
        join(web, user);
    else
        web->failed = true;
}

/* A selection by component needs as many of them. */
static bool fits(const struct web *web)
{
    for (uint32_t m = 0; m < web->count; m++)
        if (components_of(pm_ir_type_of(web->members[m])) != components_of(web->type->instr))
            return false;
    return true;
}

static bool was_of_type(const struct web *web)
{
    for (uint32_t m = 0; m < web->count; m++) {
        const struct pm_ir_instr *member = web->members[m];
        for (uint32_t i = first_choice(member); i < member->operand_count;
             i = next_choice(member, i))
            if (member_of(web, member->operands[i].def->instr) == web->count &&
                value_as(NULL, member->operands[i].def, web->type, MOST_STEPS))
                return true;
    }
    return false;
}

static bool find_web(struct web *web, struct pm_ir_instr *first)
{
    join(web, first);
    for (uint32_t m = 0; m < web->count && !web->failed; m++)
        for (const struct pm_ir_operand *use = web->members[m]->result->first_use;
             use && !web->failed; use = use->next_use)
            add_user(web, use->user, web->members[m]);
    return !web->failed && web->type && fits(web) && was_of_type(web);
}

static struct pm_ir_def *choice_as(const struct web *web, const struct pm_ir_instr *member,
                                   uint32_t operand)
{
    struct pm_ir_def *value = member->operands[operand].def;
    const uint32_t other = member_of(web, value->instr);
    if (other < web->count)
        return web->as[other]->result;
    struct pm_ir_builder builder = {web->module, member->block, web->as[member_of(web, member)]};
    if (member->opcode == SpvOpPhi) {
        builder.block = pm_ir_block_of(member->operands[operand + 1].def);
        builder.before = pm_ir_block_end(builder.block);
    }
    struct pm_ir_def *as = value_as(&builder, value, web->type, MOST_STEPS);
    return as ? as : pm_ir_build(&builder, SpvOpBitcast, web->type, PM_IR_ARGS(pm_ir_id(value)));
}

/* The members stay, for the optimizer to remove. */
static bool retype_web(struct web *web)
{
    for (uint32_t m = 0; m < web->count; m++) {
        struct pm_ir_instr *member = web->members[m];
        struct pm_ir_builder before = {web->module, member->block, member};
        web->as[m] = pm_ir_build_instr(&before, member->opcode, web->type, NULL, 0);
        if (!web->as[m] ||
            !pm_ir_operands_insert(web->module, web->as[m], 0, member->operand_count))
            return false;
        for (uint32_t i = 0; i < member->operand_count; i++)
            pm_ir_operand_set(&web->as[m]->operands[i], member->operands[i].def);
    }
    for (uint32_t m = 0; m < web->count; m++) {
        struct pm_ir_instr *member = web->members[m];
        for (uint32_t i = first_choice(member); i < member->operand_count;
             i = next_choice(member, i))
            pm_ir_operand_set(&web->as[m]->operands[i], choice_as(web, member, i));
    }
    for (uint32_t m = 0; m < web->count; m++)
        for (struct pm_ir_operand *use = web->members[m]->result->first_use, *next; use;
             use = next) {
            next = use->next_use;
            if (use->user->opcode == SpvOpBitcast)
                replace(use->user, web->as[m]->result);
        }
    return true;
}

/* ---- the pass ---- */

static bool fold_casts(struct pm_ir_module *module, struct pm_ir_block *block)
{
    bool changed = false;
    for (struct pm_ir_instr *i = block->body.first, *next; i; i = next) {
        next = i->next;
        if (i->opcode == SpvOpBitcast)
            changed |= fold_cast(module, i);
    }
    return changed;
}

static uint32_t count_choices(const struct pm_ir_block *block)
{
    uint32_t count = 0;
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
        count += chooses(i);
    return count;
}

/* From the start again whenever one was found: what came next may be gone. Members that stay, and
 * their casts, can make two webs turn each other's type for ever (seen, of what a translation layer
 * writes), hence the bound. */
static bool retype_webs(struct pm_ir_module *module, struct pm_ir_block *block)
{
    bool changed = false;
    uint32_t left = MOST_TURNS * count_choices(block);
    for (struct pm_ir_instr *i = block->body.first, *next; i; i = next) {
        struct web web = {.module = module};
        next = i->next;
        if (!chooses(i) || !is_numeric(pm_ir_type_of(i)) || !find_web(&web, i))
            continue;
        if (left-- == 0)
            break;
        changed = true;
        if (!retype_web(&web))
            break; /* the module is marked as failed */
        next = block->body.first;
    }
    return changed;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    (void)error;
    bool changed = false;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next) {
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            changed |= fold_casts(module, b);
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            changed |= retype_webs(module, b);
    }
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_fold_bitcasts = {"fold bitcasts", 0, PM_ANALYSIS_ALL, run};
