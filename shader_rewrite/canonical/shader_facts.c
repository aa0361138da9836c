#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/ir/ir_module.h"

#include <string.h>

/* Of a function, in the mark of its OpFunction: whether its code is looked at. */
enum { NOT_REACHED, PENDING, VISITED };

static void look_at_modes(const struct pm_ir_module *module, const struct pm_ir_def *function,
                          struct pm_shader_facts *out)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_EXECUTION_MODE].first; i;
         i = i->next) {
        if (i->opcode != SpvOpExecutionMode || i->operands[0].def != function)
            continue;
        switch (pm_ir_operand_word(&i->operands[1])) {
        case SpvExecutionModeEarlyFragmentTests:
            out->early_tests = true;
            break;
        case SpvExecutionModeDepthReplacing:
        case SpvExecutionModeStencilRefReplacingEXT:
            out->exports_depth_or_mask = true;
            break;
        default:
            break;
        }
    }
}

static bool is_export(uint32_t builtin)
{
    return builtin == SpvBuiltInFragDepth || builtin == SpvBuiltInSampleMask ||
           builtin == SpvBuiltInFragStencilRefEXT;
}

/* Input attachments, of which the module does not say which are depth or stencil, and tile images.
 */
static void look_at_capabilities(const struct pm_ir_module *module, struct pm_shader_facts *out)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_CAPABILITY].first; i;
         i = i->next) {
        const uint32_t capability = pm_ir_operand_word(&i->operands[0]);
        out->reads_attachments |= capability == SpvCapabilityInputAttachment ||
                                  capability == SpvCapabilityTileImageDepthReadAccessEXT ||
                                  capability == SpvCapabilityTileImageStencilReadAccessEXT;
    }
}

/* A SampleMask that is an input is none; members of blocks are only ever vertex stages' builtins.
 */
static void look_at_builtins(const struct pm_ir_module *module, struct pm_shader_facts *out)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next) {
        if (i->opcode != SpvOpDecorate ||
            pm_ir_operand_word(&i->operands[1]) != SpvDecorationBuiltIn ||
            !is_export(pm_ir_operand_word(&i->operands[2])))
            continue;
        const struct pm_ir_instr *variable = pm_ir_operand_instr(i, 0);
        if (variable->opcode == SpvOpVariable &&
            pm_ir_operand_word(&variable->operands[0]) == SpvStorageClassOutput)
            out->exports_depth_or_mask = true;
    }
}

/* Memory that outlives the invocation, beyond its outputs. Unknown pointers count. */
static bool is_outside(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
    if (!type || type->opcode != SpvOpTypePointer)
        return true;
    switch (pm_ir_operand_word(&type->operands[0])) {
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassOutput:
    case SpvStorageClassWorkgroup:
        return false;
    default:
        return true;
    }
}

static void look_at_instruction(const struct pm_ir_instr *instr, struct pm_shader_facts *out)
{
    struct pm_ir_instr *first = pm_ir_operand_instr(instr, 0);
    switch (instr->opcode) {
    case SpvOpKill:
    case SpvOpTerminateInvocation:
    case SpvOpDemoteToHelperInvocation:
        out->uses_kill = true;
        break;
    case SpvOpImageWrite:
    case SpvOpTraceRayKHR:
    case SpvOpExecuteCallableKHR:
        out->has_side_effects = true;
        break;
    case SpvOpStore:
    case SpvOpCopyMemory:
    case SpvOpCopyMemorySized:
    case SpvOpCooperativeMatrixStoreKHR:
    case SpvOpCooperativeMatrixStoreNV:
    case SpvOpCooperativeMatrixStoreTensorNV:
    case SpvOpCooperativeVectorStoreNV:
        out->has_side_effects |= is_outside(first);
        break;
    case SpvOpFunctionCall:
        if (first->mark == NOT_REACHED)
            first->mark = PENDING;
        break;
    default:
        /* Every atomic but the load modifies what its first operand points to. */
        if (instr->opcode != SpvOpAtomicLoad && pm_ir_opcode_is(instr->opcode, PM_IR_OP_ATOMIC))
            out->has_side_effects |= is_outside(first);
        break;
    }
}

/* Visits what is pending; whether there was any. */
static bool visit(const struct pm_ir_module *module, struct pm_shader_facts *out)
{
    bool any = false;
    for (const struct pm_ir_function *f = module->first_function; f; f = f->next) {
        if (f->function->mark != PENDING)
            continue;
        f->function->mark = VISITED;
        any = true;
        for (const struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
                look_at_instruction(i, out);
    }
    return any;
}

static struct pm_ir_def *find_entry_function(const struct pm_ir_module *module, const char *name,
                                             enum pm_stage stage)
{
    const uint32_t model =
        stage == PM_STAGE_FRAGMENT ? SpvExecutionModelFragment : SpvExecutionModelGLCompute;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ENTRY_POINT].first; i;
         i = i->next)
        if (i->opcode == SpvOpEntryPoint && pm_ir_operand_word(&i->operands[0]) == model &&
            strcmp(pm_ir_operand_text(&i->operands[2]), name) == 0)
            return i->operands[1].def;
    return NULL;
}

bool pm_shader_stage(const struct pm_ir_module *module, const char *entry_point,
                     enum pm_stage *stage, struct pm_error *error)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ENTRY_POINT].first; i;
         i = i->next) {
        if (i->opcode != SpvOpEntryPoint ||
            strcmp(pm_ir_operand_text(&i->operands[2]), entry_point) != 0)
            continue;
        const uint32_t model = pm_ir_operand_word(&i->operands[0]);
        if (model != SpvExecutionModelFragment && model != SpvExecutionModelGLCompute)
            return pm_fail(error, PM_ERROR_UNSUPPORTED,
                           "entry point '%s' is neither a fragment nor a compute shader",
                           entry_point);
        *stage = model == SpvExecutionModelGLCompute ? PM_STAGE_COMPUTE : PM_STAGE_FRAGMENT;
        return true;
    }
    return pm_fail(error, PM_ERROR_INPUT, "no entry point '%s' in it", entry_point);
}

char *pm_canonical_entry_point(const uint32_t *words, size_t count, struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    const struct pm_ir_instr *entry =
        module ? module->sections[PM_IR_SECTION_ENTRY_POINT].first : NULL;
    char *name = entry ? strdup(pm_ir_operand_text(&entry->operands[2])) : NULL;
    if (module && !entry)
        pm_fail(error, PM_ERROR_UNSUPPORTED, "the canonical module has no entry point");
    else if (entry && !name)
        pm_fail(error, PM_ERROR_MEMORY, "no memory for an entry point's name");
    pm_ir_module_destroy(module);
    return name;
}

bool pm_shader_facts(const struct pm_ir_module *module, const char *entry_point,
                     enum pm_stage stage, struct pm_shader_facts *out, struct pm_error *error)
{
    *out = (struct pm_shader_facts){.stage = stage};
    const struct pm_ir_def *function = find_entry_function(module, entry_point, stage);
    if (!function)
        return pm_fail(error, PM_ERROR_INPUT, "the module has no entry point \"%s\" of this stage",
                       entry_point);
    look_at_modes(module, function, out);
    look_at_builtins(module, out);
    look_at_capabilities(module, out);
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        f->function->mark = NOT_REACHED;
    function->instr->mark = PENDING;
    while (visit(module, out))
        ;
    return true;
}
