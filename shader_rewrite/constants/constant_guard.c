#include "shader_rewrite/constants/constant_guard.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_structure.h"
#include "shader_rewrite/constants/constant_load.h"
#include "shader_rewrite/constants/graft.h"

struct guarding {
    struct pm_ir_module *module, *folded;
    struct pm_ir_function *function, *folded_function;
    struct pm_ir_instr *entry_point;
    struct pm_constant_words words;
    struct pm_arena *arena;
};

/* ---- the guard ---- */

/* Another number for each. A compiler that finds `x == 5` may take x for 5 from there on, and with
 * it fold what must stay for the device to compute (seen: lavapipe, nir_opt_if); it does not see
 * through this. */
static const uint32_t factor = 0x9e3779b1, salt = 0x5bd1e995;

static uint32_t mixed(uint32_t bits)
{
    return (bits ^ bits >> 16) * factor;
}

static struct pm_ir_def *build_word(struct pm_ir_builder *b, uint16_t opcode, struct pm_ir_def *x,
                                    uint32_t y)
{
    return pm_ir_build(b, opcode, pm_ir_type_int(b->module, 32, false),
                       PM_IR_ARGS(pm_ir_id(x), pm_ir_id(pm_ir_constant_uint(b->module, y))));
}

static struct pm_ir_def *build_mixed(struct pm_ir_builder *b, struct pm_ir_def *bits)
{
    struct pm_ir_def *high = build_word(b, SpvOpShiftRightLogical, bits, 16);
    struct pm_ir_def *both = pm_ir_build(b, SpvOpBitwiseXor, pm_ir_type_int(b->module, 32, false),
                                         PM_IR_ARGS(pm_ir_id(bits), pm_ir_id(high)));
    return build_word(b, SpvOpIMul, both, factor);
}

/* Whether all words that can be compared have their values: the bits in which any differs are
 * gathered, and compared once. */
static struct pm_ir_def *build_guard(struct guarding *g, struct pm_ir_builder *b,
                                     const struct pm_specialize_constants_info *info)
{
    struct pm_ir_def *all = NULL, *uint = pm_ir_type_int(g->module, 32, false);
    for (uint32_t i = 0; i < info->known_count; i++) {
        if (info->known[i].point.source != PM_CONSTANT_UNIFORM)
            continue;
        struct pm_ir_def *differs =
            pm_constant_load(b, pm_constant_words_of(&g->words, &info->known[i].point));
        if (info->known[i].value)
            differs = build_word(b, SpvOpBitwiseXor, differs, info->known[i].value);
        all =
            all ? pm_ir_build(b, SpvOpBitwiseOr, uint, PM_IR_ARGS(pm_ir_id(all), pm_ir_id(differs)))
                : differs;
    }
    struct pm_ir_def *value = build_mixed(b, build_word(b, SpvOpBitwiseXor, all, salt));
    return pm_ir_build(
        b, SpvOpIEqual, pm_ir_type_bool(g->module),
        PM_IR_ARGS(pm_ir_id(value), pm_ir_id(pm_ir_constant_uint(g->module, mixed(salt)))));
}

/* ---- the two versions ---- */

/* Whether a block ends the function in no construct: then it may go on to the common end. */
static bool ends_plainly(const struct pm_ir_function *function, const struct pm_ir_block *block)
{
    return pm_ir_terminator(block)->opcode == SpvOpReturn &&
           pm_structure(function)->innermost[block->index] == PM_NO_CONSTRUCT;
}

/* Of a function that is not changed yet: its one such block. NULL: none. */
static struct pm_ir_block *find_end(const struct pm_ir_function *function)
{
    for (struct pm_ir_block *b = function->first_block; b; b = b->next)
        if (ends_plainly(function, b))
            return b;
    return NULL;
}

static void lead_on(struct pm_ir_module *module, struct pm_ir_block *block,
                    struct pm_ir_block *merge)
{
    if (!block || !merge)
        return;
    pm_ir_remove(pm_ir_terminator(block));
    struct pm_ir_builder b = {module, block, NULL};
    pm_ir_build_branch(&b, merge);
}

static bool build(struct guarding *g, const struct pm_specialize_constants_info *info,
                  struct pm_error *error)
{
    struct pm_graft graft;
    struct pm_ir_block *entry = g->function->first_block, *last;
    struct pm_ir_block *end = find_end(g->function), *folded_end = find_end(g->folded_function);
    if (!pm_graft_init(&graft, g->module, g->folded, g->entry_point, g->arena))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (!pm_graft_globals(&graft, error))
        return false;
    struct pm_ir_block *original = pm_ir_block_split(g->module, entry, pm_ir_block_start(entry));
    if (end == entry)
        end = original;
    struct pm_ir_block *first = pm_graft_blocks(&graft, g->folded_function, entry, entry, &last);
    struct pm_ir_block *merge = pm_ir_block_create(g->module, g->function->last_block);
    if (graft.missing)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "it has more than one function");
    if (!original || !first || !merge)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory, or of ids");
    struct pm_ir_builder b = {g->module, entry, NULL};
    struct pm_ir_def *fits = build_guard(g, &b, info);
    pm_ir_build_selection_merge(&b, merge);
    pm_ir_build_branch_conditional(&b, fits, first, original);
    b.block = merge;
    pm_ir_build_instr(&b, end || folded_end ? SpvOpReturn : SpvOpUnreachable, NULL, NULL, 0);
    lead_on(g->module, end, merge);
    if (folded_end)
        lead_on(g->module, pm_ir_block_of(graft.map[folded_end->label->result->id]), merge);
    return true;
}

/* ---- from words to words ---- */

static bool read_modules(struct guarding *g, const uint32_t *words, size_t count,
                         const struct pm_words *folded, struct pm_error *error)
{
    enum pm_stage stage;
    const unsigned wanted = PM_ANALYSIS_CFG | PM_ANALYSIS_STRUCTURE | PM_ANALYSIS_POSTDOMINATORS;
    g->arena = pm_arena_create(0);
    if (!g->arena)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    g->module = pm_ir_parse(words, count, error);
    g->folded = g->module ? pm_ir_parse(folded->data, folded->count, error) : NULL;
    if (!g->folded)
        return false;
    g->function = pm_entry_function(g->module, &stage, error);
    g->folded_function = g->function ? pm_entry_function(g->folded, &stage, error) : NULL;
    g->entry_point = g->module->sections[PM_IR_SECTION_ENTRY_POINT].first;
    return g->folded_function && pm_analysis_require(g->function, wanted, error) &&
           pm_analysis_require(g->folded_function, wanted, error) &&
           pm_constant_words_find(g->module, g->function, g->arena, &g->words, error);
}

bool pm_constant_guard(const uint32_t *words, size_t count,
                       const struct pm_specialize_constants_info *info,
                       const struct pm_words *folded, struct pm_words *out, struct pm_error *error)
{
    struct guarding g = {0};
    const bool ok = read_modules(&g, words, count, folded, error) && build(&g, info, error) &&
                    pm_ir_emit(g.module, out, error);
    pm_ir_module_destroy(g.module);
    pm_ir_module_destroy(g.folded);
    pm_arena_destroy(g.arena);
    return ok;
}
