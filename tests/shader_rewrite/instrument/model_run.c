#include "tests/shader_rewrite/instrument/model_run.h"

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

/* ---- inputs ---- */

static void set_input(struct model *m, const struct model_variable *variable,
                      const struct model_invocation *in)
{
    uint32_t *to = &m->own[variable->at];
    if (variable->storage == SpvStorageClassPushConstant) {
        memcpy(to, m->push, (variable->words < 32 ? variable->words : 32) * sizeof *to);
        return;
    }
    if (variable->storage == SpvStorageClassUniform) {
        if (!variable->content)
            fail_msg("the model has no uniform buffer for %%%u", variable->id);
        memcpy(to, variable->content, variable->words * sizeof *to);
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
        else if (!model_stand_in_input(m, variable, in))
            memset(&m->own_tainted[variable->at], 1, variable->words);
    }
}

void model_start(struct model *m, const struct model_invocation *in)
{
    memset(m->own, 0, m->own_words * sizeof *m->own);
    memset(m->own_tainted, 0, m->own_words);
    memcpy(m->tainted, m->undefined, m->words[3]);
    m->helper = in->helper;
    m->lane = in->lane;
    m->loop_depth = 0;
    for (uint32_t i = 0; i < m->variable_count; i++) {
        const struct model_variable *variable = &m->variables[i];
        if (variable->initializer)
            memcpy(&m->own[variable->at], &m->values[m->value_at[variable->initializer]],
                   variable->words * sizeof(uint32_t));
        set_input(m, variable, in);
        /* Other invocations write there too. */
        if (variable->storage == SpvStorageClassWorkgroup && !m->stand_ins)
            memset(&m->own_tainted[variable->at], 1, variable->words);
    }
}

void model_output(struct model *m, const struct model_invocation *in)
{
    uint32_t at = 0;
    for (uint32_t i = 0; m->outputs && !m->helper && i < m->variable_count; i++) {
        const struct model_variable *variable = &m->variables[i];
        if (variable->storage != SpvStorageClassOutput)
            continue;
        if (at + variable->words > m->outputs_each)
            fail_msg("a pixel has more outputs than the model has room for");
        memcpy(m->outputs + (size_t)in->pixel * m->outputs_each + at, &m->own[variable->at],
               variable->words * sizeof *m->outputs);
        at += variable->words;
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
    if (pointer[0] == MODEL_ADDRESSED) {
        if ((size_t)pointer[1] + words > m->addressed_words)
            fail_msg("word %u is outside of what the address is of", pointer[1]);
        return &m->addressed[pointer[1]];
    }
    if (binding >= MODEL_BUFFERS || !m->buffers[binding] ||
        pointer[1] + words > m->buffer_words[binding])
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
        m->tainted[o[1]] = !m->stand_ins;
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

/* A buffer's device address becomes a pointer. */
static void point(struct model *m, uint32_t *result, const uint32_t *o)
{
    const uint32_t *address = &m->values[m->value_at[o[2]]];
    model_check_known(m, o[2]);
    if (!m->addressed || (address[0] | (uint64_t)address[1] << 32) != m->address)
        fail_msg("the model has no memory at 0x%x%08x", address[1], address[0]);
    result[0] = MODEL_ADDRESSED;
    result[1] = 0;
}

static uint32_t combine(uint32_t opcode, uint32_t at, uint32_t operand)
{
    switch (opcode) {
    case SpvOpAtomicIAdd:
    case SpvOpAtomicIIncrement:
        return at + operand;
    case SpvOpAtomicOr:
        return at | operand;
    case SpvOpAtomicUMax:
        return operand > at ? operand : at;
    default:
        fail_msg("the model does not know atomic %u", opcode);
        return 0;
    }
}

/* What is there before hangs on the order of invocations, which is not known; of counters it is not
 * tainted all the same, since their sum does not. */
static void atomic(struct model *m, uint32_t opcode, uint32_t *result, const uint32_t *o)
{
    const uint32_t *pointer = &m->values[m->value_at[o[2]]], words = m->types[o[0]].words;
    bool *taint;
    uint32_t *at = memory(m, pointer, words, &taint);
    const uint32_t one[2] = {1, 0};
    const uint32_t *operand = opcode == SpvOpAtomicIIncrement ? one : &m->values[m->value_at[o[5]]];
    memcpy(result, at, words * sizeof *result);
    m->tainted[o[1]] = pointer[0] != MODEL_ADDRESSED;
    if (pointer[0] == MODEL_ADDRESSED) {
        model_check_known(m, o[2]);
        model_check_known(m, o[5]);
    }
    if (m->helper)
        return;
    at[0] = combine(opcode, at[0], operand[0]);
    if (words > 1) {
        if (opcode != SpvOpAtomicIAdd)
            fail_msg("the model does not know atomic %u of 64 bits", opcode);
        at[1] += operand[1] + (at[0] < operand[0]);
    }
}

/* OpAtomicCompareExchange. */
static void exchange(struct model *m, uint32_t *result, const uint32_t *o)
{
    const uint32_t words = m->types[o[0]].words;
    const uint32_t *value = &m->values[m->value_at[o[6]]], *of = &m->values[m->value_at[o[7]]];
    bool *taint;
    uint32_t *at = memory(m, &m->values[m->value_at[o[2]]], words, &taint);
    if (at < m->addressed || at >= m->addressed + m->addressed_words)
        fail_msg("the model exchanges in what has an address only");
    model_check_known(m, o[6]);
    model_check_known(m, o[7]);
    memcpy(result, at, words * sizeof *result);
    if (!m->helper && memcmp(at, of, words * sizeof *at) == 0)
        memcpy(at, value, words * sizeof *at);
}

static void run_value(struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands)
{
    uint32_t *result = &m->values[m->value_at[o[1]]];
    m->tainted[o[1]] = false;
    switch (opcode) {
    case SpvOpVariable:
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
    case SpvOpAtomicIAdd:
    case SpvOpAtomicIIncrement:
    case SpvOpAtomicOr:
    case SpvOpAtomicUMax:
        atomic(m, opcode, result, o);
        break;
    case SpvOpAtomicCompareExchange:
        exchange(m, result, o);
        break;
    case SpvOpArrayLength:
        *result = (uint32_t)m->buffer_words[m->values[m->value_at[o[2]]] - 1];
        break;
    case SpvOpIsHelperInvocationEXT:
        *result = m->helper;
        break;
    case SpvOpBitcast:
        if (m->types[o[0]].opcode == SpvOpTypePointer) {
            point(m, result, o);
            break;
        }
        model_compute(m, opcode, o, operands);
        break;
    default:
        model_compute(m, opcode, o, operands);
        break;
    }
}

/* ---- control flow ---- */

void model_phis(struct model *m, size_t *at, uint32_t from)
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
        if (m->watches)
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

void model_check_known(const struct model *m, uint32_t id)
{
    if (m->tainted[id])
        fail_msg("what runs depends on %%%u, which the model cannot know", id);
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

bool model_step(struct model *m, size_t at, uint32_t *next)
{
    const uint32_t opcode = m->words[at] & 0xffff, operands = (m->words[at] >> 16) - 1;
    const uint32_t *o = m->words + at + 1;
    switch (opcode) {
    case SpvOpBranch:
        *next = o[0];
        return true;
    case SpvOpBranchConditional:
        model_check_known(m, o[0]);
        *next = m->values[m->value_at[o[0]]] ? o[1] : o[2];
        return true;
    case SpvOpSwitch:
        model_check_known(m, o[0]);
        *next = switch_target(m, o, operands);
        return true;
    case SpvOpKill:
    case SpvOpTerminateInvocation:
        m->killed++;
        *next = 0;
        m->returned = false;
        return true;
    case SpvOpReturn:
        *next = 0;
        m->returned = true;
        return true;
    case SpvOpUnreachable:
        fail_msg("the model came to OpUnreachable");
        return true;
    case SpvOpDemoteToHelperInvocation:
        m->killed += !m->helper;
        m->helper = true;
        return false;
    case SpvOpStore:
        if (!m->helper || m->values[m->value_at[o[0]]] == 0)
            store(m, o);
        return false;
    default:
        if (!model_has_result(opcode))
            return false;
        run_value(m, opcode, o, operands);
        if (m->watches)
            model_written(m, o[1]);
        return false;
    }
}

/* The label to go to; 0 when the invocation is over. */
static uint32_t run_block(struct model *m, size_t at)
{
    uint32_t next = 0;
    while (!model_step(m, at, &next))
        at += m->words[at] >> 16;
    return next;
}

void model_execute(struct model *m, const struct model_invocation *invocation)
{
    model_start(m, invocation);
    uint32_t label = m->entry, from = 0;
    for (uint32_t steps = 0; label; steps++) {
        if (steps > 100000)
            fail_msg("an invocation does not end");
        track_loops(m, label);
        if (!m->helper)
            model_enter(m, label);
        size_t at = m->block_at[label] + 2;
        model_phis(m, &at, from);
        from = label;
        label = run_block(m, at);
    }
    if (m->returned)
        model_output(m, invocation);
}
