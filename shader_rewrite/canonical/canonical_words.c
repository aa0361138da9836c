#include "shader_rewrite/canonical/canonical_words.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/ir/ir_opcodes.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

/* Bounds on what SPIRV-Tools is asked to optimize: several of its passes take more than linear
 * time. The largest shaders of games have some 100,000 words. */
#define MAX_INLINED_WORDS (1u << 18)
#define MAX_FUNCTIONS 4096

struct pm_walk pm_walk_begin(const struct pm_words *module)
{
    return (struct pm_walk){.words = module->data, .count = module->count};
}

bool pm_walk_next(struct pm_walk *walk)
{
    walk->at = walk->at ? walk->at + walk->length : PM_SPIRV_HEADER_WORDS;
    if (walk->at >= walk->count)
        return false;
    uint32_t first = walk->words[walk->at];
    walk->opcode = first & SpvOpCodeMask;
    walk->length = first >> SpvWordCountShift;
    return walk->length > 0 && walk->length <= walk->count - walk->at;
}

void pm_walk_result(const struct pm_walk *walk, uint32_t *type, uint32_t *result)
{
    uint32_t flags = pm_ir_opcode_find((uint16_t)walk->opcode)->flags;
    bool has_type = (flags & PM_IR_OP_HAS_TYPE) != 0;
    const uint32_t *operands = walk->words + walk->at + 1;
    *type = has_type ? operands[0] : 0;
    *result = flags & PM_IR_OP_HAS_RESULT ? operands[has_type ? 1 : 0] : 0;
}

bool pm_words_is_preamble(uint32_t opcode)
{
    switch (opcode) {
    case SpvOpCapability:
    case SpvOpExtension:
    case SpvOpExtInstImport:
    case SpvOpMemoryModel:
    case SpvOpEntryPoint:
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
        return true;
    default:
        return false;
    }
}

/* ---- select ---- */

/* SPIR-V literal strings are NUL-terminated inside the instruction (the validator checked). */
static const char *string_at(const struct pm_walk *walk, uint32_t word)
{
    return (const char *)(walk->words + walk->at + word);
}

static bool starts_with(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

static bool is_debug_set(const char *name)
{
    return starts_with(name, "NonSemantic.") || starts_with(name, "OpenCL.DebugInfo.");
}

static bool is_reflection(uint32_t decoration)
{
    return decoration == SpvDecorationHlslSemanticGOOGLE ||
           decoration == SpvDecorationUserTypeGOOGLE ||
           decoration == SpvDecorationHlslCounterBufferGOOGLE;
}

struct selection {
    uint32_t model;
    const char *name;
    uint32_t function;  /* of the entry point that is kept */
    bool *dropped;      /* by id: debug information's sets, and strings */
    bool other_strings; /* OpDecorateString for something else than reflection is there */
    bool keep_names;
};

static bool keep_annotation(const struct pm_walk *walk)
{
    const uint32_t *operands = walk->words + walk->at + 1;
    switch (walk->opcode) {
    case SpvOpDecorate: /* may have a string too */
    case SpvOpDecorateId:
    case SpvOpDecorateString:
        return !is_reflection(operands[1]);
    case SpvOpMemberDecorate:
    case SpvOpMemberDecorateString:
        return !is_reflection(operands[2]);
    default:
        return true;
    }
}

static bool keep_extension(const struct selection *selection, const char *name)
{
    if (strcmp(name, "SPV_GOOGLE_decorate_string") == 0)
        return selection->other_strings;
    return strcmp(name, "SPV_KHR_non_semantic_info") != 0 &&
           strcmp(name, "SPV_GOOGLE_hlsl_functionality1") != 0 &&
           strcmp(name, "SPV_GOOGLE_user_type") != 0;
}

static bool keep_instruction(const struct selection *selection, const struct pm_walk *walk)
{
    const uint32_t *operands = walk->words + walk->at + 1;
    switch (walk->opcode) {
    case SpvOpSourceContinued:
    case SpvOpSource:
    case SpvOpSourceExtension:
    case SpvOpString:
    case SpvOpLine:
    case SpvOpNoLine:
    case SpvOpModuleProcessed:
        return false;
    case SpvOpName:
    case SpvOpMemberName:
        return selection->keep_names && !selection->dropped[operands[0]];
    case SpvOpExtension:
        return keep_extension(selection, string_at(walk, 1));
    case SpvOpExtInstImport:
        return !selection->dropped[operands[0]];
    case SpvOpExtInst:
        return !selection->dropped[operands[2]];
    case SpvOpEntryPoint:
        return operands[0] == selection->model && strcmp(string_at(walk, 3), selection->name) == 0;
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
        return operands[0] == selection->function;
    default:
        return keep_annotation(walk);
    }
}

static void look_for_selection(const struct pm_words *module, struct selection *selection)
{
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        const uint32_t *operands = module->data + walk.at + 1;
        if (walk.opcode == SpvOpExtInstImport)
            selection->dropped[operands[0]] = is_debug_set(string_at(&walk, 2));
        else if (walk.opcode == SpvOpString)
            selection->dropped[operands[0]] = true;
        else if (walk.opcode == SpvOpEntryPoint && keep_instruction(selection, &walk))
            selection->function = operands[1];
        else if (walk.opcode == SpvOpDecorateString || walk.opcode == SpvOpMemberDecorateString)
            selection->other_strings |= keep_annotation(&walk);
        else if (walk.opcode == SpvOpFunction)
            break;
    }
}

bool pm_words_select(struct pm_words *module, enum pm_stage stage, const char *entry_point,
                     bool keep_names, uint32_t *function, struct pm_error *error)
{
    struct selection selection = {
        .model =
            stage == PM_STAGE_FRAGMENT ? SpvExecutionModelFragment : SpvExecutionModelGLCompute,
        .name = entry_point,
        .keep_names = keep_names,
        .dropped = calloc(module->data[3], sizeof(bool)),
    };
    if (!selection.dropped)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", module->data[3]);
    look_for_selection(module, &selection);
    if (!selection.function) {
        free(selection.dropped);
        return pm_fail(error, PM_ERROR_INPUT, "the module has no %s entry point \"%s\"",
                       stage == PM_STAGE_FRAGMENT ? "fragment" : "compute", entry_point);
    }
    size_t kept = PM_SPIRV_HEADER_WORDS;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        if (!keep_instruction(&selection, &walk))
            continue;
        memmove(module->data + kept, module->data + walk.at, walk.length * sizeof(uint32_t));
        kept += walk.length;
    }
    module->count = kept;
    *function = selection.function;
    free(selection.dropped);
    return true;
}

/* ---- growth by inlining ---- */

struct call_graph {
    const struct pm_words *module;
    size_t *function_at; /* by function id: offset of its OpFunction, 0 none */
    uint64_t *inlined;   /* by function id: words with everything inlined, 0 not known yet */
};

/* Depth-first; the validator forbids recursion below an entry point, and MAX_FUNCTIONS bounds the
 * depth. */
static uint64_t inlined_words(struct call_graph *graph, uint32_t function)
{
    if (graph->inlined[function])
        return graph->inlined[function];
    struct pm_walk walk = pm_walk_begin(graph->module);
    walk.at = graph->function_at[function];
    walk.length = 0;
    uint64_t total = 1;
    while (pm_walk_next(&walk) && walk.opcode != SpvOpFunctionEnd && total <= MAX_INLINED_WORDS) {
        total += walk.length;
        if (walk.opcode == SpvOpFunctionCall)
            total += inlined_words(graph, walk.words[walk.at + 3]);
    }
    graph->inlined[function] = total;
    return total;
}

bool pm_words_check_growth(const struct pm_words *module, uint32_t entry_function,
                           struct pm_error *error)
{
    uint32_t bound = module->data[3];
    struct call_graph graph = {.module = module,
                               .function_at = calloc(bound, sizeof(size_t)),
                               .inlined = calloc(bound, sizeof(uint64_t))};
    bool ok = graph.function_at && graph.inlined;
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", bound);
    size_t functions = 0;
    for (struct pm_walk walk = pm_walk_begin(module); ok && pm_walk_next(&walk);) {
        if (walk.opcode == SpvOpFunction) {
            graph.function_at[module->data[walk.at + 2]] = walk.at;
            functions++;
        }
    }
    if (ok && functions > MAX_FUNCTIONS)
        ok =
            pm_fail(error, PM_ERROR_LIMIT, "the module has %zu functions; at most %d are optimized",
                    functions, MAX_FUNCTIONS);
    if (ok && inlined_words(&graph, entry_function) > MAX_INLINED_WORDS)
        ok = pm_fail(error, PM_ERROR_LIMIT,
                     "with its functions inlined the entry point has more than %u words",
                     MAX_INLINED_WORDS);
    free(graph.function_at);
    free(graph.inlined);
    return ok;
}

uint32_t pm_words_entry_function(const struct pm_words *module)
{
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        if (walk.opcode == SpvOpEntryPoint)
            return module->data[walk.at + 2];
    }
    return 0;
}

bool pm_words_has_callees(const struct pm_words *module)
{
    uint32_t functions = 0;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);)
        functions += walk.opcode == SpvOpFunction;
    return functions > 1;
}

/* ---- returns ---- */

static void replace_terminator(struct pm_words *module, uint32_t function, uint32_t from,
                               uint32_t to)
{
    bool inside = false;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        if (walk.opcode == SpvOpFunction)
            inside = module->data[walk.at + 2] == function;
        else if (inside && walk.opcode == from)
            module->data[walk.at] = 1u << SpvWordCountShift | to;
    }
}

void pm_words_mask_returns(struct pm_words *module, uint32_t function, uint32_t *mask)
{
    static const uint32_t candidates[] = {SpvOpTerminateInvocation, SpvOpKill, SpvOpUnreachable};
    bool used[3] = {false};
    bool inside = false;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        if (walk.opcode == SpvOpFunction)
            inside = module->data[walk.at + 2] == function;
        for (size_t i = 0; inside && i < 3; i++)
            used[i] |= walk.opcode == candidates[i];
    }
    *mask = 0;
    for (size_t i = 0; i < 3 && !*mask; i++) {
        if (!used[i])
            *mask = candidates[i];
    }
    if (*mask)
        replace_terminator(module, function, SpvOpReturn, *mask);
}

void pm_words_unmask_returns(struct pm_words *module, uint32_t function, uint32_t mask)
{
    if (mask)
        replace_terminator(module, function, mask, SpvOpReturn);
}

bool pm_words_change(struct pm_words *module,
                     bool (*change)(struct pm_ir_module *module, struct pm_error *error),
                     struct pm_error *error)
{
    struct pm_words changed;
    struct pm_ir_module *ir = pm_ir_parse(module->data, module->count, error);
    bool ok = ir && change(ir, error) && pm_ir_emit(ir, &changed, error);
    pm_ir_module_destroy(ir);
    if (!ok)
        return false;
    pm_words_finish(module);
    *module = changed;
    return true;
}
