/* Names what was marked. canonical_names.h. */
#include "shader_rewrite/canonical/canonical_names.h"

#include <ctype.h>
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

void pm_value_names_finish(struct pm_value_names *names)
{
    for (uint32_t i = 1; i <= names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    *names = (struct pm_value_names){0};
}

struct naming {
    const struct pm_value_names *names;
    bool *has_name;    /* by id */
    uint32_t *line;    /* by id: the name it gets; 0 none */
    uint32_t *whole;   /* by id of an element of a vector that has a name: the vector */
    uint32_t *element; /* and its number */
    bool *is_vector;   /* by id of a type, and of a value of such a type */
    uint32_t *pointee; /* by id of a pointer's type */
    size_t *type_name; /* by id of a structure: offset of its name's text */
    uint32_t *of_type; /* by id of a block variable: the structure it is named after */
    bool changed;
};

static void read_global(struct naming *n, const struct pm_words *module, const struct pm_walk *walk)
{
    const uint32_t *operands = module->data + walk->at + 1;
    switch (walk->opcode) {
    case SpvOpName:
        n->has_name[operands[0]] = walk->length > 2 && *pm_words_text(module, walk->at + 2);
        n->type_name[operands[0]] = n->has_name[operands[0]] ? walk->at + 2 : 0;
        return;
    case SpvOpTypePointer:
        n->pointee[operands[0]] = operands[2];
        return;
    case SpvOpTypeVector:
        n->is_vector[operands[0]] = true;
        return;
    case SpvOpVariable: {
        const uint32_t type = n->pointee[operands[0]];
        const bool block = operands[2] == SpvStorageClassUniform ||
                           operands[2] == SpvStorageClassStorageBuffer ||
                           operands[2] == SpvStorageClassPushConstant;
        if (block && !n->has_name[operands[1]] && n->type_name[type])
            n->of_type[operands[1]] = type;
        return;
    }
    default:
        return;
    }
}

static void read_lines(struct naming *n, const struct pm_words *module)
{
    uint32_t line = 0, type, result;
    bool in_function = false;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        in_function = in_function || walk.opcode == SpvOpFunction;
        if (!in_function) {
            read_global(n, module, &walk);
            continue;
        }
        if (walk.opcode == SpvOpLine) {
            line = module->data[walk.at + 2];
            continue;
        }
        pm_walk_result(&walk, &type, &result);
        if (line && line <= n->names->count && type && result && !n->has_name[result])
            n->line[result] = line;
        line = 0; /* a line is one value's */
        n->is_vector[result] = n->is_vector[type];
    }
}

/* A phi is what its values are, where those with a name have the same. */
static void name_phi(struct naming *n, const struct pm_words *module, const struct pm_walk *walk)
{
    const uint32_t *operands = module->data + walk->at + 1, result = operands[1];
    uint32_t line = 0;
    if (n->line[result] || n->has_name[result])
        return;
    for (uint32_t i = 2; i + 1 < walk->length; i += 2) {
        const uint32_t of = n->line[operands[i]];
        if (of && line && strcmp(n->names->texts[of], n->names->texts[line]) != 0)
            return;
        line = of ? of : line;
    }
    n->line[result] = line;
    n->changed = n->changed || line;
}

/* low.x is low_x where it is a value by itself. */
static void name_element(struct naming *n, const struct pm_words *module,
                         const struct pm_walk *walk)
{
    const uint32_t *operands = module->data + walk->at + 1, result = operands[1];
    if (walk->length != 5 || n->line[result] || n->has_name[result] || !n->line[operands[2]] ||
        !n->is_vector[operands[2]] || operands[3] > 3)
        return;
    n->whole[result] = operands[2];
    n->element[result] = operands[3];
}

static size_t text_words(size_t length)
{
    return length / sizeof(uint32_t) + 1;
}

static size_t put_name(uint32_t *out, uint32_t id, const char *text, const char *suffix)
{
    const size_t length = strlen(text), words = 2 + text_words(length + strlen(suffix));
    out[0] = (uint32_t)words << SpvWordCountShift | SpvOpName;
    out[1] = id;
    memset(out + 2, 0, (words - 2) * sizeof(*out));
    memcpy(out + 2, text, length);
    memcpy((char *)(out + 2) + length, suffix, strlen(suffix));
    return words;
}

static size_t put_all_names(const struct naming *n, const struct pm_words *module, uint32_t *out)
{
    static const char *const elements[] = {"_x", "_y", "_z", "_w"};
    size_t used = 0;
    for (uint32_t id = 1; id < module->data[3]; id++) {
        uint32_t *name = out + used;
        if (n->line[id])
            used += put_name(name, id, n->names->texts[n->line[id]], "");
        else if (n->whole[id])
            used += put_name(name, id, n->names->texts[n->line[n->whole[id]]],
                             elements[n->element[id]]);
        else if (n->of_type[id]) {
            used += put_name(name, id, pm_words_text(module, n->type_name[n->of_type[id]]), "");
            char *first = (char *)(name + 2);
            *first = (char)tolower((unsigned char)*first);
        }
    }
    return used;
}

static size_t room_for_names(const struct naming *n, const struct pm_words *module)
{
    size_t words = module->count;
    for (uint32_t id = 1; id < module->data[3]; id++) {
        const uint32_t line = n->line[id] ? n->line[id] : n->line[n->whole[id]];
        if (line)
            words += 2 + text_words(strlen(n->names->texts[line]) + 2);
        if (n->of_type[id])
            words += 2 + text_words(strlen(pm_words_text(module, n->type_name[n->of_type[id]])));
    }
    return words;
}

/* An empty name of what gets one is dropped too. */
static bool is_dropped(const struct naming *n, const struct pm_words *module,
                       const struct pm_walk *walk)
{
    return walk->opcode == SpvOpLine || walk->opcode == SpvOpNoLine ||
           walk->opcode == SpvOpString ||
           (walk->opcode == SpvOpName && n->of_type[module->data[walk->at + 1]]);
}

static bool put_names(const struct naming *n, struct pm_words *module)
{
    uint32_t *out = malloc(room_for_names(n, module) * sizeof(*out));
    size_t used = 0;
    bool put = false;
    if (!out)
        return false;
    pm_words_append(out, &used, module->data, PM_SPIRV_HEADER_WORDS);
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        if (!put && !pm_words_is_preamble(walk.opcode)) {
            used += put_all_names(n, module, out + used);
            put = true;
        }
        if (is_dropped(n, module, &walk))
            continue;
        pm_words_append(out, &used, module->data + walk.at, walk.length);
    }
    free(module->data);
    *module = (struct pm_words){out, used};
    return true;
}

bool pm_words_put_names(struct pm_words *module, const struct pm_value_names *names,
                        struct pm_error *error)
{
    const size_t bound = module->data[3];
    struct naming n = {
        .names = names,
        .has_name = calloc(bound, sizeof(*n.has_name)),
        .line = calloc(bound, sizeof(*n.line)),
        .pointee = calloc(bound, sizeof(*n.pointee)),
        .type_name = calloc(bound, sizeof(*n.type_name)),
        .of_type = calloc(bound, sizeof(*n.of_type)),
        .whole = calloc(bound, sizeof(*n.whole)),
        .element = calloc(bound, sizeof(*n.element)),
        .is_vector = calloc(bound, sizeof(*n.is_vector)),
        .changed = true,
    };
    bool ok = n.has_name && n.line && n.pointee && n.type_name && n.of_type && n.whole &&
              n.element && n.is_vector;
    if (ok)
        read_lines(&n, module);
    while (ok && n.changed) {
        n.changed = false;
        for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);)
            if (walk.opcode == SpvOpPhi)
                name_phi(&n, module, &walk);
    }
    for (struct pm_walk walk = pm_walk_begin(module); ok && pm_walk_next(&walk);)
        if (walk.opcode == SpvOpCompositeExtract)
            name_element(&n, module, &walk);
    ok = ok && put_names(&n, module);
    free(n.has_name);
    free(n.line);
    free(n.pointee);
    free(n.type_name);
    free(n.of_type);
    free(n.whole);
    free(n.element);
    free(n.is_vector);
    return ok || pm_fail(error, PM_ERROR_MEMORY, "out of memory for names");
}
