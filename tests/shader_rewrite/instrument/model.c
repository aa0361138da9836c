#include "tests/shader_rewrite/instrument/model.h"

#include "tests/shader_rewrite/instrument/model_run.h"

#include <stdlib.h>
#include <string.h>

struct model_type *model_type(struct model *model, uint32_t id)
{
    return &model->types[id];
}

static uint32_t constant_word(const struct model *model, uint32_t id)
{
    return model->values[model->value_at[id]];
}

static void add_type(struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands)
{
    struct model_type *type = &m->types[o[0]];
    type->opcode = opcode;
    switch (opcode) {
    case SpvOpTypeBool:
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        type->is_wide = opcode == SpvOpTypeInt && o[1] == 64;
        type->words = type->is_wide ? 2 : 1;
        type->is_signed = opcode == SpvOpTypeInt && o[2];
        if (opcode != SpvOpTypeBool && o[1] != 32 && !type->is_wide)
            fail_msg("the model knows 32-bit numbers and 64-bit integers only");
        break;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        type->element = o[1];
        type->words = m->types[o[1]].words * o[2];
        type->is_wide = m->types[o[1]].is_wide;
        break;
    case SpvOpTypeArray:
        type->element = o[1];
        type->words = m->types[o[1]].words * constant_word(m, o[2]);
        break;
    case SpvOpTypeRuntimeArray:
        type->element = o[1];
        break;
    case SpvOpTypeStruct:
        type->members = o + 1;
        for (uint32_t i = 1; i < operands; i++)
            type->words += m->types[o[i]].words;
        break;
    case SpvOpTypePointer:
        type->storage = o[1];
        type->element = o[2];
        type->words = 2; /* which memory, word in it */
        break;
    default:
        type->words = 1;
        break;
    }
}

static uint32_t new_value(struct model *m, uint32_t type, uint32_t id)
{
    m->type_of[id] = type;
    m->value_at[id] = m->value_words;
    m->value_words += m->types[type].words ? m->types[type].words : 1;
    if (m->value_words > MODEL_VALUE_WORDS)
        fail_msg("the module has too many values for the model");
    return m->value_at[id];
}

/* Of a specialization constant. */
static uint32_t specialized_value(const struct model *m, uint32_t id, uint32_t value)
{
    for (uint32_t i = 0; i < m->specialized_count; i++)
        if (m->spec_ids[id] == m->specialized[i].spec_id + 1)
            return m->specialized[i].value;
    return value;
}

static void add_constant(struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands)
{
    uint32_t at = new_value(m, o[0], o[1]);
    switch (opcode) {
    case SpvOpConstantTrue:
        m->values[at] = 1;
        break;
    case SpvOpConstant:
        memcpy(&m->values[at], o + 2, (operands - 2) * sizeof(uint32_t));
        break;
    case SpvOpSpecConstant:
        m->values[at] = specialized_value(m, o[1], o[2]);
        break;
    case SpvOpConstantComposite:
    case SpvOpSpecConstantComposite:
        for (uint32_t i = 2; i < operands; i++) {
            uint32_t words = m->types[m->type_of[o[i]]].words;
            memcpy(&m->values[at], &m->values[m->value_at[o[i]]], words * sizeof(uint32_t));
            at += words;
        }
        break;
    case SpvOpUndef:
        m->undefined[o[1]] = true;
        break;
    default:
        break; /* false, null: zeroes */
    }
}

static void add_variable(struct model *m, const uint32_t *o, uint32_t operands)
{
    uint32_t at = new_value(m, o[0], o[1]);
    uint32_t words = m->types[m->types[o[0]].element].words;
    if (o[2] == SpvStorageClassStorageBuffer) {
        m->values[at] = 1 + m->bindings[o[1]];
        return;
    }
    /* Memory 0 is the invocation's own. */
    m->values[at + 1] = m->own_words;
    m->own_words += words;
    if (m->own_words > MODEL_OWN_WORDS)
        fail_msg("the module has too large variables for the model");
    struct model_variable *variable = &m->variables[m->variable_count++];
    *variable = (struct model_variable){.id = o[1],
                                        .storage = o[2],
                                        .at = m->values[at + 1],
                                        .words = words,
                                        .initializer = operands > 3 ? o[3] : 0};
    if (m->variable_count == MODEL_VARIABLES)
        fail_msg("the module has too many variables for the model");
}

static void add_decoration(struct model *m, const uint32_t *o)
{
    if (o[1] == SpvDecorationBinding)
        m->bindings[o[0]] = o[2];
    else if (o[1] == SpvDecorationBuiltIn)
        m->builtins[o[0]] = o[2] + 1;
    else if (o[1] == SpvDecorationLocation)
        m->locations[o[0]] = o[2];
    else if (o[1] == SpvDecorationSpecId)
        m->spec_ids[o[0]] = o[2] + 1;
}

static void add_instruction(struct model *m, size_t at)
{
    uint32_t opcode = m->words[at] & 0xffff, operands = (m->words[at] >> 16) - 1;
    const uint32_t *o = m->words + at + 1;
    if (opcode == SpvOpDecorate)
        add_decoration(m, o);
    else if (opcode >= SpvOpTypeVoid && opcode <= SpvOpTypeFunction)
        add_type(m, opcode, o, operands);
    else if (opcode >= SpvOpUndef && opcode <= SpvOpUndef)
        add_constant(m, opcode, o, operands);
    else if (opcode >= SpvOpConstantTrue && opcode <= SpvOpSpecConstantComposite)
        add_constant(m, opcode, o, operands);
    else if (opcode == SpvOpVariable)
        add_variable(m, o, operands);
    else if (opcode == SpvOpLabel) {
        m->block_at[o[0]] = at;
        if (!m->entry)
            m->entry = o[0];
    } else if (opcode == SpvOpFunction) {
        if (m->in_function)
            fail_msg("the model knows one function only");
        m->in_function = true;
    } else if (opcode == SpvOpFunctionCall) {
        fail_msg("the model knows no calls");
    } else if (m->in_function && model_has_result(opcode)) {
        new_value(m, o[0], o[1]);
    }
}

struct model *model_create(const uint32_t *words, size_t count)
{
    return model_create_specialized(words, count, NULL, 0);
}

struct model *model_create_specialized(const uint32_t *words, size_t count,
                                       const struct model_constant *constants,
                                       uint32_t constant_count)
{
    struct model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    uint32_t bound = words[3];
    m->words = words;
    m->count = count;
    m->types = calloc(bound, sizeof *m->types);
    m->type_of = calloc(bound, sizeof *m->type_of);
    m->value_at = calloc(bound, sizeof *m->value_at);
    m->tainted = calloc(bound, sizeof *m->tainted);
    m->block_at = calloc(bound, sizeof *m->block_at);
    m->counts = calloc(bound, sizeof *m->counts);
    m->watch_of = calloc(bound, sizeof *m->watch_of);
    m->undefined = calloc(bound, sizeof *m->undefined);
    m->bindings = calloc(bound, sizeof *m->bindings);
    m->builtins = calloc(bound, sizeof *m->builtins);
    m->locations = calloc(bound, sizeof *m->locations);
    m->spec_ids = calloc(bound, sizeof *m->spec_ids);
    m->values = calloc(MODEL_VALUE_WORDS, sizeof *m->values);
    m->own = calloc(MODEL_OWN_WORDS, sizeof *m->own);
    m->own_tainted = calloc(MODEL_OWN_WORDS, sizeof *m->own_tainted);
    assert_true(m->values && m->own && m->own_tainted);
    m->specialized = constants;
    m->specialized_count = constant_count;
    m->value_words = 1;
    for (size_t at = 5; at < count; at += words[at] >> 16)
        add_instruction(m, at);
    m->specialized_count = 0;
    return m;
}

void model_destroy(struct model *m)
{
    for (uint32_t i = 0; i < m->variable_count; i++)
        free(m->variables[i].content);
    free(m->types);
    free(m->type_of);
    free(m->value_at);
    free(m->tainted);
    free(m->block_at);
    free(m->counts);
    free(m->watch_of);
    free(m->turn_loops);
    free(m->turn_counts);
    free(m->undefined);
    free(m->watches);
    free(m->bindings);
    free(m->builtins);
    free(m->locations);
    free(m->spec_ids);
    free(m->values);
    free(m->own);
    free(m->own_tainted);
    free(m);
}

void model_set_buffer(struct model *m, uint32_t binding, uint32_t *data, size_t words)
{
    m->buffers[binding] = data;
    m->buffer_words[binding] = words;
}

void model_set_addressed(struct model *m, uint64_t address, uint32_t *data, size_t words)
{
    m->address = address;
    m->addressed = data;
    m->addressed_words = words;
}

void model_set_outputs(struct model *m, uint32_t *data, uint32_t words_of_pixel)
{
    m->outputs = data;
    m->outputs_each = words_of_pixel;
}

void model_use_stand_ins(struct model *m)
{
    m->stand_ins = true;
    memset(m->undefined, 0, m->words[3]);
}

void model_set_push(struct model *m, const uint32_t *data, size_t words)
{
    assert_true(words <= 32);
    memcpy(m->push, data, words * sizeof(uint32_t));
}

/* ---- counting ---- */

void model_watch(struct model *m, const struct model_watched *watched, uint32_t count)
{
    m->watches = calloc(count + 1, sizeof *m->watches);
    assert_non_null(m->watches);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *first = &m->watch_of[watched[i].values[watched[i].count - 1]];
        m->watches[i] = (struct model_watch_state){.watched = watched[i], .next = *first};
        *first = i + 1;
    }
}

/* Zero is what each quad has that somebody counts of. */
static void count_quads(const struct model_instance *instance, struct model_writes *writes)
{
    bool zero = true, whole = true;
    for (uint32_t first = 0; first < 64; first += 4) {
        const uint64_t quad = UINT64_C(15) << first;
        if (!(instance->counted & quad))
            continue;
        zero = zero && (instance->zero & quad) == (instance->there & quad);
        whole = whole && (instance->there & quad) == quad;
    }
    writes->zero_writes += zero && whole;
    writes->undecided += zero && !whole;
}

static void count_instance(struct model *m, const struct model_instance *instance)
{
    if (instance->label >= MODEL_WATCHED) {
        struct model_watch_state *watch = &m->watches[instance->label - MODEL_WATCHED];
        watch->writes.writes += instance->lanes > 0;
        watch->writes.lanes += instance->lanes;
        if (instance->lanes > 0 && watch->watched.quad)
            count_quads(instance, &watch->writes);
        else
            watch->writes.zero_writes +=
                instance->lanes > 0 && instance->zero_lanes == instance->lanes;
        return;
    }
    struct model_counts *counts = instance->label >= MODEL_TURNS
                                      ? &m->turn_counts[instance->label - MODEL_TURNS]
                                      : &m->counts[instance->label];
    counts->subgroups++;
    if (instance->lanes == m->subgroup_lanes)
        counts->uniform_lanes += instance->lanes;
}

/* The subgroup is over: what its lanes did together becomes counts. */
static void flush(struct model *m)
{
    for (size_t i = 0; i < m->instance_count; i++)
        count_instance(m, &m->instances[i]);
    if (m->instance_count)
        memset(m->instance_at, 0, sizeof m->instance_at);
    m->instance_count = 0;
    if (m->subgroup_lanes)
        m->entry_counts.subgroups++;
    m->subgroup_lanes = 0;
}

/* What the subgroup's lanes do here in these iterations of the loops around. */
static struct model_instance *instance_of(struct model *m, uint32_t label)
{
    uint64_t key = label;
    for (size_t i = 0; i < m->loop_depth; i++)
        key = (key * 0x9e3779b97f4a7c15u) ^ (m->loops[i].header + (m->loops[i].iteration << 24));
    const uint32_t mask = 2 * MODEL_INSTANCES - 1;
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & mask;
    for (; m->instance_at[at]; at = (at + 1) & mask) {
        struct model_instance *instance = &m->instances[m->instance_at[at] - 1];
        if (instance->label == label && instance->key == key)
            return instance;
    }
    if (m->instance_count == MODEL_INSTANCES)
        fail_msg("a subgroup runs too long for the model");
    m->instances[m->instance_count] = (struct model_instance){.label = label, .key = key};
    m->instance_at[at] = (uint32_t)++m->instance_count;
    return &m->instances[m->instance_count - 1];
}

void model_watch_turns(struct model *m, const struct model_loop *loops, uint32_t count,
                       uint32_t each)
{
    m->turn_loops = calloc(count + 1, sizeof *m->turn_loops);
    m->turn_counts = calloc((size_t)count * each + 1, sizeof *m->turn_counts);
    assert_true(m->turn_loops && m->turn_counts);
    memcpy(m->turn_loops, loops, count * sizeof *loops);
    m->turn_loop_count = count;
    m->turns_each = each;
}

static void enter_turn(struct model *m, uint32_t loop, uint32_t number)
{
    if (number >= m->turns_each)
        return;
    const uint32_t at = loop * m->turns_each + number;
    m->turn_counts[at].lanes++;
    instance_of(m, MODEL_TURNS + at)->lanes++;
}

/* In which iteration of a loop the lane is, from 0 on; UINT32_MAX: in none. */
static uint32_t iteration_of(const struct model *m, uint32_t header)
{
    for (size_t i = 0; i < m->loop_depth; i++)
        if (m->loops[i].header == header)
            return (uint32_t)m->loops[i].iteration;
    return UINT32_MAX;
}

void model_enter(struct model *m, uint32_t label)
{
    m->counts[label].lanes++;
    instance_of(m, label)->lanes++;
    for (uint32_t l = 0; l < m->turn_loop_count; l++) {
        const uint32_t iteration = iteration_of(m, m->turn_loops[l].header);
        if (m->turn_loops[l].header == label && iteration == 0)
            enter_turn(m, l, 0);
        if (m->turn_loops[l].latch == label && iteration != UINT32_MAX)
            enter_turn(m, l, iteration + 1);
    }
}

struct model_counts model_turn(struct model *m, uint32_t loop, uint32_t number)
{
    flush(m);
    return m->turn_counts[loop * m->turns_each + number];
}

/* The leading components of a value, or all of it; +0 and -0 are mostly both zero. */
static bool is_zero(const struct model *m, uint32_t id, const struct model_watched *watched)
{
    const struct model_type *type = &m->types[m->type_of[id]];
    bool vector = type->opcode == SpvOpTypeVector;
    bool is_float = watched->as_float ||
                    m->types[vector ? type->element : m->type_of[id]].opcode == SpvOpTypeFloat;
    is_float = is_float && !watched->plus;
    for (uint32_t i = 0; i < (vector ? watched->components : 1); i++)
        if (m->values[m->value_at[id] + i] << (is_float ? 1 : 0))
            return false;
    return true;
}

void model_written(struct model *m, uint32_t id)
{
    for (uint32_t w = m->watch_of[id]; w; w = m->watches[w - 1].next) {
        struct model_watch_state *watch = &m->watches[w - 1];
        bool zero = true;
        if (m->helper && !watch->watched.quad)
            continue;
        for (uint32_t i = 0; i < watch->watched.count; i++) {
            uint32_t value = watch->watched.values[i];
            zero = zero && is_zero(m, value, &watch->watched);
            watch->writes.unknown |= m->tainted[value];
        }
        struct model_instance *instance = instance_of(m, MODEL_WATCHED + w - 1);
        const uint64_t lane = UINT64_C(1) << m->lane;
        instance->there |= lane;
        instance->zero |= zero ? lane : 0;
        if (m->helper)
            continue;
        instance->counted |= lane;
        instance->lanes++;
        instance->zero_lanes += zero;
    }
}

struct model_writes model_writes(struct model *m, uint32_t watched)
{
    flush(m);
    return m->watches[watched].writes;
}

void model_run(struct model *m, const struct model_invocation *invocation, uint64_t subgroup)
{
    if (subgroup != m->subgroup)
        flush(m);
    m->subgroup = subgroup;
    if (!invocation->helper) {
        m->subgroup_lanes++;
        m->entry_counts.lanes++;
    }
    model_execute(m, invocation);
}

struct model_counts model_block(struct model *m, uint32_t label)
{
    flush(m);
    return m->counts[label];
}

struct model_counts model_entry(struct model *m)
{
    flush(m);
    return m->entry_counts;
}

uint64_t model_votes(const struct model *m, bool outcome)
{
    return m->votes[outcome];
}

uint64_t model_killed(const struct model *m)
{
    return m->killed;
}
