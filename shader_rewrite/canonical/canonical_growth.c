/*
 * Bounds on what SPIRV-Tools is asked to optimize: several of its passes take more than linear
 * time. The largest shaders of games have some 100,000 words. canonical_passes.h.
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_walk.h"

#define MAX_INLINED_WORDS (1u << 18)
#define MAX_FUNCTIONS 4096

struct callee {
    const struct pm_ir_function *function;
    uint64_t inlined; /* words with everything inlined, 0 not known yet */
};

static uint64_t list_words(const struct pm_ir_list *list)
{
    uint64_t words = 0;
    for (const struct pm_ir_instr *i = list->first; i; i = i->next)
        words += pm_ir_instr_words(i);
    return words;
}

/* Depth-first; the validator forbids recursion below an entry point, and MAX_FUNCTIONS bounds the
 * depth. A function's number is the mark of its OpFunction. */
static uint64_t inlined_words(struct callee *callees, uint32_t number)
{
    struct callee *callee = &callees[number];
    const struct pm_ir_function *function = callee->function;
    if (callee->inlined)
        return callee->inlined;
    uint64_t total = 1 + pm_ir_instr_words(function->function) + list_words(&function->parameters);
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        total += pm_ir_instr_words(b->label);
        for (const struct pm_ir_instr *i = b->body.first; i && total <= MAX_INLINED_WORDS;
             i = i->next) {
            total += pm_ir_instr_words(i);
            if (i->opcode == SpvOpFunctionCall)
                total += inlined_words(callees, pm_ir_operand_instr(i, 0)->mark);
        }
    }
    callee->inlined = total;
    return total;
}

static bool check(struct callee *callees, const struct pm_ir_function *entry,
                  struct pm_error *error)
{
    return inlined_words(callees, entry->function->mark) <= MAX_INLINED_WORDS ||
           pm_fail(error, PM_ERROR_LIMIT,
                   "with its functions inlined the entry point has more than %u words",
                   MAX_INLINED_WORDS);
}

static bool check_functions(struct pm_ir_module *module, struct pm_error *error)
{
    uint32_t count = 0;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        f->function->mark = count++;
    if (count > MAX_FUNCTIONS)
        return pm_fail(error, PM_ERROR_LIMIT,
                       "the module has %u functions; at most %d are optimized", count,
                       MAX_FUNCTIONS);
    struct callee *callees = pm_arena_zalloc(module->arena, count, sizeof(*callees));
    if (!callees)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u functions", count);
    for (const struct pm_ir_function *f = module->first_function; f; f = f->next)
        callees[f->function->mark].function = f;
    return check(callees, pm_canonical_function(module), error);
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    return pm_pass_result_of(check_functions(module, error), false);
}

const struct pm_pass pm_pass_check_growth = {"check growth", 0, PM_ANALYSIS_ALL, run};
