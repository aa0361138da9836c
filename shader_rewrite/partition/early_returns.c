#include "shader_rewrite/partition/early_returns.h"

#include "base/stop.h"
#include "shader_rewrite/analysis/analysis_transposes.h"
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/canonical/optimizer.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/partition/dominance.h"

/* Of selections around one another: each return puts what follows it into one. SPIR-V allows 1,023
 * (2.17), the shader's own among them. */
enum { MOST_DEPTH = 500 };

struct lowering {
    struct pm_ir_module *module;
    struct pm_ir_function *function;
    struct pm_error *error;
    uint32_t depth;
};

static bool ends(const struct pm_cfg *cfg, const struct pm_ir_block *block)
{
    return pm_ir_ends_invocation(pm_ir_terminator(block)) && pm_cfg_reachable(cfg, block->index);
}

bool pm_returns_early(const struct pm_ir_function *function)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    uint32_t count = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        count += ends(cfg, cfg->blocks[b]);
    return count > 1;
}

bool pm_discards(const struct pm_ir_function *function)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        const uint16_t end = pm_ir_terminator(b)->opcode;
        if (end == SpvOpKill || end == SpvOpTerminateInvocation)
            return true;
    }
    return false;
}

static struct pm_ir_def *flag_of(struct lowering *l, bool ended)
{
    return pm_ir_constant_bool(l->module, ended);
}

static struct pm_ir_def *undefined(struct lowering *l, const struct pm_ir_instr *like)
{
    return pm_ir_global(l->module, SpvOpUndef, like->type.def, NULL, 0);
}

/* Ends a block in a branch, instead of what ends it now if anything does. to NULL: in a return. */
static void lead_to(struct lowering *l, struct pm_ir_block *from, struct pm_ir_block *to)
{
    struct pm_ir_builder b = {.module = l->module, .block = from};
    struct pm_ir_instr *old = pm_ir_terminator(from);
    if (old && pm_ir_opcode_is(old->opcode, PM_IR_OP_TERMINATOR))
        pm_ir_remove(old);
    if (to)
        pm_ir_build_branch(&b, to);
    else
        pm_ir_build_instr(&b, SpvOpReturn, NULL, NULL, 0);
}

/* Makes a block that ended lead to another one, in which nothing of it is used. */
static void go_on(struct lowering *l, struct pm_ir_block *from, struct pm_ir_block *to)
{
    for (struct pm_ir_instr *i = to->body.first; i && i->opcode == SpvOpPhi; i = i->next)
        pm_ir_phi_add(l->module, i, undefined(l, i), from);
    lead_to(l, from, to);
}

/* A new OpPhi at the start of a block, without operands. */
static struct pm_ir_instr *add_phi(struct lowering *l, struct pm_ir_block *block,
                                   struct pm_ir_def *type)
{
    struct pm_ir_instr *phi = pm_ir_instr_create(l->module, SpvOpPhi, type, 0);
    if (phi)
        pm_ir_insert(&block->body, block, block->body.first, phi);
    return phi;
}

/* A merge block that was never reached may stand anywhere; now it is. */
static void move_unreachable(struct pm_ir_block *merge, struct pm_ir_block *header)
{
    if (pm_ir_block_start(merge)->opcode == SpvOpUnreachable)
        pm_ir_block_move(merge, header);
}

/* ---- in loops and switches ---- */

/* The innermost loop or switch around a block; PM_NO_CONSTRUCT: none. */
static uint32_t breakable_around(const struct pm_structure *structure, uint32_t block)
{
    uint32_t c = structure->innermost[block];
    while (c != PM_NO_CONSTRUCT && structure->constructs[c].kind == PM_CONSTRUCT_SELECTION)
        c = structure->constructs[c].parent;
    return c;
}

/* The innermost one that some block returns from; PM_NO_CONSTRUCT: none. Inner ones stand behind
 * those around them. */
static uint32_t find_breakable(const struct lowering *l)
{
    const struct pm_cfg *cfg = pm_cfg(l->function);
    const struct pm_structure *structure = pm_structure(l->function);
    uint32_t found = PM_NO_CONSTRUCT;
    for (uint32_t b = 0; b < cfg->count; b++) {
        uint32_t around =
            ends(cfg, cfg->blocks[b]) ? breakable_around(structure, b) : PM_NO_CONSTRUCT;
        if (around != PM_NO_CONSTRUCT && (found == PM_NO_CONSTRUCT || around > found))
            found = around;
    }
    return found;
}

/* What is behind a loop or switch is behind a test then: `if (ended) return;`. */
static void test_behind(struct lowering *l, struct pm_ir_block *merge, struct pm_ir_def *ended)
{
    struct pm_ir_block *rest = pm_ir_block_split(l->module, merge, pm_ir_block_start(merge));
    struct pm_ir_block *end = rest ? pm_ir_block_create(l->module, merge) : NULL;
    struct pm_ir_builder b = {.module = l->module, .block = merge};
    if (!end)
        return;
    pm_ir_build_selection_merge(&b, rest);
    pm_ir_build_branch_conditional(&b, ended, end, rest);
    lead_to(l, end, NULL);
}

static bool leave(struct lowering *l, uint32_t construct)
{
    const struct pm_cfg *cfg = pm_cfg(l->function);
    const struct pm_structure *structure = pm_structure(l->function);
    const struct pm_construct *c = &structure->constructs[construct];
    struct pm_ir_block *merge = cfg->blocks[c->merge];
    const struct pm_ir_instr *own = pm_ir_merge(merge);
    if (c->kind == PM_CONSTRUCT_CONTINUE || (own && own->opcode == SpvOpLoopMerge))
        return pm_fail(l->error, PM_ERROR_UNSUPPORTED,
                       "it returns from a loop's continue construct, or right before another loop");
    move_unreachable(merge, cfg->blocks[c->header]);
    struct pm_ir_instr *flag =
        pm_ir_instr_create(l->module, SpvOpPhi, pm_ir_type_bool(l->module), 0);
    for (uint32_t e = cfg->flow.predecessor_start[c->merge];
         e < cfg->flow.predecessor_start[c->merge + 1]; e++)
        pm_ir_phi_add(l->module, flag, flag_of(l, false), cfg->blocks[cfg->flow.predecessors[e]]);
    for (uint32_t b = 0; b < cfg->count; b++) {
        struct pm_ir_block *block = cfg->blocks[b];
        if (!ends(cfg, block) || breakable_around(structure, b) != construct)
            continue;
        go_on(l, block, merge);
        pm_ir_phi_add(l->module, flag, flag_of(l, true), block);
    }
    if (!flag)
        return false;
    pm_ir_insert(&merge->body, merge, merge->body.first, flag);
    test_behind(l, merge, flag->result);
    pm_analysis_preserve(l->function, 0);
    return !l->module->failed && pm_analysis_require(l->function, PM_ANALYSIS_STRUCTURE, l->error);
}

/* ---- in selections ---- */

/* Marks the merge instructions of constructs in which some invocations end. */
static void mark_constructs(const struct lowering *l)
{
    const struct pm_cfg *cfg = pm_cfg(l->function);
    const struct pm_structure *structure = pm_structure(l->function);
    for (uint32_t b = 0; b < cfg->count; b++)
        if (pm_ir_merge(cfg->blocks[b]))
            pm_ir_merge(cfg->blocks[b])->mark = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t c = ends(cfg, cfg->blocks[b]) ? structure->innermost[b] : PM_NO_CONSTRUCT;
             c != PM_NO_CONSTRUCT; c = structure->constructs[c].parent)
            pm_ir_merge(cfg->blocks[structure->constructs[c].header])->mark = 1;
}

/* Where a region ends: its last block, and whether invocations that come there have ended. */
struct region_end {
    struct pm_ir_block *block;
    struct pm_ir_def *ended;
};

static bool lower_region(struct lowering *l, struct pm_ir_block *block, struct pm_ir_block *end,
                         struct region_end *out);

/* Puts a block between where a region ends and the block behind it. It is reached from the region's
 * end and from `skip`, whose invocations have ended. end NULL: the function's. */
static void join_region(struct lowering *l, const struct region_end *rest, struct pm_ir_block *skip,
                        struct pm_ir_block *join, struct pm_ir_block *end, struct region_end *out)
{
    for (struct pm_ir_instr *i = end ? end->body.first : NULL; i && i->opcode == SpvOpPhi;
         i = i->next) {
        struct pm_ir_instr *phi = add_phi(l, join, i->type.def);
        pm_ir_phi_add(l->module, phi, pm_ir_phi_value(i, rest->block), rest->block);
        pm_ir_phi_add(l->module, phi, undefined(l, i), skip);
        pm_ir_phi_remove(i, rest->block);
        pm_ir_phi_add(l->module, i, phi ? phi->result : NULL, join);
    }
    *out = (struct region_end){.block = join, .ended = flag_of(l, true)};
    if (end) {
        struct pm_ir_instr *ended = add_phi(l, join, pm_ir_type_bool(l->module));
        pm_ir_phi_add(l->module, ended, rest->ended, rest->block);
        pm_ir_phi_add(l->module, ended, flag_of(l, true), skip);
        out->ended = ended ? ended->result : NULL;
    }
    lead_to(l, rest->block, join);
    lead_to(l, join, end);
    pm_ir_block_move(join, rest->block);
}

/* What follows a selection in which some end: those that did not run it. */
static bool skip_rest(struct lowering *l, struct pm_ir_block *merge, struct pm_ir_def *ended,
                      struct pm_ir_block *end, struct region_end *out)
{
    const struct pm_ir_instr *start = pm_ir_block_start(merge);
    const struct pm_ir_block *to = start->opcode == SpvOpBranch && start == pm_ir_terminator(merge)
                                       ? pm_ir_block_of(start->operands[0].def)
                                       : NULL;
    *out = (struct region_end){.block = merge, .ended = ended};
    if ((to && to == end) || (!end && start->opcode == SpvOpReturn))
        return true;
    if (start->opcode == SpvOpUnreachable) {
        if (end)
            go_on(l, merge, end);
        else
            lead_to(l, merge, NULL);
        return true;
    }
    struct region_end rest;
    struct pm_ir_block *behind = pm_ir_block_split(l->module, merge, pm_ir_block_start(merge));
    struct pm_ir_block *join = behind ? pm_ir_block_create(l->module, behind) : NULL;
    struct pm_ir_builder b = {.module = l->module, .block = merge};
    if (!join)
        return pm_fail(l->error, PM_ERROR_MEMORY, "out of memory");
    pm_ir_build_selection_merge(&b, join);
    pm_ir_build_branch_conditional(&b, ended, join, behind);
    if (!lower_region(l, behind, end, &rest))
        return false;
    join_region(l, &rest, merge, join, end, out);
    return true;
}

/* A selection in which some end, from its header on; *out: where what follows it ends. */
static bool lower_selection(struct lowering *l, struct pm_ir_block *header, struct pm_ir_block *end,
                            struct region_end *out)
{
    struct pm_ir_block *merge = pm_ir_block_of(pm_ir_merge(header)->operands[0].def);
    struct region_end sides[2];
    move_unreachable(merge, header);
    for (uint32_t side = 0; side < 2; side++) {
        struct pm_ir_block *to = pm_ir_block_of(pm_ir_terminator(header)->operands[1 + side].def);
        sides[side] = (struct region_end){.block = header, .ended = flag_of(l, false)};
        if (to != merge && !lower_region(l, to, merge, &sides[side]))
            return false;
    }
    struct pm_ir_instr *ended = add_phi(l, merge, pm_ir_type_bool(l->module));
    for (uint32_t side = 0; side < 2; side++)
        pm_ir_phi_add(l->module, ended, sides[side].ended, sides[side].block);
    return ended ? skip_rest(l, merge, ended->result, end, out)
                 : pm_fail(l->error, PM_ERROR_MEMORY, "out of memory");
}

/* From a block up to `end`, which its parts lead to or, NULL, the function's end. */
static bool lower_region(struct lowering *l, struct pm_ir_block *block, struct pm_ir_block *end,
                         struct region_end *out)
{
    bool ok = ++l->depth <= MOST_DEPTH || pm_fail(l->error, PM_ERROR_UNSUPPORTED,
                                                  "it returns at more than %d places", MOST_DEPTH);
    *out = (struct region_end){.block = block, .ended = flag_of(l, false)};
    while (ok && !l->module->failed) {
        const struct pm_ir_instr *merge = pm_ir_merge(block), *last = pm_ir_terminator(block);
        out->block = block;
        if (merge && merge->mark) {
            ok = lower_selection(l, block, end, out);
            break;
        }
        struct pm_ir_block *to = merge ? pm_ir_block_of(merge->operands[0].def)
                                 : last->opcode == SpvOpBranch
                                     ? pm_ir_block_of(last->operands[0].def)
                                     : NULL;
        if (to && to == end)
            break;
        if (!to && !pm_ir_ends_invocation(last)) {
            ok = pm_fail(l->error, PM_ERROR_UNSUPPORTED, "%s beside what returns early",
                         pm_ir_opcode_name(last->opcode));
        } else if (!to) {
            out->ended = flag_of(l, true);
            if (end)
                go_on(l, block, end);
            else
                lead_to(l, block, NULL);
            break;
        }
        block = to;
    }
    l->depth--;
    return ok && !l->module->failed;
}

/* ---- all ---- */

static bool rewrite(const struct pm_words *words, struct pm_words *out, struct pm_error *error)
{
    char message[300];
    enum pm_optimizer_result result =
        pm_optimizer_run_flag("--ssa-rewrite", words->data, words->count, &out->data, &out->count,
                              message, sizeof message);
    return result == PM_OPTIMIZER_DONE ||
           (pm_stop_check(error) &&
            pm_fail(error, result == PM_OPTIMIZER_GAVE_UP ? PM_ERROR_UNSUPPORTED : PM_ERROR_MEMORY,
                    "SPIRV-Tools gave up where it returns early: %s", message));
}

static bool show_transposes(struct pm_words *words, bool *hidden, struct pm_error *error)
{
    struct pm_words shown = {0};
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, error);
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    const bool ok = module && pm_pass_apply(&passes, &pm_pass_show_transposes, hidden, error) &&
                    pm_ir_emit(module, &shown, error);
    pm_ir_module_destroy(module);
    pm_words_finish(words);
    *words = shown;
    return ok;
}

/* Variables become values again. Nothing else is done with the module. */
static bool remove_variables(struct pm_ir_module *module, struct pm_words *out,
                             struct pm_error *error)
{
    bool hidden;
    struct pm_words words = {0};
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    const bool ok = pm_pass_apply(&passes, &pm_pass_hide_transposes, &hidden, error) &&
                    pm_ir_emit(module, &words, error) && rewrite(&words, out, error) &&
                    (!hidden || show_transposes(out, &hidden, error));
    pm_words_finish(&words);
    return ok;
}

bool pm_early_returns_lower(struct pm_ir_function *function, struct pm_words *out,
                            struct pm_error *error)
{
    struct lowering l = {.module = function->module, .function = function, .error = error};
    struct region_end end;
    bool added = false;
    uint32_t construct;
    bool ok = pm_analysis_require(function, PM_ANALYSIS_STRUCTURE, error);
    *out = (struct pm_words){0};
    while (ok && (construct = find_breakable(&l)) != PM_NO_CONSTRUCT)
        ok = leave(&l, construct);
    if (ok) {
        mark_constructs(&l);
        ok = lower_region(&l, function->first_block, NULL, &end);
        pm_analysis_preserve(function, 0);
    }
    if (!ok)
        return l.module->failed ? pm_fail(error, PM_ERROR_MEMORY, "out of memory") : false;
    ok = pm_dominance_order(function, error) && pm_dominance_mend(function, &added, error) &&
         pm_transposes_keep(l.module, error) &&
         (added ? remove_variables(l.module, out, error) : pm_ir_emit(l.module, out, error));
    if (!ok)
        pm_words_finish(out);
    return ok;
}
