/* Numbers for what the model cannot know (model_use_stand_ins). */
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
        return i >= 4;
    default:
        return false;
    }
}

/* Booleans, small integers and small floats: so that branches go both ways. Images are all one. */
static void fill(const struct model *m, uint32_t type, uint32_t hash, uint32_t *to)
{
    const uint32_t element = m->types[type].element;
    const float number = (float)(hash >> 20) / 256 - 8;
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

bool model_stand_in(struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands)
{
    uint32_t hash = mix(0x504d, opcode);
    if (!m->stand_ins)
        return false;
    m->tainted[o[1]] = false;
    for (uint32_t i = 2; i < operands; i++) {
        if (is_literal(opcode, i)) {
            hash = mix(hash, o[i]);
            continue;
        }
        const uint32_t words = m->types[m->type_of[o[i]]].words;
        m->tainted[o[1]] |= m->tainted[o[i]];
        for (uint32_t w = 0; w < words; w++)
            hash = mix(hash, m->values[m->value_at[o[i]] + w]);
    }
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
