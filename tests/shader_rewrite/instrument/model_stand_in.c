/* Numbers for what the model cannot know (model_use_stand_ins): functions as the processor has
 * them, and made up ones. */
#include "tests/shader_rewrite/instrument/model_run.h"

#include <string.h>

static uint32_t mix(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

/* Whether operand i of a value, its type being operand 0, is no id of a value. */
static bool is_literal(uint32_t opcode, uint32_t i)
{
    switch (opcode) {
    case SpvOpExtInst:
        return i == 2 || i == 3;
    case SpvOpImageSampleImplicitLod:
    case SpvOpImageSampleExplicitLod:
    case SpvOpImageFetch:
        return i == 4;
    case SpvOpCompositeInsert:
    case SpvOpCompositeExtract:
        return i >= 4;
    default:
        return false;
    }
}

/* Booleans, small integers and floats from 0 to 1, of which some are 0: so that branches go both
 * ways. Images are all one. */
static void fill(const struct model *m, uint32_t type, uint32_t hash, uint32_t *to)
{
    const uint32_t element = m->types[type].element;
    const float number = hash >> 30 ? (float)(hash >> 18 & 0xfff) / 4096 : 0;
    switch (m->types[type].opcode) {
    case SpvOpTypeBool:
        *to = hash >> 31;
        break;
    case SpvOpTypeInt:
        *to = hash >> 28;
        break;
    case SpvOpTypeFloat:
        memcpy(to, &number, sizeof number);
        break;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
        for (uint32_t i = 0; i < m->types[type].words / m->types[element].words; i++)
            fill(m, element, mix(hash, i), to + (size_t)i * m->types[element].words);
        break;
    case SpvOpTypeImage:
    case SpvOpTypeSampledImage:
        *to = 0;
        break;
    default:
        fail_msg("the model has no stand-ins for type %%%u", type);
        break;
    }
}

/* What comes of textures, and of other lanes where each runs for itself. */
static bool may_be_made_up(uint32_t opcode)
{
    switch (opcode) {
    case SpvOpSampledImage:
    case SpvOpImage:
    case SpvOpImageFetch:
    case SpvOpImageSampleImplicitLod:
    case SpvOpImageSampleExplicitLod:
        return true;
    default:
        return opcode >= SpvOpDPdx && opcode <= SpvOpFwidthCoarse;
    }
}

/* Of both zeroes, which may stand for each other, the same comes. */
static uint32_t mix_value(const struct model *m, uint32_t id, uint32_t hash)
{
    const struct model_type *type = &m->types[m->type_of[id]];
    const uint32_t scalar = type->opcode == SpvOpTypeVector ? type->element : m->type_of[id];
    for (uint32_t w = 0; w < type->words; w++) {
        const uint32_t word = m->values[m->value_at[id] + w];
        const bool zero = m->types[scalar].opcode == SpvOpTypeFloat && word << 1 == 0;
        hash = mix(hash, zero ? 0 : word);
    }
    return hash;
}

bool model_stand_in(struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands)
{
    uint32_t hash = mix(0x504d, opcode);
    if (!m->stand_ins)
        return false;
    m->tainted[o[1]] = false;
    for (uint32_t i = 2; i < operands; i++) {
        m->tainted[o[1]] |= !is_literal(opcode, i) && m->tainted[o[i]];
        hash = is_literal(opcode, i) ? mix(hash, o[i]) : mix_value(m, o[i], hash);
    }
    if (model_function(m, opcode, o, operands, &m->values[m->value_at[o[1]]]))
        return true;
    if (!may_be_made_up(opcode))
        fail_msg("the model does not know what instruction %u of %%%u gives", opcode, o[1]);
    fill(m, o[0], hash, &m->values[m->value_at[o[1]]]);
    return true;
}

bool model_stand_in_input(struct model *m, const struct model_variable *variable,
                          const struct model_invocation *in)
{
    uint32_t hash = mix(m->locations[variable->id], m->builtins[variable->id]);
    if (!m->stand_ins)
        return false;
    for (int i = 0; i < 3; i++)
        hash = mix(hash, in->global_id[i]);
    fill(m, m->types[m->type_of[variable->id]].element, hash, &m->own[variable->at]);
    return true;
}
