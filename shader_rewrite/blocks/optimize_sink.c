/*
 * What only rare blocks need is computed in them, instead of before. That pays only where subgroups
 * skip such a block whole: in a divergent one it is rare for a lane, and each subgroup comes
 * through all the same, with lanes masked off (the offload RFC, "The Problem"). So only blocks that
 * are known to be uniform are sunk into.
 *
 * Nothing is sunk that looks at other lanes or that such an instruction looks at, that has side
 * effects or reads what the shader may write, nor into a loop that it is not in. A value that
 * several rare blocks need is computed in each.
 */
#include "shader_rewrite/blocks/block_worth.h"

#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/analysis/analysis_motion.h"
#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/quirks/leaving_values.h"
#include "shader_rewrite/quirks/quirks.h"

static const char pass_name[] = "optimize_sink";

enum { MOST_PLACES = 4 }; /* that one value is computed in */

struct context {
    struct pm_blocks *blocks;
    const struct pm_cfg *cfg;
    const struct pm_dominators *dominators;
    const struct pm_loops *loops;
    struct pm_memory memory;
    struct pm_float_permission permission;
    bool *looked_at;                  /* by id: an instruction that looks at other lanes, or what it
                                         is made of, uses it */
    uint32_t bound;                   /* of ids there */
    bool chooses_again;               /* the driver does what a selection in a loop chooses */
    struct pm_memory_access function; /* all of it together */
};

/* ---- what may be sunk ---- */

static void mark_operands(struct context *c, const struct pm_ir_instr *instr,
                          struct pm_ir_instr **pending, uint32_t *count)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_def *def = instr->operands[o].def;
        if (!def || !def->instr || !def->instr->block || def->instr->opcode == SpvOpLabel ||
            c->looked_at[def->id])
            continue;
        c->looked_at[def->id] = true;
        pending[(*count)++] = def->instr;
    }
}

/* Marks what instructions that look at other lanes are made of, and joins all accesses. */
static bool look(struct context *c)
{
    uint32_t count = 0;
    c->bound = c->blocks->module->bound;
    c->looked_at = pm_arena_zalloc(c->blocks->arena, c->bound, sizeof(*c->looked_at));
    struct pm_ir_instr **pending =
        pm_arena_zalloc(c->blocks->arena, c->bound, sizeof(struct pm_ir_instr *));
    if (!c->looked_at || !pending)
        return false;
    for (uint32_t b = 0; b < c->cfg->count; b++)
        for (const struct pm_ir_instr *i = c->cfg->blocks[b]->body.first; i; i = i->next) {
            const struct pm_memory_access access = pm_memory_access_of(&c->memory, i);
            if (!pm_ir_opcode_is_terminator(i->opcode) && i->opcode != SpvOpSelectionMerge &&
                i->opcode != SpvOpLoopMerge && i->opcode != SpvOpVariable) {
                c->function.writes |= access.writes;
                c->function.stops |= access.stops;
            }
            if (pm_reads_other_lanes(i))
                mark_operands(c, i, pending, &count);
        }
    while (count)
        mark_operands(c, pending[--count], pending, &count);
    return true;
}

static bool is_read(const struct pm_ir_instr *instr)
{
    if (instr->opcode == SpvOpImageRead || instr->opcode == SpvOpImageSparseRead)
        return false;
    return instr->opcode == SpvOpLoad || instr->opcode == SpvOpAccessChain ||
           instr->opcode == SpvOpInBoundsAccessChain || instr->opcode == SpvOpRawAccessChainNV ||
           instr->opcode == SpvOpSampledImage ||
           pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_IMAGE_READ);
}

/* Memory that may be written anywhere in the shader is read where it was read; so is all of it
 * where lanes meet at barriers or in calls. */
static bool may_sink(const struct context *c, const struct pm_ir_instr *instr)
{
    if (!instr->result || instr->result->id >= c->bound || c->looked_at[instr->result->id] ||
        pm_reads_other_lanes(instr))
        return false;
    if (pm_motion_may_be_earlier(&c->memory, &c->permission, instr))
        return true;
    const struct pm_memory_access access = pm_memory_access_of(&c->memory, instr);
    return is_read(instr) && !access.writes && !access.stops &&
           !(access.reads & c->function.writes) && !(access.reads && c->function.stops);
}

/* ---- where to ---- */

static bool may_take(const struct context *c, const struct pm_ir_block *block,
                     const struct pm_ir_block *from)
{
    return c->loops->loop_of[block->index] == c->loops->loop_of[from->index] &&
           pm_blocks_is_cold(c->blocks, block, from);
}

/* The block that dominates a use and is the furthest from it, and nearest to the definition, that
 * may take the value. NULL: none. *divergent: there would be one, were it uniform. */
static struct pm_ir_block *place_of(const struct context *c, const struct pm_ir_block *from,
                                    uint32_t use, bool *divergent)
{
    struct pm_ir_block *found = NULL;
    for (uint32_t b = use; b != from->index && b != PM_NO_BLOCK; b = c->dominators->parent[b]) {
        struct pm_ir_block *block = c->cfg->blocks[b];
        if (!may_take(c, block, from))
            continue;
        if (pm_blocks_is_uniform(c->blocks, block) || c->blocks->info->ignore_uniformity)
            found = block;
        else
            *divergent = true;
    }
    return found;
}

/* The block that an operand is used in: of an OpPhi the predecessor that it comes from. */
static uint32_t block_of_use(const struct pm_ir_operand *use)
{
    const struct pm_ir_instr *user = use->user;
    if (user->opcode != SpvOpPhi)
        return user->block->index;
    return pm_ir_block_of(use[1].def)->index;
}

struct places {
    struct pm_ir_block *blocks[MOST_PLACES];
    uint32_t count;
    bool divergent; /* there would be one more, were it uniform */
};

/* Why not; NULL: all uses are in the places. */
static const char *find_places(const struct context *c, const struct pm_ir_instr *instr,
                               struct places *places)
{
    bool used = false;
    for (const struct pm_ir_operand *use = instr->result->first_use; use; use = use->next_use) {
        if (!use->user->block)
            continue; /* a name or a decoration */
        used = true;
        struct pm_ir_block *place =
            place_of(c, instr->block, block_of_use(use), &places->divergent);
        if (!place)
            return places->divergent ? "a rare block that needs it is divergent"
                                     : "a block that is not rare needs it";
        uint32_t p = 0;
        while (p < places->count && places->blocks[p] != place)
            p++;
        if (p == MOST_PLACES)
            return "too many blocks need it";
        places->blocks[p] = place;
        places->count += p == places->count;
    }
    return used ? NULL : "nothing needs it";
}

/* ---- sinking ---- */

static void put(struct pm_ir_block *block, struct pm_ir_instr *instr)
{
    pm_ir_insert(&block->body, block, pm_ir_block_start(block), instr);
}

static struct pm_ir_instr *copy_of(struct context *c, const struct pm_ir_instr *instr)
{
    struct pm_ir_module *module = c->blocks->module;
    struct pm_ir_instr *copy = pm_ir_instr_like(module, instr, instr->type.def);
    for (uint32_t o = 0; copy && o < instr->operand_count; o++) {
        if (instr->operands[o].def)
            pm_ir_operand_set(&copy->operands[o], instr->operands[o].def);
        else
            pm_ir_operand_copy_literal(&copy->operands[o], &instr->operands[o]);
    }
    if (copy)
        pm_ir_copy_decorations(module, instr->result, copy->result, false);
    return copy;
}

static double saved(const struct context *c, const struct pm_ir_instr *instr,
                    const struct places *places)
{
    double entries = pm_blocks_entries(c->blocks, instr->block);
    for (uint32_t p = 0; p < places->count; p++)
        entries -= pm_blocks_entries(c->blocks, places->blocks[p]);
    return entries * pm_costs_instr(c->blocks->costs, &c->permission, instr);
}

/* In the places after the first it is computed anew, for the uses below them. */
static void sink(struct context *c, struct pm_ir_instr *instr, const struct places *places)
{
    for (uint32_t p = 1; p < places->count; p++) {
        struct pm_ir_instr *copy = copy_of(c, instr);
        if (!copy)
            return;
        for (struct pm_ir_operand *use = instr->result->first_use, *next; use; use = next) {
            next = use->next_use;
            if (use->user->block &&
                pm_dominates(c->dominators, places->blocks[p]->index, block_of_use(use)))
                pm_ir_operand_set(use, copy->result);
        }
        put(places->blocks[p], copy);
    }
    pm_ir_detach(instr);
    put(places->blocks[0], instr);
}

/* From the end to the start, so that what only a sunk value needs follows it. */
static void sink_all(struct context *c)
{
    struct pm_blocks *blocks = c->blocks;
    for (uint32_t n = c->cfg->order_count; n-- > 0;) {
        struct pm_ir_block *block = c->cfg->blocks[c->cfg->order[n]];
        for (struct pm_ir_instr *i = block->body.last, *before; i && !blocks->module->failed;
             i = before) {
            struct places places = {.count = 0};
            before = i->prev;
            if (!may_sink(c, i))
                continue;
            const char *why_not = find_places(c, i, &places);
            if (!why_not && c->chooses_again)
                why_not = "what is used behind a loop is chosen in it, which the driver does again";
            const uint32_t value = i->result->id;
            if (!why_not) {
                pm_blocks_saves(blocks, PM_BLOCK_SINK, saved(c, i, &places));
                sink(c, i, &places);
            }
            if (!why_not || places.count || places.divergent)
                pm_blocks_decide(blocks, pass_name, block, value, !why_not,
                                 places.count > 1 ? "computed in several rare blocks"
                                                  : "computed in a rare block",
                                 why_not ? why_not : "only rare uniform blocks need it");
        }
    }
}

/* The driver may choose otherwise when the sides of a selection hold more than they did. */
static bool find_choices(struct context *c)
{
    const struct pm_blocks *blocks = c->blocks;
    struct pm_leaving_values leaving;
    if (!(pm_quirks_of(blocks->info->driver) & PM_QUIRK_CHOOSES_AGAIN))
        return true;
    if (!pm_leaving_values_compute(&leaving, blocks->module, blocks->function, blocks->arena))
        return false;
    c->chooses_again = pm_leaving_values_chosen(&leaving, blocks->function);
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_blocks *blocks = context;
    struct pm_ir_function *function = blocks->function;
    const uint32_t before = blocks->changes;
    struct context c = {.blocks = blocks,
                        .cfg = pm_cfg(function),
                        .dominators = pm_dominators(function),
                        .loops = pm_loops(function),
                        .memory = pm_memory_of(module)};
    if (!pm_float_permission_compute(&c.permission, module, function, PM_FLOAT_ZERO_NEVER,
                                     blocks->arena) ||
        !look(&c) || !find_choices(&c)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return PM_PASS_FAILED;
    }
    sink_all(&c);
    const bool mended = pm_block_mend_sampled_images(function);
    return pm_pass_result_of(true, mended || blocks->changes != before);
}

const struct pm_pass pm_pass_optimize_sink = {pass_name, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS,
                                              PM_ANALYSIS_ALL, run};
