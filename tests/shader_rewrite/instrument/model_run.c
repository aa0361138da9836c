#include "tests/shader_rewrite/instrument/model_run.h"

#include <math.h>
#include <string.h>

bool model_has_result(uint32_t opcode)
{
    switch (opcode) {
    case SpvOpStore:
    case SpvOpBranch:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
    case SpvOpReturn:
    case SpvOpKill:
    case SpvOpUnreachable:
    case SpvOpTerminateInvocation:
    case SpvOpDemoteToHelperInvocation:
    case SpvOpSelectionMerge:
    case SpvOpLoopMerge:
    case SpvOpFunctionEnd:
    case SpvOpControlBarrier:
    case SpvOpMemoryBarrier:
    case SpvOpAtomicStore:
    case SpvOpNop:
    case SpvOpImageWrite:
        return false;
    default:
        return true;
    }
}

static float as_float(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint32_t as_word(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* ---- inputs ---- */

static void set_input(struct model *m, const struct model_variable *variable,
                      const struct model_invocation *in)
{
    uint32_t *to = &m->own[variable->at];
    if (variable->storage == SpvStorageClassPushConstant) {
        memcpy(to, m->push, (variable->words < 32 ? variable->words : 32) * sizeof *to);
        return;
    }
    if (variable->storage != SpvStorageClassInput)
        return;
    switch (m->builtins[variable->id]) {
    case SpvBuiltInGlobalInvocationId + 1:
        memcpy(to, in->global_id, sizeof in->global_id);
        break;
    case SpvBuiltInLocalInvocationId + 1:
        memcpy(to, in->local_id, sizeof in->local_id);
        break;
    case SpvBuiltInWorkgroupId + 1:
        memcpy(to, in->group_id, sizeof in->group_id);
        break;
    case SpvBuiltInNumWorkgroups + 1:
        memcpy(to, in->group_count, sizeof in->group_count);
        break;
    case SpvBuiltInLocalInvocationIndex + 1:
        *to = in->local_index;
        break;
    case SpvBuiltInFragCoord + 1:
        memcpy(to, in->frag_coord, sizeof in->frag_coord);
        break;
    case SpvBuiltInHelperInvocation + 1:
        *to = in->helper;
        break;
    default:
        if (!m->builtins[variable->id] && m->locations[variable->id] == 1 && variable->words == 1)
            *to = in->location1;
        else
            memset(&m->own_tainted[variable->at], 1, variable->words);
    }
}

static void start(struct model *m, const struct model_invocation *in)
{
    memset(m->own, 0, m->own_words * sizeof *m->own);
    memset(m->own_tainted, 0, m->own_words);
    memcpy(m->tainted, m->undefined, m->words[3]);
    m->helper = in->helper;
    m->loop_depth = 0;
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const struct model_variable *variable = &m->variables[i];
        if (variable->initializer)
            memcpy(&m->own[variable->at], &m->values[m->value_at[variable->initializer]],
                   variable->words * sizeof(uint32_t));
        set_input(m, variable, in);
        /* Other invocations write there too. */
        if (variable->storage == SpvStorageClassWorkgroup)
            memset(&m->own_tainted[variable->at], 1, variable->words);
    }
}

/* ---- memory ---- */

static uint32_t *memory(struct model *m, const uint32_t *pointer, uint32_t words, bool **taint)
{
    *taint = NULL;
    if (pointer[0] == 0) {
        if (pointer[1] + words > m->own_words)
            fail_msg("the model leaves its memory");
        *taint = &m->own_tainted[pointer[1]];
        return &m->own[pointer[1]];
    }
    uint32_t binding = pointer[0] - 1;
    if (!m->buffers[binding] || pointer[1] + words > m->buffer_words[binding])
        fail_msg("word %u of buffer %u is outside of what the model has", pointer[1], binding);
    return &m->buffers[binding][pointer[1]];
}

static void access_chain(struct model *m, uint32_t *result, const uint32_t *o, uint32_t operands)
{
    const uint32_t *base = &m->values[m->value_at[o[2]]];
    uint32_t type = m->types[m->type_of[o[2]]].element;
    result[0] = base[0];
    result[1] = base[1];
    for (uint32_t i = 3; i < operands; i++) {
        uint32_t index = m->values[m->value_at[o[i]]];
        if (m->types[type].opcode == SpvOpTypeStruct) {
            for (uint32_t member = 0; member < index; member++)
                result[1] += m->types[m->types[type].members[member]].words;
            type = m->types[type].members[index];
        } else {
            type = m->types[type].element;
            result[1] += index * m->types[type].words;
        }
    }
}

static void load(struct model *m, uint32_t *result, const uint32_t *o)
{
    uint32_t words = m->types[o[0]].words;
    if (m->types[m->types[m->type_of[o[2]]].element].opcode > SpvOpTypeStruct ||
        (m->types[o[0]].opcode >= SpvOpTypeImage &&
         m->types[o[0]].opcode <= SpvOpTypeSampledImage)) {
        m->tainted[o[1]] = true;
        return;
    }
    bool *taint;
    const uint32_t *from = memory(m, &m->values[m->value_at[o[2]]], words, &taint);
    memcpy(result, from, words * sizeof *result);
    for (uint32_t i = 0; taint && i < words; i++)
        m->tainted[o[1]] |= taint[i];
}

/* Taint is by value, and a vector of which one component is tainted is; extracting an untainted
 * component of an input goes through an access chain in canonical modules. */
static void store(struct model *m, const uint32_t *o)
{
    uint32_t words = m->types[m->type_of[o[1]]].words;
    bool *taint;
    uint32_t *to = memory(m, &m->values[m->value_at[o[0]]], words, &taint);
    memcpy(to, &m->values[m->value_at[o[1]]], words * sizeof *to);
    if (taint)
        memset(taint, m->tainted[o[1]], words);
}

static void atomic(struct model *m, uint32_t opcode, uint32_t *result, const uint32_t *o)
{
    bool *taint;
    uint32_t *at = memory(m, &m->values[m->value_at[o[2]]], 1, &taint);
    uint32_t operand = opcode == SpvOpAtomicIIncrement ? 1 : m->values[m->value_at[o[5]]];
    *result = *at;
    m->tainted[o[1]] = true; /* the order of invocations is not known */
    if (m->helper)
        return;
    if (opcode == SpvOpAtomicIAdd || opcode == SpvOpAtomicIIncrement)
        *at += operand;
    else if (opcode == SpvOpAtomicOr)
        *at |= operand;
    else if (opcode == SpvOpAtomicUMax)
        *at = operand > *at ? operand : *at;
    else
        fail_msg("the model does not know atomic %u", opcode);
}

/* ---- arithmetic, component by component ---- */

static bool compute_int(uint32_t opcode, uint32_t a, uint32_t b, uint32_t *out)
{
    const int32_t sa = (int32_t)a, sb = (int32_t)b;
    switch (opcode) {
    case SpvOpSNegate:
        *out = 0 - a;
        return true;
    case SpvOpNot:
        *out = ~a;
        return true;
    case SpvOpIAdd:
        *out = a + b;
        return true;
    case SpvOpISub:
        *out = a - b;
        return true;
    case SpvOpIMul:
        *out = a * b;
        return true;
    case SpvOpUDiv:
        *out = b ? a / b : 0;
        return true;
    case SpvOpUMod:
        *out = b ? a % b : 0;
        return true;
    case SpvOpSDiv:
        *out = sb && sb != -1 ? (uint32_t)(sa / sb) : 0 - a;
        return true;
    case SpvOpSRem:
    case SpvOpSMod: {
        int32_t r = sb && sb != -1 ? sa % sb : 0;
        if (opcode == SpvOpSMod && r && (r < 0) != (sb < 0))
            r += sb;
        *out = (uint32_t)r;
        return true;
    }
    case SpvOpShiftLeftLogical:
        *out = a << (b & 31);
        return true;
    case SpvOpShiftRightLogical:
        *out = a >> (b & 31);
        return true;
    case SpvOpShiftRightArithmetic:
        *out = (uint32_t)(sa >> (b & 31));
        return true;
    case SpvOpBitwiseAnd:
        *out = a & b;
        return true;
    case SpvOpBitwiseOr:
        *out = a | b;
        return true;
    case SpvOpBitwiseXor:
        *out = a ^ b;
        return true;
    case SpvOpBitcast:
        *out = a;
        return true;
    case SpvOpIEqual:
    case SpvOpLogicalEqual:
        *out = a == b;
        return true;
    case SpvOpINotEqual:
    case SpvOpLogicalNotEqual:
        *out = a != b;
        return true;
    case SpvOpUGreaterThan:
        *out = a > b;
        return true;
    case SpvOpUGreaterThanEqual:
        *out = a >= b;
        return true;
    case SpvOpULessThan:
        *out = a < b;
        return true;
    case SpvOpULessThanEqual:
        *out = a <= b;
        return true;
    case SpvOpSGreaterThan:
        *out = sa > sb;
        return true;
    case SpvOpSGreaterThanEqual:
        *out = sa >= sb;
        return true;
    case SpvOpSLessThan:
        *out = sa < sb;
        return true;
    case SpvOpSLessThanEqual:
        *out = sa <= sb;
        return true;
    case SpvOpLogicalOr:
        *out = a | b;
        return true;
    case SpvOpLogicalAnd:
        *out = a & b;
        return true;
    case SpvOpLogicalNot:
        *out = !a;
        return true;
    default:
        return false;
    }
}

static bool compute_float(uint32_t opcode, uint32_t wa, uint32_t wb, uint32_t *out)
{
    const float a = as_float(wa), b = as_float(wb);
    switch (opcode) {
    case SpvOpConvertFToU:
        *out = (uint32_t)a;
        return true;
    case SpvOpConvertFToS:
        *out = (uint32_t)(int32_t)a;
        return true;
    case SpvOpConvertUToF:
        *out = as_word((float)wa);
        return true;
    case SpvOpConvertSToF:
        *out = as_word((float)(int32_t)wa);
        return true;
    case SpvOpFNegate:
        *out = as_word(-a);
        return true;
    case SpvOpFAdd:
        *out = as_word(a + b);
        return true;
    case SpvOpFSub:
        *out = as_word(a - b);
        return true;
    case SpvOpFMul:
        *out = as_word(a * b);
        return true;
    case SpvOpFOrdEqual:
        *out = a == b;
        return true;
    case SpvOpFUnordNotEqual:
        *out = a != b;
        return true;
    case SpvOpFOrdLessThan:
        *out = a < b;
        return true;
    case SpvOpFOrdGreaterThan:
        *out = a > b;
        return true;
    case SpvOpFOrdLessThanEqual:
        *out = a <= b;
        return true;
    case SpvOpFOrdGreaterThanEqual:
        *out = a >= b;
        return true;
    default:
        return false;
    }
}

static void compute(struct model *m, uint32_t opcode, uint32_t *result, const uint32_t *o,
                    uint32_t operands)
{
    const uint32_t *a = operands > 2 ? &m->values[m->value_at[o[2]]] : NULL;
    const uint32_t *b = operands > 3 ? &m->values[m->value_at[o[3]]] : NULL;
    if (!a || operands > 4) {
        m->tainted[o[1]] = true;
        return;
    }
    for (uint32_t i = 2; i < operands; i++)
        m->tainted[o[1]] |= m->tainted[o[i]];
    for (uint32_t i = 0; i < m->types[o[0]].words; i++) {
        uint32_t second = b ? b[i] : 0;
        if (!compute_int(opcode, a[i], second, &result[i]) &&
            !compute_float(opcode, a[i], second, &result[i])) {
            m->tainted[o[1]] = true;
            return;
        }
    }
}

static void composite(struct model *m, uint32_t opcode, uint32_t *result, const uint32_t *o,
                      uint32_t operands)
{
    if (opcode == SpvOpCompositeConstruct) {
        for (uint32_t i = 2; i < operands; i++) {
            uint32_t words = m->types[m->type_of[o[i]]].words;
            memcpy(result, &m->values[m->value_at[o[i]]], words * sizeof *result);
            result += words;
            m->tainted[o[1]] |= m->tainted[o[i]];
        }
        return;
    }
    uint32_t at = m->value_at[o[2]], type = m->type_of[o[2]];
    for (uint32_t i = 3; i < operands; i++) {
        if (m->types[type].opcode == SpvOpTypeStruct)
            fail_msg("the model does not take structures apart");
        type = m->types[type].element;
        at += o[i] * m->types[type].words;
    }
    memcpy(result, &m->values[at], m->types[type].words * sizeof *result);
    m->tainted[o[1]] = m->tainted[o[2]];
}

static void shuffle(struct model *m, uint32_t *result, const uint32_t *o, uint32_t operands)
{
    uint32_t first = m->types[m->type_of[o[2]]].words;
    for (uint32_t i = 4; i < operands; i++) {
        if (o[i] == UINT32_MAX)
            continue;
        result[i - 4] =
            m->values[o[i] < first ? m->value_at[o[2]] + o[i] : m->value_at[o[3]] + o[i] - first];
    }
    m->tainted[o[1]] = m->tainted[o[2]] || m->tainted[o[3]];
}

static void select_value(struct model *m, uint32_t *result, const uint32_t *o)
{
    const uint32_t *condition = &m->values[m->value_at[o[2]]];
    bool by_component = m->types[m->type_of[o[2]]].words > 1;
    for (uint32_t i = 0; i < m->types[o[0]].words; i++)
        result[i] = m->values[m->value_at[condition[by_component ? i : 0] ? o[3] : o[4]] + i];
    m->tainted[o[1]] = m->tainted[o[2]] || m->tainted[o[3]] || m->tainted[o[4]];
}

static void run_value(struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands)
{
    uint32_t *result = &m->values[m->value_at[o[1]]];
    m->tainted[o[1]] = false;
    switch (opcode) {
    case SpvOpVariable:
        break;
    case SpvOpUndef:
        m->tainted[o[1]] = true;
        break;
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
        access_chain(m, result, o, operands);
        for (uint32_t i = 3; i < operands; i++)
            m->tainted[o[1]] |= m->tainted[o[i]];
        break;
    case SpvOpLoad:
        load(m, result, o);
        break;
    case SpvOpCopyObject:
        memcpy(result, &m->values[m->value_at[o[2]]], m->types[o[0]].words * sizeof *result);
        m->tainted[o[1]] = m->tainted[o[2]];
        break;
    case SpvOpAtomicIAdd:
    case SpvOpAtomicIIncrement:
    case SpvOpAtomicOr:
    case SpvOpAtomicUMax:
        atomic(m, opcode, result, o);
        break;
    case SpvOpArrayLength:
        *result = (uint32_t)m->buffer_words[m->values[m->value_at[o[2]]] - 1];
        break;
    case SpvOpCompositeConstruct:
    case SpvOpCompositeExtract:
        composite(m, opcode, result, o, operands);
        break;
    case SpvOpVectorShuffle:
        shuffle(m, result, o, operands);
        break;
    case SpvOpSelect:
        select_value(m, result, o);
        break;
    case SpvOpIsHelperInvocationEXT:
        *result = m->helper;
        break;
    default:
        compute(m, opcode, result, o, operands);
        break;
    }
}

/* ---- control flow ---- */

static void run_phis(struct model *m, size_t *at, uint32_t from)
{
    uint32_t temporary[64][16];
    size_t count = 0, first = *at;
    for (; (m->words[*at] & 0xffff) == SpvOpPhi; *at += m->words[*at] >> 16, count++) {
        const uint32_t *o = m->words + *at + 1;
        uint32_t operands = (m->words[*at] >> 16) - 1, words = m->types[o[0]].words;
        assert_true(count < 64 && words <= 15);
        for (uint32_t i = 2; i < operands; i += 2) {
            if (o[i + 1] != from)
                continue;
            memcpy(temporary[count], &m->values[m->value_at[o[i]]], words * sizeof(uint32_t));
            temporary[count][15] = m->tainted[o[i]];
        }
    }
    size_t phi = first;
    for (size_t i = 0; i < count; i++, phi += m->words[phi] >> 16) {
        const uint32_t *o = m->words + phi + 1;
        memcpy(&m->values[m->value_at[o[1]]], temporary[i],
               m->types[o[0]].words * sizeof(uint32_t));
        m->tainted[o[1]] = temporary[i][15] != 0;
        if (!m->helper)
            model_written(m, o[1]);
    }
}

/* Loops that are left and entered by going to a block. */
static void track_loops(struct model *m, uint32_t label)
{
    while (m->loop_depth > 0 && m->loops[m->loop_depth - 1].merge == label)
        m->loop_depth--;
    if (m->loop_depth > 0 && m->loops[m->loop_depth - 1].header == label) {
        m->loops[m->loop_depth - 1].iteration++;
        return;
    }
    for (size_t at = m->block_at[label]; (m->words[at] & 0xffff) != SpvOpFunctionEnd;
         at += m->words[at] >> 16) {
        uint32_t opcode = m->words[at] & 0xffff;
        if (opcode == SpvOpLabel && at != m->block_at[label])
            return;
        if (opcode == SpvOpLoopMerge) {
            assert_true(m->loop_depth < MODEL_LOOPS);
            m->loops[m->loop_depth].header = label;
            m->loops[m->loop_depth].merge = m->words[at + 1];
            m->loops[m->loop_depth++].iteration = 0;
            return;
        }
    }
}

static void check_known(const struct model *m, uint32_t id)
{
    if (m->tainted[id])
        fail_msg("a branch depends on %%%u, which the model cannot know", id);
}

static uint32_t switch_target(const struct model *m, const uint32_t *o, uint32_t operands)
{
    uint32_t selector = m->values[m->value_at[o[0]]];
    for (uint32_t i = 2; i + 1 < operands; i += 2) {
        if (o[i] == selector)
            return o[i + 1];
    }
    return o[1];
}

/* The label to go to; 0 when the invocation is over. */
static uint32_t run_block(struct model *m, size_t at)
{
    for (;; at += m->words[at] >> 16) {
        uint32_t opcode = m->words[at] & 0xffff, operands = (m->words[at] >> 16) - 1;
        const uint32_t *o = m->words + at + 1;
        switch (opcode) {
        case SpvOpBranch:
            return o[0];
        case SpvOpBranchConditional:
            check_known(m, o[0]);
            return m->values[m->value_at[o[0]]] ? o[1] : o[2];
        case SpvOpSwitch:
            check_known(m, o[0]);
            return switch_target(m, o, operands);
        case SpvOpKill:
        case SpvOpTerminateInvocation:
            m->killed++;
            return 0;
        case SpvOpReturn:
            return 0;
        case SpvOpUnreachable:
            fail_msg("the model came to OpUnreachable");
            return 0;
        case SpvOpDemoteToHelperInvocation:
            m->killed += !m->helper;
            m->helper = true;
            break;
        case SpvOpStore:
            if (!m->helper || m->values[m->value_at[o[0]]] == 0)
                store(m, o);
            break;
        default:
            if (!model_has_result(opcode))
                break;
            run_value(m, opcode, o, operands);
            if (!m->helper)
                model_written(m, o[1]);
            break;
        }
    }
}

void model_execute(struct model *m, const struct model_invocation *invocation)
{
    start(m, invocation);
    uint32_t label = m->entry, from = 0;
    for (uint32_t steps = 0; label; steps++) {
        if (steps > 100000)
            fail_msg("an invocation does not end");
        track_loops(m, label);
        if (!m->helper)
            model_enter(m, label);
        size_t at = m->block_at[label] + 2;
        run_phis(m, &at, from);
        from = label;
        label = run_block(m, at);
    }
}
