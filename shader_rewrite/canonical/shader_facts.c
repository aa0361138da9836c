#include "shader_rewrite/canonical/canonical_words.h"
#include "shader_rewrite/ir/spirv_tools.h"

#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

struct facts {
    const struct pm_words *module;
    struct pm_shader_facts *out;
    uint32_t function;       /* of the entry point */
    uint32_t *storage_class; /* by id of a pointer type or a pointer: storage class + 1; 0 none */
    size_t *function_at;     /* by function id: offset of its OpFunction; 0 none, or visited */
    uint32_t *pending;       /* functions still to visit */
    size_t pending_count;
};

static bool is_entry_point(const struct pm_walk *walk, const char *name, enum pm_stage stage)
{
    uint32_t model =
        stage == PM_STAGE_FRAGMENT ? SpvExecutionModelFragment : SpvExecutionModelGLCompute;
    const uint32_t *operands = walk->words + walk->at + 1;
    return walk->opcode == SpvOpEntryPoint && operands[0] == model &&
           strcmp((const char *)(operands + 2), name) == 0;
}

static void look_at_mode(struct facts *facts, const uint32_t *operands)
{
    if (operands[0] != facts->function)
        return;
    switch (operands[1]) {
    case SpvExecutionModeEarlyFragmentTests:
        facts->out->early_tests = true;
        break;
    case SpvExecutionModeDepthReplacing:
    case SpvExecutionModeStencilRefReplacingEXT:
        facts->out->exports_depth_or_mask = true;
        break;
    default:
        break;
    }
}

static bool is_export(uint32_t builtin)
{
    return builtin == SpvBuiltInFragDepth || builtin == SpvBuiltInSampleMask ||
           builtin == SpvBuiltInFragStencilRefEXT;
}

/* A SampleMask that is an input is none; members of blocks are only ever vertex stages' builtins.
 */
static bool look_for_exports(struct facts *facts)
{
    bool *exported = calloc(facts->module->data[3], sizeof(bool));
    if (!exported)
        return false;
    for (struct pm_walk walk = pm_walk_begin(facts->module); pm_walk_next(&walk);) {
        const uint32_t *operands = facts->module->data + walk.at + 1;
        if (walk.opcode == SpvOpDecorate && operands[1] == SpvDecorationBuiltIn &&
            is_export(operands[2]))
            exported[operands[0]] = true;
        else if (walk.opcode == SpvOpVariable && operands[2] == SpvStorageClassOutput &&
                 exported[operands[1]])
            facts->out->exports_depth_or_mask = true;
        else if (walk.opcode == SpvOpFunction)
            break;
    }
    free(exported);
    return true;
}

/* Memory that outlives the invocation, beyond its outputs. Unknown pointers count. */
static bool is_outside(const struct facts *facts, uint32_t pointer)
{
    uint32_t storage = facts->storage_class[pointer];
    if (storage == 0)
        return true;
    switch (storage - 1) {
    case SpvStorageClassFunction:
    case SpvStorageClassPrivate:
    case SpvStorageClassOutput:
    case SpvStorageClassWorkgroup:
        return false;
    default:
        return true;
    }
}

static void look_at_instruction(struct facts *facts, const struct pm_walk *walk)
{
    const uint32_t *operands = walk->words + walk->at + 1;
    struct pm_shader_facts *out = facts->out;
    switch (walk->opcode) {
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
    case SpvOpAtomicStore:
    case SpvOpAtomicFlagClear:
    case SpvOpCooperativeMatrixStoreNV:
        out->has_side_effects |= is_outside(facts, operands[0]);
        break;
    case SpvOpFunctionCall:
        if (facts->function_at[operands[2]])
            facts->pending[facts->pending_count++] = operands[2];
        break;
    default:
        /* Every atomic that returns a value but the load modifies what its first operand points to.
         */
        if ((walk->opcode >= SpvOpAtomicExchange && walk->opcode <= SpvOpAtomicXor) ||
            walk->opcode == SpvOpAtomicFlagTestAndSet || walk->opcode == SpvOpAtomicFAddEXT ||
            walk->opcode == SpvOpAtomicFMinEXT || walk->opcode == SpvOpAtomicFMaxEXT)
            out->has_side_effects |= is_outside(facts, operands[2]);
        break;
    }
}

/* Types, pointers and where the functions are. */
static void scan(struct facts *facts)
{
    for (struct pm_walk walk = pm_walk_begin(facts->module); pm_walk_next(&walk);) {
        const uint32_t *operands = facts->module->data + walk.at + 1;
        uint32_t type, result;
        pm_walk_result(&walk, &type, &result);
        if (walk.opcode == SpvOpTypePointer)
            facts->storage_class[operands[0]] = operands[1] + 1;
        else if (walk.opcode == SpvOpFunction)
            facts->function_at[operands[1]] = walk.at;
        else if (walk.opcode == SpvOpExecutionMode)
            look_at_mode(facts, operands);
        else if (type)
            facts->storage_class[result] = facts->storage_class[type];
    }
}

/* A call instruction adds its callee at most once while that is unvisited, so pending never
 * outgrows the calls. */
static void visit_calls(struct facts *facts)
{
    facts->pending[facts->pending_count++] = facts->function;
    while (facts->pending_count > 0) {
        uint32_t function = facts->pending[--facts->pending_count];
        struct pm_walk walk = pm_walk_begin(facts->module);
        walk.at = facts->function_at[function];
        if (!walk.at)
            continue;
        facts->function_at[function] = 0;
        while (pm_walk_next(&walk) && walk.opcode != SpvOpFunctionEnd)
            look_at_instruction(facts, &walk);
    }
}

static bool find_entry_point(const struct pm_words *module, const char *name, enum pm_stage stage,
                             uint32_t *function)
{
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        if (is_entry_point(&walk, name, stage)) {
            *function = module->data[walk.at + 2];
            return true;
        }
    }
    return false;
}

/* That ids are below the bound, the binary parser does not check. user: the bound. */
static spv_result_t check_ids(void *user, const spv_parsed_instruction_t *parsed)
{
    for (uint16_t i = 0; i < parsed->num_operands; i++) {
        switch (parsed->operands[i].type) {
        case SPV_OPERAND_TYPE_ID:
        case SPV_OPERAND_TYPE_TYPE_ID:
        case SPV_OPERAND_TYPE_RESULT_ID:
        case SPV_OPERAND_TYPE_MEMORY_SEMANTICS_ID:
        case SPV_OPERAND_TYPE_SCOPE_ID:
            if (parsed->words[parsed->operands[i].offset] >= *(const uint32_t *)user)
                return SPV_ERROR_INVALID_ID;
            break;
        default:
            break;
        }
    }
    return SPV_SUCCESS;
}

/* The binary parser checks lengths and strings, which with the ids is all that the walks here rely
 * on. */
static bool check_parse(const uint32_t *words, size_t count, struct pm_error *error)
{
    if (count < PM_SPIRV_HEADER_WORDS || words[0] != SpvMagicNumber)
        return pm_fail(error, PM_ERROR_INPUT, "no SPIR-V module of this machine's byte order");
    if (words[3] > kDefaultMaxIdBound)
        return pm_fail(error, PM_ERROR_LIMIT, "SPIR-V word 3: %u ids; at most %u are allowed",
                       words[3], kDefaultMaxIdBound);
    spv_context context = pm_spirv_context(SPV_ENV_UNIVERSAL_1_6);
    if (!context)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory in SPIRV-Tools");
    spv_diagnostic diagnostic = NULL;
    uint32_t bound = words[3];
    spv_result_t result =
        pm_spirv_parse(context, &bound, words, count, NULL, check_ids, &diagnostic);
    bool ok = result == SPV_SUCCESS;
    if (result == SPV_ERROR_OUT_OF_MEMORY)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory in SPIRV-Tools");
    else if (!ok)
        pm_fail(error, PM_ERROR_INPUT, "SPIR-V word %zu: %s",
                diagnostic ? diagnostic->position.index : 0,
                diagnostic ? diagnostic->error : "an id is not below the bound");
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return ok;
}

bool pm_shader_facts(const uint32_t *words, size_t count, const char *entry_point,
                     enum pm_stage stage, struct pm_shader_facts *out, struct pm_error *error)
{
    *out = (struct pm_shader_facts){.stage = stage};
    if (!check_parse(words, count, error))
        return false;
    const struct pm_words module = {(uint32_t *)words, count};
    struct facts facts = {.module = &module, .out = out};
    if (!find_entry_point(&module, entry_point, stage, &facts.function))
        return pm_fail(error, PM_ERROR_INPUT, "the module has no entry point \"%s\" of this stage",
                       entry_point);
    uint32_t bound = words[3];
    facts.storage_class = calloc(bound, sizeof *facts.storage_class);
    facts.function_at = calloc(bound, sizeof *facts.function_at);
    facts.pending = malloc((count + 1) * sizeof *facts.pending);
    bool ok = facts.storage_class && facts.function_at && facts.pending;
    if (ok) {
        scan(&facts);
        visit_calls(&facts);
        ok = look_for_exports(&facts);
    }
    if (!ok) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u ids", bound);
    }
    free(facts.storage_class);
    free(facts.function_at);
    free(facts.pending);
    return ok;
}
