#include "tools/report/report_marks.h"
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WORDS = 4, STORE_WORDS = 3, STRING_WORDS = 3, KEEP_WORDS = 4 + 4 + 9 };

/* ---- which values are kept ---- */

struct keeping {
    bool *has_name, *is_plain; /* by id; plain: a type of numbers */
    uint32_t *variable;        /* by id of a type: that keeps its values; 0 none */
    uint32_t next;             /* the last id that was added */
    size_t stores, variables;
};

static bool may_keep(const struct keeping *k, const struct pm_walk *walk, uint32_t type,
                     uint32_t result)
{
    return type && result && k->has_name[result] && k->is_plain[type] && walk->opcode != SpvOpPhi &&
           walk->opcode != SpvOpCompositeExtract && walk->opcode != SpvOpUndef &&
           walk->opcode != SpvOpFunctionParameter;
}

static void look(struct keeping *k, const struct pm_words *module)
{
    bool in_function = false;
    for (struct pm_walk walk = pm_walk_begin(module); pm_walk_next(&walk);) {
        const uint32_t *operands = module->data + walk.at + 1;
        uint32_t type, result;
        pm_walk_result(&walk, &type, &result);
        switch (walk.opcode) {
        case SpvOpName:
            k->has_name[operands[0]] = walk.length > 2 && operands[1];
            break;
        case SpvOpTypeBool:
        case SpvOpTypeInt:
        case SpvOpTypeFloat:
        case SpvOpTypeVector:
        case SpvOpTypeMatrix:
            k->is_plain[result] = true;
            break;
        default:
            break;
        }
        if (in_function && may_keep(k, &walk, type, result)) {
            k->stores++;
            k->variables += k->variable[type] == 0;
            if (k->variable[type] == 0)
                k->variable[type] = ++k->next;
        }
        in_function = in_function || walk.opcode == SpvOpFunction;
    }
}

/* ---- the copy ---- */

struct copy {
    const struct pm_words *module;
    const struct keeping *keeping;
    uint32_t *out;
    size_t used;
    uint32_t file; /* the id of its name */
};

static void put(struct copy *c, uint32_t opcode, const uint32_t *operands, size_t count)
{
    c->out[c->used++] = (uint32_t)(count + 1) << SpvWordCountShift | opcode;
    memcpy(c->out + c->used, operands, count * sizeof(*operands));
    c->used += count;
}

static void put_names(struct copy *c)
{
    const uint32_t string[] = {c->file, 'b'};
    put(c, SpvOpString, string, 2);
    for (uint32_t type = 1; type < c->module->data[3]; type++) {
        uint32_t name[8] = {c->keeping->variable[type]};
        if (name[0] == 0)
            continue;
        snprintf((char *)(name + 1), sizeof(name) - sizeof(*name), PM_REPORT_KEPT "%u", type);
        put(c, SpvOpName, name, 8);
    }
}

/* The ids of the pointers' types come behind those of all variables. */
static void put_variables(struct copy *c)
{
    for (uint32_t type = 1; type < c->module->data[3]; type++) {
        const uint32_t variable = c->keeping->variable[type];
        const uint32_t pointer = variable + (uint32_t)c->keeping->variables;
        const uint32_t pointer_type[] = {pointer, SpvStorageClassPrivate, type};
        const uint32_t operands[] = {pointer, variable, SpvStorageClassPrivate};
        if (variable == 0)
            continue;
        put(c, SpvOpTypePointer, pointer_type, 3);
        put(c, SpvOpVariable, operands, 3);
    }
}

/* What may stand between two instructions that belong together: OpPhi and OpVariable come first in
 * a block, and nothing comes between a merge instruction and the branch behind it. */
static bool may_mark(uint32_t opcode, uint32_t before)
{
    switch (opcode) {
    case SpvOpFunction:
    case SpvOpFunctionParameter:
    case SpvOpFunctionEnd:
    case SpvOpLabel:
    case SpvOpPhi:
    case SpvOpVariable:
        return false;
    default:
        return before != SpvOpSelectionMerge && before != SpvOpLoopMerge;
    }
}

static void copy_all(struct copy *c)
{
    bool named = false, in_function = false;
    uint32_t before = 0;
    for (struct pm_walk walk = pm_walk_begin(c->module); pm_walk_next(&walk);) {
        const uint32_t line[] = {c->file, (uint32_t)walk.at, 0};
        uint32_t type, result;
        pm_walk_result(&walk, &type, &result);
        if (walk.opcode == SpvOpLine || walk.opcode == SpvOpNoLine)
            continue;
        if (!named && !pm_words_is_preamble(walk.opcode)) {
            put_names(c);
            named = true;
        }
        if (!in_function && walk.opcode == SpvOpFunction) {
            put_variables(c);
            in_function = true;
        }
        if (in_function && may_mark(walk.opcode, before))
            put(c, SpvOpLine, line, 3);
        put(c, walk.opcode, c->module->data + walk.at + 1, walk.length - 1);
        if (in_function && may_keep(c->keeping, &walk, type, result)) {
            const uint32_t store[] = {c->keeping->variable[type], result};
            put(c, SpvOpStore, store, 2);
        }
        before = walk.opcode;
    }
}

bool pm_report_mark(const uint32_t *words, size_t count, struct pm_words *marked)
{
    const struct pm_words module = {(uint32_t *)words, count};
    const size_t bound = words[3];
    struct keeping k = {.has_name = calloc(bound, sizeof(*k.has_name)),
                        .is_plain = calloc(bound, sizeof(*k.is_plain)),
                        .variable = calloc(bound, sizeof(*k.variable)),
                        .next = words[3]};
    struct copy c = {.module = &module, .keeping = &k, .file = words[3]};
    if (k.has_name && k.is_plain && k.variable) {
        look(&k, &module);
        /* An instruction is a word at least. */
        c.out = malloc((count * (1 + LINE_WORDS) + STRING_WORDS + k.stores * STORE_WORDS +
                        k.variables * KEEP_WORDS) *
                       sizeof(*c.out));
    }
    if (c.out) {
        memcpy(c.out, words, PM_SPIRV_HEADER_WORDS * sizeof(*words));
        c.used = PM_SPIRV_HEADER_WORDS;
        c.out[3] = words[3] + 1 + 2 * (uint32_t)k.variables;
        copy_all(&c);
    }
    *marked = (struct pm_words){c.out, c.used};
    free(k.has_name);
    free(k.is_plain);
    free(k.variable);
    return c.out;
}
