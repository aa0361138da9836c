#include "layer/shader/spec_values.h"
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_WORDS = 5 };

void pm_spec_values_finish(struct pm_spec_values *values)
{
    free(values->data);
    *values = (struct pm_spec_values){0};
}

static int by_spec_id(const void *a, const void *b)
{
    const uint32_t left = ((const struct pm_spec_value *)a)->spec_id;
    const uint32_t right = ((const struct pm_spec_value *)b)->spec_id;
    return left < right ? -1 : left > right;
}

static bool allocate(struct pm_spec_values *values, size_t most, struct pm_error *error)
{
    *values = (struct pm_spec_values){.data = calloc(most ? most : 1, sizeof *values->data)};
    return values->data || pm_fail(error, PM_ERROR_MEMORY, "no memory for %zu constants", most);
}

bool pm_spec_values_set(const VkSpecializationInfo *info, struct pm_spec_values *out,
                        struct pm_error *error)
{
    const size_t count = info ? info->mapEntryCount : 0;
    if (!allocate(out, count, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
        const bool size_known =
            entry->size == 1 || entry->size == 2 || entry->size == 4 || entry->size == 8;
        if (!size_known || entry->offset > info->dataSize ||
            entry->size > info->dataSize - entry->offset) {
            pm_spec_values_finish(out);
            return pm_fail(error, PM_ERROR_INPUT,
                           "specialization constant %u: %zu bytes at %u of %zu", entry->constantID,
                           entry->size, entry->offset, info->dataSize);
        }
        struct pm_spec_value *value = &out->data[out->count++];
        value->spec_id = entry->constantID;
        value->size = entry->size == 8 ? 8 : 4;
        /* Little-endian, as everything that has a Vulkan driver is. */
        memcpy(&value->bits, (const char *)info->pData + entry->offset, entry->size);
    }
    qsort(out->data, out->count, sizeof *out->data, by_spec_id);
    return true;
}

/* ---- the module's own constants ---- */

struct module {
    const uint32_t *words;
    size_t count;
    bool groups; /* decorations go through groups: who has which SpecId is not looked up */
};

/* Calls visit for every instruction that is whole. */
static void walk(struct module *module,
                 void (*visit)(struct module *module, const uint32_t *instruction, uint32_t length,
                               void *user),
                 void *user)
{
    for (size_t at = HEADER_WORDS; at < module->count;) {
        const uint32_t length = module->words[at] >> SpvWordCountShift;
        if (length == 0 || length > module->count - at)
            return;
        visit(module, module->words + at, length, user);
        at += length;
    }
}

struct constants {
    struct pm_spec_values *out;
    uint32_t *ids; /* result id of each of out's */
    size_t most;
};

static void count_decoration(struct module *module, const uint32_t *words, uint32_t length,
                             void *user)
{
    const uint32_t opcode = words[0] & SpvOpCodeMask;
    if (opcode == SpvOpDecorationGroup)
        module->groups = true;
    else if (opcode == SpvOpDecorate && length >= 4 && words[2] == SpvDecorationSpecId)
        ++*(size_t *)user;
}

static void add_decoration(struct module *module, const uint32_t *words, uint32_t length,
                           void *user)
{
    (void)module;
    struct constants *constants = user;
    if ((words[0] & SpvOpCodeMask) != SpvOpDecorate || length < 4 ||
        words[2] != SpvDecorationSpecId || constants->out->count == constants->most)
        return;
    constants->ids[constants->out->count] = words[1];
    constants->out->data[constants->out->count++] =
        (struct pm_spec_value){.spec_id = words[3], .size = 4};
}

static void add_default(struct module *module, const uint32_t *words, uint32_t length, void *user)
{
    (void)module;
    struct constants *constants = user;
    const uint32_t opcode = words[0] & SpvOpCodeMask;
    const bool scalar = opcode == SpvOpSpecConstant && length >= 4;
    const bool boolean =
        (opcode == SpvOpSpecConstantTrue || opcode == SpvOpSpecConstantFalse) && length >= 3;
    if (!scalar && !boolean)
        return;
    for (size_t i = 0; i < constants->out->count; i++) {
        if (constants->ids[i] != words[2])
            continue;
        struct pm_spec_value *value = &constants->out->data[i];
        value->size = scalar && length >= 5 ? 8 : 4;
        value->bits = scalar ? words[3] : opcode == SpvOpSpecConstantTrue;
        if (value->size == 8)
            value->bits |= (uint64_t)words[4] << 32;
    }
}

static void apply_set(struct pm_spec_values *values, const struct pm_spec_values *set)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct pm_spec_value *found =
            bsearch(&values->data[i], set->data, set->count, sizeof *set->data, by_spec_id);
        if (found)
            values->data[i] = *found;
    }
}

bool pm_spec_values_used(const uint32_t *words, size_t count, const struct pm_spec_values *set,
                         struct pm_spec_values *out, struct pm_error *error)
{
    struct module module = {.words = words, .count = count};
    size_t most = 0;
    walk(&module, count_decoration, &most);
    if (module.groups) {
        if (!allocate(out, set->count, error))
            return false;
        memcpy(out->data, set->data, set->count * sizeof *set->data);
        out->count = set->count;
        return true;
    }
    if (!allocate(out, most, error))
        return false;
    struct constants constants = {
        .out = out, .ids = calloc(most ? most : 1, sizeof(uint32_t)), .most = most};
    if (!constants.ids) {
        pm_spec_values_finish(out);
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for %zu constants", most);
    }
    walk(&module, add_decoration, &constants);
    walk(&module, add_default, &constants);
    free(constants.ids);
    qsort(out->data, out->count, sizeof *out->data, by_spec_id);
    apply_set(out, set);
    return true;
}
