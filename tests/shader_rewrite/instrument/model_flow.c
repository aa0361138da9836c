/* Which blocks of a function lead where, for what must be so whatever is run. */
#include "tests/shader_rewrite/instrument/model_run.h"

#include <stdlib.h>
#include <string.h>

bool model_ends_block(uint32_t opcode)
{
    switch (opcode) {
    case SpvOpBranch:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
    case SpvOpReturn:
    case SpvOpKill:
    case SpvOpTerminateInvocation:
    case SpvOpUnreachable:
        return true;
    default:
        return false;
    }
}

static size_t end_of(const struct model *m, uint32_t label)
{
    size_t at = m->block_at[label];
    while (!model_ends_block(m->words[at] & 0xffff))
        at += m->words[at] >> 16;
    return at;
}

/* Marks what is reached from a block without going through one. */
static void reach(const struct model *m, uint32_t label, uint32_t without, bool *reached)
{
    if (label == without || reached[label])
        return;
    reached[label] = true;
    const size_t at = end_of(m, label);
    const uint32_t *o = m->words + at + 1, operands = (m->words[at] >> 16) - 1;
    const uint32_t opcode = m->words[at] & 0xffff;
    if (opcode == SpvOpBranch)
        reach(m, o[0], without, reached);
    if (opcode == SpvOpBranchConditional) {
        reach(m, o[1], without, reached);
        reach(m, o[2], without, reached);
    }
    for (uint32_t i = 1; opcode == SpvOpSwitch && i < operands; i += 2)
        reach(m, o[i], without, reached);
}

static bool is_way_out(uint32_t opcode)
{
    return opcode == SpvOpReturn || opcode == SpvOpKill || opcode == SpvOpTerminateInvocation;
}

/* The label of the block that a value is computed in. */
static uint32_t block_of(const struct model *m, uint32_t value)
{
    uint32_t label = 0;
    for (size_t at = m->block_at[m->entry]; at < m->count; at += m->words[at] >> 16) {
        const uint32_t opcode = m->words[at] & 0xffff;
        if (opcode == SpvOpLabel)
            label = m->words[at + 1];
        else if (opcode != SpvOpFunctionEnd && model_has_result(opcode) &&
                 m->words[at + 2] == value)
            return label;
    }
    fail_msg("%%%u is computed in no block", value);
    return 0;
}

bool model_is_computed_once(const struct model *m, uint32_t value)
{
    const uint32_t label = block_of(m, value), bound = m->words[3];
    bool *reached = calloc(bound, sizeof *reached), once = true;
    assert_non_null(reached);
    reach(m, m->entry, label, reached);
    for (uint32_t l = 0; l < bound; l++)
        once = once && !(reached[l] && is_way_out(m->words[end_of(m, l)] & 0xffff));
    /* Whether it comes to itself again. */
    memset(reached, 0, bound * sizeof *reached);
    const size_t at = end_of(m, label);
    const uint32_t *o = m->words + at + 1, operands = (m->words[at] >> 16) - 1;
    const uint32_t opcode = m->words[at] & 0xffff;
    const uint32_t first = opcode == SpvOpBranch ? 0 : 1, step = opcode == SpvOpSwitch ? 2 : 1;
    const uint32_t last = opcode == SpvOpSwitch ? operands : opcode == SpvOpBranch ? 1 : 3;
    for (uint32_t i = first; i < last && !is_way_out(opcode) && opcode != SpvOpUnreachable;
         i += step)
        reach(m, o[i], 0, reached);
    once = once && !reached[label];
    free(reached);
    return once;
}

bool model_may_demote(const struct model *m)
{
    for (size_t at = 5; at < m->count; at += m->words[at] >> 16)
        if ((m->words[at] & 0xffff) == SpvOpDemoteToHelperInvocation)
            return true;
    return false;
}
