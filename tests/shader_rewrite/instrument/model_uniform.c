/* Uniform buffers of the model: a copy without gaps, read as the invocation's own memory is. */
#include "tests/shader_rewrite/instrument/model_run.h"

#include <stdlib.h>

struct layout {
    const struct model *model;
    const uint32_t *data;
    size_t words;
};

/* Of a type, or of a member; UINT32_MAX: it has none such. member UINT32_MAX: of the type. */
static uint32_t decoration(const struct model *m, uint32_t id, uint32_t member, uint32_t which)
{
    const uint32_t opcode = member == UINT32_MAX ? SpvOpDecorate : SpvOpMemberDecorate;
    const uint32_t behind = member == UINT32_MAX ? 2 : 3;
    for (size_t at = 5; at < m->count; at += m->words[at] >> 16) {
        const uint32_t *o = m->words + at;
        if ((o[0] & 0xffff) == opcode && o[1] == id && o[behind] == which &&
            (behind == 2 || o[2] == member))
            return o[0] >> 16 > behind + 1 ? o[behind + 1] : 0;
    }
    return UINT32_MAX;
}

static uint32_t needed(uint32_t value)
{
    if (value == UINT32_MAX || value % 4)
        fail_msg("a uniform buffer has no layout that the model knows");
    return value;
}

/* at: in bytes. Of a matrix the stride, and whether it is of rows. Returns what is behind. */
static uint32_t *unpack(const struct layout *l, uint32_t type, uint32_t at, uint32_t stride,
                        bool rows, uint32_t *to)
{
    const struct model *m = l->model;
    const struct model_type *t = &m->types[type];
    const uint32_t element = t->element, each = element ? m->types[element].words : 0;
    switch (t->opcode) {
    case SpvOpTypeStruct: {
        uint32_t member = 0;
        for (uint32_t words = 0; words < t->words; member++) {
            const uint32_t matrix = decoration(m, type, member, SpvDecorationMatrixStride);
            to = unpack(l, t->members[member],
                        at + needed(decoration(m, type, member, SpvDecorationOffset)), matrix,
                        decoration(m, type, member, SpvDecorationRowMajor) == 0, to);
            words += m->types[t->members[member]].words;
        }
        return to;
    }
    case SpvOpTypeArray: {
        /* An array of descriptors has no stride, and these are not next to one another. */
        const uint32_t count = t->words / each;
        const uint32_t step =
            count > 1 ? needed(decoration(m, type, UINT32_MAX, SpvDecorationArrayStride)) : 0;
        for (uint32_t i = 0; i < count; i++)
            to = unpack(l, element, at + i * step, stride, rows, to);
        return to;
    }
    case SpvOpTypeMatrix:
        needed(stride);
        for (uint32_t i = 0; i < t->words; i++) {
            const uint32_t column = i / each, row = i % each;
            const uint32_t from = rows ? row * stride + column * 4 : column * stride + row * 4;
            to = unpack(l, m->types[element].element, at + from, 0, false, to);
        }
        return to;
    case SpvOpTypeVector:
        for (uint32_t i = 0; i < t->words; i++)
            to = unpack(l, element, at + 4 * i, 0, false, to);
        return to;
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        if (t->is_wide || at / 4 >= l->words)
            fail_msg("byte %u of a uniform buffer is none that the model has", at);
        *to = l->data[at / 4];
        return to + 1;
    default:
        fail_msg("a uniform buffer has a type that the model does not know");
        return to;
    }
}

void model_set_uniform(struct model *m, uint32_t binding, const uint32_t *data, size_t words)
{
    const struct layout layout = {m, data, words};
    for (uint32_t i = 0; i < m->variable_count; i++) {
        struct model_variable *variable = &m->variables[i];
        if (variable->storage != SpvStorageClassUniform || m->bindings[variable->id] != binding)
            continue;
        free(variable->content);
        variable->content = calloc(variable->words + 1, sizeof *variable->content);
        assert_non_null(variable->content);
        unpack(&layout, m->types[m->type_of[variable->id]].element, 0, UINT32_MAX, false,
               variable->content);
    }
}
