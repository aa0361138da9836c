/* One entry point, without what does not take part in what it computes. canonical_passes.h. */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_walk.h"

#include <string.h>

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
    const struct pm_ir_def *function; /* of the entry point that is kept */
    bool other_strings; /* OpDecorateString for something else than reflection is there */
    bool keep_names, keep_lines;
};

/* Debug information's sets, and strings: they are dropped, with what is made of them. */
static bool is_debug(const struct pm_ir_instr *instr)
{
    return instr && (instr->opcode == SpvOpString ||
                     (instr->opcode == SpvOpExtInstImport &&
                      is_debug_set(pm_ir_operand_text(&instr->operands[0]))));
}

static bool keeps_annotation(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpDecorate: /* may have a string too */
    case SpvOpDecorateId:
    case SpvOpDecorateString:
        return !is_reflection(pm_ir_operand_word(&instr->operands[1]));
    case SpvOpMemberDecorate:
    case SpvOpMemberDecorateString:
        return !is_reflection(pm_ir_operand_word(&instr->operands[2]));
    default:
        return true;
    }
}

static bool keeps_extension(const struct selection *selection, const char *name)
{
    if (strcmp(name, "SPV_GOOGLE_decorate_string") == 0)
        return selection->other_strings;
    return strcmp(name, "SPV_KHR_non_semantic_info") != 0 &&
           strcmp(name, "SPV_GOOGLE_hlsl_functionality1") != 0 &&
           strcmp(name, "SPV_GOOGLE_user_type") != 0;
}

static bool is_selected(const struct selection *selection, const struct pm_ir_instr *entry)
{
    return pm_ir_operand_word(&entry->operands[0]) == selection->model &&
           strcmp(pm_ir_operand_text(&entry->operands[2]), selection->name) == 0;
}

static bool keeps(const struct selection *selection, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpSourceContinued:
    case SpvOpSource:
    case SpvOpSourceExtension:
    case SpvOpModuleProcessed:
        return false;
    case SpvOpString:
    case SpvOpLine:
    case SpvOpNoLine:
        return selection->keep_lines;
    case SpvOpName:
    case SpvOpMemberName:
        return selection->keep_names && !is_debug(pm_ir_operand_instr(instr, 0));
    case SpvOpExtension:
        return keeps_extension(selection, pm_ir_operand_text(&instr->operands[0]));
    case SpvOpExtInstImport:
        return !is_debug(instr);
    case SpvOpExtInst:
        return !is_debug(pm_ir_operand_instr(instr, 0));
    case SpvOpEntryPoint:
        return is_selected(selection, instr);
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
        return instr->operands[0].def == selection->function;
    default:
        return keeps_annotation(instr);
    }
}

static void look_for_selection(const struct pm_ir_module *module, struct selection *selection)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ENTRY_POINT].first; i;
         i = i->next)
        if (i->opcode == SpvOpEntryPoint && is_selected(selection, i))
            selection->function = i->operands[1].def;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (i->opcode == SpvOpDecorateString || i->opcode == SpvOpMemberDecorateString)
            selection->other_strings |= keeps_annotation(i);
}

/* What goes is marked first: it is told by what else goes. */
static bool drop_the_rest(struct pm_ir_module *module, const struct selection *selection)
{
    bool changed = false;
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);)
        walk.instr->mark = !keeps(selection, walk.instr);
    for (struct pm_ir_walk walk = pm_ir_walk_begin(module); pm_ir_walk_next(&walk);) {
        if (!walk.instr->mark)
            continue;
        pm_ir_remove_alone(walk.instr);
        changed = true;
    }
    return changed;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    const struct pm_selection *wanted = context;
    const bool fragment = wanted->stage == PM_STAGE_FRAGMENT;
    struct selection selection = {
        .model = fragment ? SpvExecutionModelFragment : SpvExecutionModelGLCompute,
        .name = wanted->entry_point,
        .keep_names = wanted->keep_names,
        .keep_lines = wanted->keep_lines,
    };
    look_for_selection(module, &selection);
    const bool found = selection.function ||
                       pm_fail(error, PM_ERROR_INPUT, "the module has no %s entry point \"%s\"",
                               fragment ? "fragment" : "compute", wanted->entry_point);
    return pm_pass_result_of(found, found && drop_the_rest(module, &selection));
}

const struct pm_pass pm_pass_select = {"select", 0, PM_ANALYSIS_ALL, run};

struct pm_ir_function *pm_canonical_function(const struct pm_ir_module *module)
{
    const struct pm_ir_instr *entry = module->sections[PM_IR_SECTION_ENTRY_POINT].first;
    return entry ? pm_ir_function_of(module, pm_ir_operand_id(&entry->operands[1])) : NULL;
}
