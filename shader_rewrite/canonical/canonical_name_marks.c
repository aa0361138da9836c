/* Marks values before the optimizer runs. canonical_names.h. */
#include "shader_rewrite/canonical/canonical_names.h"

#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_WORDS 4u
#define NO_LINE_WORDS 1u
#define STRING_WORDS 3u

/* By id; what is 0 is not. */
struct marking {
    const struct pm_words *module;
    struct pm_value_names *names;
    size_t *name;      /* offset of the text of its OpName */
    bool *is_variable; /* of a function or an invocation, or a parameter */
    bool *is_value;    /* can have a line: made by an instruction in a block, and no phi */
    uint32_t *points;  /* of a type: what it points to; of a variable: its type */
    uint32_t *number;  /* of a constant: its value */
    size_t *chain;     /* of a pointer to a member: offset of its OpAccessChain */
    uint32_t *line;    /* of a value: the name that it is to have */
    bool ok;
};

/* Up to the parenthesis of a function's mangled name. */
static void give(struct marking *m, uint32_t value, const char *name, const char *member)
{
    char *text = NULL;
    /* glslang's copies of a call's arguments are called "param". */
    if (!m->is_value[value] || m->line[value] || m->name[value] || !*name ||
        strcmp(name, "param") == 0)
        return;
    m->ok = m->ok && asprintf(&text, "%.*s%s%s", (int)strcspn(name, "("), name, *member ? "_" : "",
                              member) >= 0;
    if (!m->ok)
        return;
    m->names->texts[++m->names->count] = text;
    m->line[value] = m->names->count;
}

static const char *name_of(const struct marking *m, uint32_t id)
{
    return m->name[id] ? pm_words_text(m->module, m->name[id]) : "";
}

/* "" where it has none. */
static const char *member_name(const struct marking *m, uint32_t structure, uint32_t member)
{
    for (struct pm_walk walk = pm_walk_begin(m->module); pm_walk_next(&walk);) {
        const uint32_t *operands = m->module->data + walk.at + 1;
        if (walk.opcode == SpvOpMemberName && operands[0] == structure && operands[1] == member)
            return pm_words_text(m->module, walk.at + 3);
        if (!pm_words_is_preamble(walk.opcode) && walk.opcode != SpvOpName &&
            walk.opcode != SpvOpMemberName)
            break;
    }
    return "";
}

static void store(struct marking *m, uint32_t to, uint32_t value)
{
    if (m->is_variable[to])
        give(m, value, name_of(m, to), "");
    if (!m->chain[to])
        return;
    const uint32_t *operands = m->module->data + m->chain[to] + 1, base = operands[2];
    const uint32_t structure = m->points[m->points[base]];
    if (m->is_variable[base])
        give(m, value, name_of(m, base), member_name(m, structure, m->number[operands[3]]));
}

static void look_at(struct marking *m, const struct pm_walk *walk, uint32_t *function)
{
    const uint32_t *operands = m->module->data + walk->at + 1;
    uint32_t type, result;
    switch (walk->opcode) {
    case SpvOpName:
        m->name[operands[0]] = walk->length > 2 ? walk->at + 2 : 0;
        return;
    case SpvOpTypePointer:
        m->points[operands[0]] = operands[2];
        return;
    case SpvOpConstant:
        m->number[operands[1]] = operands[2];
        return;
    case SpvOpFunction:
        *function = operands[1];
        return;
    case SpvOpVariable:
        m->is_variable[operands[1]] =
            operands[2] == SpvStorageClassFunction || operands[2] == SpvStorageClassPrivate;
        m->points[operands[1]] = operands[0];
        return;
    case SpvOpFunctionParameter:
        m->is_variable[operands[1]] = m->points[operands[0]];
        m->points[operands[1]] = operands[0];
        return;
    case SpvOpAccessChain:
        m->chain[operands[1]] = walk->length == 5 ? walk->at : 0; /* one index */
        return;
    case SpvOpStore:
        store(m, operands[0], operands[1]);
        return;
    case SpvOpReturnValue:
        give(m, operands[0], name_of(m, *function), "");
        return;
    case SpvOpLabel:
    case SpvOpPhi:
    case SpvOpUndef:
        return;
    default:
        pm_walk_result(walk, &type, &result);
        m->is_value[result] = *function && type && result;
        return;
    }
}

/* The module with its marks. */
static bool put_lines(const struct marking *m, struct pm_words *module)
{
    const size_t marks = m->names->count * (size_t)(LINE_WORDS + NO_LINE_WORDS);
    const uint32_t file = module->data[3];
    const uint32_t string[STRING_WORDS] = {STRING_WORDS << SpvWordCountShift | SpvOpString, file,
                                           'n'};
    const uint32_t end[NO_LINE_WORDS] = {NO_LINE_WORDS << SpvWordCountShift | SpvOpNoLine};
    uint32_t *out = malloc((module->count + STRING_WORDS + marks) * sizeof(*out));
    size_t used = 0;
    bool has_file = false, in_function = false;
    if (!out)
        return false;
    pm_words_append(out, &used, module->data, PM_SPIRV_HEADER_WORDS);
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        uint32_t type, result;
        pm_walk_result(&walk, &type, &result);
        if (!has_file && !pm_words_is_preamble(walk.opcode))
            pm_words_append(out, &used, string, STRING_WORDS);
        has_file = has_file || !pm_words_is_preamble(walk.opcode);
        in_function = in_function || walk.opcode == SpvOpFunction;
        const uint32_t number = in_function ? m->line[result] : 0;
        const uint32_t line[LINE_WORDS] = {LINE_WORDS << SpvWordCountShift | SpvOpLine, file,
                                           number, 0};
        if (number)
            pm_words_append(out, &used, line, LINE_WORDS);
        pm_words_append(out, &used, module->data + walk.at, walk.length);
        if (number)
            pm_words_append(out, &used, end, NO_LINE_WORDS);
    }
    out[3] = file + 1;
    free(module->data);
    *module = (struct pm_words){out, used};
    return true;
}

bool pm_words_mark_names(struct pm_words *module, struct pm_value_names *names,
                         struct pm_error *error)
{
    const size_t bound = module->data[3];
    *names = (struct pm_value_names){.texts = calloc(bound + 1, sizeof(*names->texts))};
    struct marking m = {
        .module = module,
        .names = names,
        .name = calloc(bound, sizeof(*m.name)),
        .is_variable = calloc(bound, sizeof(*m.is_variable)),
        .is_value = calloc(bound, sizeof(*m.is_value)),
        .points = calloc(bound, sizeof(*m.points)),
        .number = calloc(bound, sizeof(*m.number)),
        .chain = calloc(bound, sizeof(*m.chain)),
        .line = calloc(bound, sizeof(*m.line)),
    };
    uint32_t function = 0;
    m.ok = names->texts && m.name && m.is_variable && m.is_value && m.points && m.number &&
           m.chain && m.line;
    for (struct pm_walk walk = pm_walk_begin(module); m.ok && pm_walk_next(&walk);)
        look_at(&m, &walk, &function);
    bool ok = m.ok && put_lines(&m, module);
    free(m.name);
    free(m.is_variable);
    free(m.is_value);
    free(m.points);
    free(m.number);
    free(m.chain);
    free(m.line);
    return ok || pm_fail(error, PM_ERROR_MEMORY, "out of memory for names");
}
