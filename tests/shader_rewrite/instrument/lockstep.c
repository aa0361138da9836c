#include "tests/shader_rewrite/instrument/lockstep.h"

#include "tests/shader_rewrite/instrument/model_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An invocation that waits for its turn. */
struct lane {
    uint32_t *values, *own;
    bool *tainted, *own_tainted;
    bool helper;
    const struct model_invocation *invocation;
    uint32_t part;        /* by the ways taken: what it may run with */
    uint32_t label, from; /* where it is, 0: it is over; and where it came from */
};

struct lockstep {
    struct model *model;
    struct lane lanes[LOCKSTEP_LANES], caller; /* caller: what the model had before */
    uint32_t *order; /* by id of a label: larger runs first; 0: not reached */
    uint32_t ordered;
    struct lockstep_ways ways;
};

static uint32_t opcode_at(const struct model *m, size_t at)
{
    return m->words[at] & 0xffff;
}

/* ---- the structured order ---- */

/* Merge block, continue target, then where else it leads to: numbered in that order once all behind
 * them are. */
static void visit(struct lockstep *s, uint32_t label)
{
    const struct model *m = s->model;
    if (s->order[label])
        return;
    s->order[label] = UINT32_MAX; /* being visited */
    size_t at = m->block_at[label];
    for (; !model_ends_block(opcode_at(m, at)); at += m->words[at] >> 16) {
        if (opcode_at(m, at) == SpvOpSelectionMerge || opcode_at(m, at) == SpvOpLoopMerge)
            visit(s, m->words[at + 1]);
        if (opcode_at(m, at) == SpvOpLoopMerge)
            visit(s, m->words[at + 2]);
    }
    const uint32_t *o = m->words + at + 1, operands = (m->words[at] >> 16) - 1;
    if (opcode_at(m, at) == SpvOpBranch)
        visit(s, o[0]);
    if (opcode_at(m, at) == SpvOpBranchConditional) {
        visit(s, o[1]);
        visit(s, o[2]);
    }
    for (uint32_t i = 1; opcode_at(m, at) == SpvOpSwitch && i < operands; i += 2)
        visit(s, o[i]);
    s->order[label] = ++s->ordered;
}

/* ---- lanes ---- */

static void *copy(const void *data, size_t size)
{
    void *to = malloc(size + 1);
    assert_non_null(to);
    memcpy(to, data, size);
    return to;
}

struct lockstep *lockstep_create(struct model *m, const struct lockstep_ways *ways)
{
    struct lockstep *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->model = m;
    s->ways = *ways;
    s->order = calloc(m->words[3], sizeof *s->order);
    assert_non_null(s->order);
    visit(s, m->entry);
    for (uint32_t l = 0; l < LOCKSTEP_LANES; l++)
        s->lanes[l] = (struct lane){.values = copy(m->values, m->value_words * sizeof *m->values),
                                    .own = copy(m->own, m->own_words * sizeof *m->own),
                                    .tainted = copy(m->tainted, m->words[3]),
                                    .own_tainted = copy(m->own_tainted, m->own_words)};
    return s;
}

void lockstep_destroy(struct lockstep *s)
{
    for (uint32_t l = 0; l < LOCKSTEP_LANES; l++) {
        free(s->lanes[l].values);
        free(s->lanes[l].own);
        free(s->lanes[l].tainted);
        free(s->lanes[l].own_tainted);
    }
    free(s->order);
    free(s);
}

static void hold(const struct model *m, struct lane *lane)
{
    lane->values = m->values;
    lane->own = m->own;
    lane->tainted = m->tainted;
    lane->own_tainted = m->own_tainted;
    lane->helper = m->helper;
}

/* Makes the lane the model's running invocation. */
static void take_up(struct model *m, const struct lane *lane)
{
    m->values = lane->values;
    m->own = lane->own;
    m->tainted = lane->tainted;
    m->own_tainted = lane->own_tainted;
    m->helper = lane->helper;
}

/* The first lane of a mask from one on; LOCKSTEP_LANES: none. */
static uint32_t lane_from(uint64_t mask, uint32_t first)
{
    const uint64_t left = first < LOCKSTEP_LANES ? mask >> first : 0;
    return left ? first + (uint32_t)__builtin_ctzll(left) : LOCKSTEP_LANES;
}

#define EACH_LANE(l, mask)                                                                         \
    for (uint32_t l = lane_from(mask, 0); l < LOCKSTEP_LANES; l = lane_from(mask, l + 1))

/* ---- operations between lanes ---- */

static void set(struct lockstep *s, uint32_t lane, uint32_t id, uint32_t word, uint32_t value)
{
    s->lanes[lane].values[s->model->value_at[id] + word] = value;
    s->lanes[lane].tainted[id] = false;
}

/* Of the lanes of a mask those for which the condition is true. */
static uint64_t votes(struct lockstep *s, uint32_t condition, uint64_t mask)
{
    uint64_t true_of = 0;
    EACH_LANE(l, mask)
    {
        take_up(s->model, &s->lanes[l]);
        model_check_known(s->model, condition);
        if (s->model->values[s->model->value_at[condition]])
            true_of |= UINT64_C(1) << l;
    }
    return true_of;
}

static uint32_t count_bits(uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(bits);
}

/* Of a ballot that each lane has for itself: of 64 lanes at most. */
static void count_ballot(struct lockstep *s, const uint32_t *o, uint64_t mask)
{
    EACH_LANE(l, mask)
    {
        const struct lane *lane = &s->lanes[l];
        take_up(s->model, lane);
        model_check_known(s->model, o[4]);
        const uint32_t *ballot = &lane->values[s->model->value_at[o[4]]];
        const uint64_t bits = ballot[0] | (uint64_t)ballot[1] << 32;
        const uint64_t before = (UINT64_C(1) << l) - 1;
        if (ballot[2] || ballot[3])
            fail_msg("a ballot has bits that no lane has");
        if (o[3] == SpvGroupOperationReduce)
            set(s, l, o[1], 0, count_bits(bits));
        else if (o[3] == SpvGroupOperationExclusiveScan)
            set(s, l, o[1], 0, count_bits(bits & before));
        else
            fail_msg("the model does not count a ballot's bits by operation %u", o[3]);
    }
}

/* The first lane of such a ballot, and whether it has a lane. Where that is undefined it is made
 * up, of each lane: none may need it. */
static void look_in_ballot(struct lockstep *s, uint32_t opcode, const uint32_t *o, uint64_t mask)
{
    EACH_LANE(l, mask)
    {
        const struct lane *lane = &s->lanes[l];
        take_up(s->model, lane);
        model_check_known(s->model, o[3]);
        const uint32_t *ballot = &lane->values[s->model->value_at[o[3]]];
        const uint64_t bits = ballot[0] | (uint64_t)ballot[1] << 32;
        if (opcode == SpvOpGroupNonUniformBallotFindLSB) {
            set(s, l, o[1], 0, bits ? lane_from(bits, 0) : l);
            continue;
        }
        model_check_known(s->model, o[4]);
        const uint32_t index = lane->values[s->model->value_at[o[4]]];
        set(s, l, o[1], 0, index < LOCKSTEP_LANES ? (uint32_t)(bits >> index & 1) : l & 1);
    }
}

/* A boolean. Where no lane is it is made up, of each lane: none may need it. */
static void swap_in_quads(struct lockstep *s, const uint32_t *o, uint64_t mask)
{
    struct model *m = s->model;
    const uint64_t true_of = votes(s, o[3], mask);
    const uint32_t direction = m->values[m->value_at[o[4]]];
    if (m->types[o[0]].opcode != SpvOpTypeBool || direction > 1)
        fail_msg("the model swaps booleans in quads only, across and down");
    EACH_LANE(l, mask)
    {
        const uint32_t other = l ^ (direction + 1);
        set(s, l, o[1], 0, mask >> other & 1 ? (uint32_t)(true_of >> other & 1) : l >> 2 & 1);
    }
}

/* ---- quads ---- */

static bool is_derivative(uint32_t opcode)
{
    return opcode >= SpvOpDPdx && opcode <= SpvOpFwidthCoarse;
}

static float component_of(const struct lockstep *s, uint32_t lane, uint32_t id, uint32_t component)
{
    float value;
    memcpy(&value, &s->lanes[lane].values[s->model->value_at[id] + component], sizeof value);
    return value;
}

/* By how much what its quad has across or down is more than the lane's, towards the right or down.
 */
static float difference(struct lockstep *s, uint64_t mask, uint32_t lane, uint32_t step,
                        uint32_t id, uint32_t component)
{
    const uint32_t other = lane ^ step;
    if (!(mask >> other & 1)) {
        if (s->lanes[other].label)
            fail_msg("%%%u is looked at in a quad whose lanes are not all there", id);
        return 0;
    }
    return component_of(s, lane | step, id, component) -
           component_of(s, lane & ~step, id, component);
}

static float derive(struct lockstep *s, uint32_t opcode, uint64_t mask, uint32_t lane, uint32_t id,
                    uint32_t component)
{
    const float across = difference(s, mask, lane, 1, id, component),
                down = difference(s, mask, lane, 2, id, component);
    switch (opcode) {
    case SpvOpDPdx:
    case SpvOpDPdxFine:
    case SpvOpDPdxCoarse:
        return across;
    case SpvOpDPdy:
    case SpvOpDPdyFine:
    case SpvOpDPdyCoarse:
        return down;
    default:
        return fabsf(across) + fabsf(down);
    }
}

/* Behind a read with an implicit level of detail, or in a derivative's place. */
static void look_in_quads(struct lockstep *s, uint32_t opcode, const uint32_t *o, uint64_t mask)
{
    const struct model *m = s->model;
    const bool derivative = is_derivative(opcode);
    const uint32_t of = derivative ? o[2] : o[3];
    const uint32_t words = m->types[m->type_of[derivative ? o[1] : of]].words;
    EACH_LANE(l, mask)
    {
        uint32_t *result = &s->lanes[l].values[m->value_at[o[1]]];
        for (uint32_t i = 0; i < words; i++) {
            float found = derive(s, derivative ? opcode : SpvOpFwidth, mask, l, of, i), had;
            memcpy(&had, &result[derivative ? i : 0], sizeof had);
            found = derivative ? found : fmodf(found + had, 1);
            memcpy(&result[derivative ? i : 0], &found, sizeof found);
        }
        for (uint32_t step = 0; step < 4; step++)
            if (mask >> (l ^ step) & 1)
                s->lanes[l].tainted[o[1]] |= s->lanes[l ^ step].tainted[of];
    }
}

/* The sum, the most or the least of the lanes' numbers. */
static void reduce(struct lockstep *s, uint32_t opcode, const uint32_t *o, uint64_t voting,
                   uint64_t mask)
{
    uint32_t result = opcode == SpvOpGroupNonUniformUMin ? UINT32_MAX : 0;
    if (o[3] != SpvGroupOperationReduce)
        fail_msg("the model does not know operation %u over lanes", o[3]);
    EACH_LANE(l, voting)
    {
        const struct lane *lane = &s->lanes[l];
        take_up(s->model, lane);
        model_check_known(s->model, o[4]);
        const uint32_t value = lane->values[s->model->value_at[o[4]]];
        if (opcode == SpvOpGroupNonUniformIAdd)
            result += value;
        else if (opcode == SpvOpGroupNonUniformUMax ? value > result : value < result)
            result = value;
    }
    EACH_LANE(l, mask)
    set(s, l, o[1], 0, result);
}

static bool is_between_lanes(uint32_t opcode)
{
    return (opcode >= SpvOpGroupAll && opcode <= SpvOpGroupSMax) ||
           (opcode >= SpvOpGroupNonUniformElect && opcode <= SpvOpGroupNonUniformQuadSwap) ||
           (opcode >= SpvOpSubgroupBallotKHR && opcode <= SpvOpSubgroupReadInvocationKHR) ||
           opcode == SpvOpGroupNonUniformPartitionNV ||
           (opcode >= SpvOpGroupIAddNonUniformAMD && opcode <= SpvOpGroupSMaxNonUniformAMD) ||
           (opcode >= SpvOpSubgroupShuffleINTEL && opcode <= SpvOpSubgroupShuffleXorINTEL);
}

/* Of the lanes of a mask those that take part. */
static uint64_t voters(const struct lockstep *s, uint64_t mask)
{
    uint64_t voting = mask;
    EACH_LANE(l, mask)
    if (s->lanes[l].helper && !s->ways.helpers_vote)
        voting &= ~(UINT64_C(1) << l);
    return voting;
}

static void run_together(struct lockstep *s, uint32_t opcode, const uint32_t *o, uint64_t mask)
{
    struct model *m = s->model;
    const uint64_t voting = voters(s, mask);
    if (m->values[m->value_at[o[2]]] != SpvScopeSubgroup)
        fail_msg("the model knows operations of subgroups only");
    if (opcode == SpvOpGroupNonUniformElect) {
        EACH_LANE(l, mask)
        set(s, l, o[1], 0, l == lane_from(voting, 0));
    } else if (opcode == SpvOpGroupNonUniformBallot) {
        const uint64_t ballot = votes(s, o[3], voting);
        EACH_LANE(l, mask)
        for (uint32_t word = 0; word < 4; word++)
            set(s, l, o[1], word, word < 2 ? (uint32_t)(ballot >> 32 * word) : 0);
    } else if (opcode == SpvOpGroupNonUniformAll || opcode == SpvOpGroupNonUniformAny) {
        const uint64_t found = votes(s, o[3], voting);
        const bool outcome = opcode == SpvOpGroupNonUniformAll ? found == voting : found != 0;
        m->votes[outcome]++;
        EACH_LANE(l, mask)
        set(s, l, o[1], 0, outcome);
    } else if (opcode == SpvOpGroupNonUniformQuadSwap) {
        swap_in_quads(s, o, mask);
    } else if (opcode == SpvOpGroupNonUniformBallotBitCount) {
        count_ballot(s, o, mask);
    } else if (opcode == SpvOpGroupNonUniformBallotFindLSB ||
               opcode == SpvOpGroupNonUniformBallotBitExtract) {
        look_in_ballot(s, opcode, o, mask);
    } else if (opcode == SpvOpGroupNonUniformIAdd || opcode == SpvOpGroupNonUniformUMax ||
               opcode == SpvOpGroupNonUniformUMin) {
        reduce(s, opcode, o, voting, mask);
    } else {
        fail_msg("the model does not know the operation between lanes %u", opcode);
    }
}

/* ---- control flow ---- */

static void run_block(struct lockstep *s, uint32_t label, uint64_t mask)
{
    struct model *m = s->model;
    size_t first = m->block_at[label] + 2;
    EACH_LANE(l, mask)
    {
        size_t at = m->block_at[label] + 2;
        take_up(m, &s->lanes[l]);
        model_phis(m, &at, s->lanes[l].from);
        s->lanes[l].from = label;
        first = at;
    }
    bool ended = false;
    for (size_t at = first; !ended; at += m->words[at] >> 16) {
        if (is_between_lanes(opcode_at(m, at))) {
            run_together(s, opcode_at(m, at), m->words + at + 1, mask);
            continue;
        }
        EACH_LANE(l, mask)
        {
            take_up(m, &s->lanes[l]);
            ended = model_step(m, at, &s->lanes[l].label);
            s->lanes[l].helper = m->helper;
            if (ended && !s->lanes[l].label && m->returned)
                model_output(m, s->lanes[l].invocation);
            if (ended && s->ways.apart && opcode_at(m, at) != SpvOpBranch)
                s->lanes[l].part = (s->lanes[l].part * 31 + s->lanes[l].label) * 2654435761u;
        }
        if (s->ways.quads &&
            (is_derivative(opcode_at(m, at)) || opcode_at(m, at) == SpvOpImageSampleImplicitLod))
            look_in_quads(s, opcode_at(m, at), m->words + at + 1, mask);
    }
}

/* The block that is first of those where lanes are; 0: all are over. mask: the lanes there. */
static uint32_t next_block(const struct lockstep *s, uint64_t *mask)
{
    uint32_t label = 0, part = 0;
    *mask = 0;
    for (uint32_t l = 0; l < LOCKSTEP_LANES; l++) {
        const uint32_t at = s->lanes[l].label;
        if (!at || (at != label && label && s->order[at] < s->order[label]) ||
            (at == label && s->lanes[l].part != part))
            continue;
        *mask = at == label ? *mask : 0;
        *mask |= UINT64_C(1) << l;
        label = at;
        part = s->lanes[l].part;
    }
    return label;
}

void lockstep_run(struct lockstep *s, const struct model_invocation *invocations, uint64_t present)
{
    struct model *m = s->model;
    uint64_t mask;
    hold(m, &s->caller);
    for (uint32_t l = 0; l < LOCKSTEP_LANES; l++)
        s->lanes[l].label = 0;
    EACH_LANE(l, present)
    {
        take_up(m, &s->lanes[l]);
        s->lanes[l].invocation = invocations;
        model_start(m, invocations++);
        s->lanes[l].helper = m->helper;
        s->lanes[l].label = m->entry;
        s->lanes[l].from = 0;
        s->lanes[l].part = 0;
    }
    uint32_t label, steps = 0;
    while ((label = next_block(s, &mask))) {
        if (++steps > 1000000)
            fail_msg("a subgroup does not end");
        run_block(s, label, mask);
    }
    take_up(m, &s->caller);
}
