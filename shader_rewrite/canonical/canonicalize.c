#include "shader_rewrite/canonical/canonical_names.h"
#include "shader_rewrite/canonical/optimizer.h"
#include "shader_rewrite/ir/spirv_tools.h"

#include <pthread.h>
#include <spirv/unified1/spirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST_VERSION 0x00010600

/* 1 MiB: more than twice the largest shaders of games, and some ten seconds of work. */
#define MAX_WORDS (1u << 18)

/* One step uncovers work for the next; shaders of games are stable after two or three. */
#define MAX_ROUNDS 8

static char recipe_text[64];
static pthread_once_t recipe_once = PTHREAD_ONCE_INIT;

static void make_recipe(void)
{
    snprintf(recipe_text, sizeof recipe_text, "%d %.48s", PM_RECIPE_VERSION,
             spvSoftwareVersionString());
}

const char *pm_canonicalize_recipe(void)
{
    pthread_once(&recipe_once, make_recipe); /* ThreadSanitizer knows it, and not call_once */
    return recipe_text;
}

static bool replace(struct pm_words *module, uint32_t *data, size_t count)
{
    free(module->data);
    *module = (struct pm_words){data, count};
    return true;
}

static bool run_step(enum pm_optimizer_step step, struct pm_words *module, struct pm_error *error)
{
    uint32_t *data;
    size_t count;
    char message[300];
    switch (pm_optimizer_run(step, module->data, module->count, &data, &count, message,
                             sizeof message)) {
    case PM_OPTIMIZER_DONE:
        return replace(module, data, count);
    case PM_OPTIMIZER_GAVE_UP:
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "SPIRV-Tools' optimizer gave up: %s", message);
    default:
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory in SPIRV-Tools' optimizer");
    }
}

static bool copy_words(const struct pm_words *from, struct pm_words *to, struct pm_error *error)
{
    to->data = malloc(from->count * sizeof(uint32_t));
    if (!to->data)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a module of %zu words",
                       from->count);
    memcpy(to->data, from->data, from->count * sizeof(uint32_t));
    to->count = from->count;
    return true;
}

static bool run_guarded(enum pm_optimizer_step step, struct pm_words *module,
                        struct pm_error *error)
{
    struct pm_float_guard guard;
    return pm_words_guard_floats(module, &guard, error) && run_step(step, module, error) &&
           pm_words_unguard_floats(module, &guard, error);
}

/* Inlined first, since only then it is known in which loops a callee's loads are. */
static bool simplify(struct pm_words *module, struct pm_error *error)
{
    if ((pm_words_has_callees(module) && !run_guarded(PM_STEP_INLINE, module, error)) ||
        !pm_words_mark_loads(module, error) || !run_guarded(PM_STEP_SIMPLIFY, module, error))
        return false;
    pm_words_unmark_loads(module);
    if (!pm_words_disguise_breaks(module, error) || !run_step(PM_STEP_MERGE_BLOCKS, module, error))
        return false;
    pm_words_undisguise_breaks(module);
    return true;
}

/* Only the callees' returns: the entry point's are no obstacle to inlining, and merging them would
 * put flags and branches into the shader that its author never wrote. */
static bool merge_callee_returns(struct pm_words *module, struct pm_error *error)
{
    uint32_t function = pm_words_entry_function(module);
    uint32_t mask;
    pm_words_mask_returns(module, function, &mask);
    if (!run_step(PM_STEP_MERGE_RETURN, module, error))
        return false;
    pm_words_unmask_returns(module, function, mask);
    return true;
}

/* Canonicalizing the result again gives the same words: it runs until nothing changes. */
static bool simplify_until_stable(struct pm_words *module, struct pm_error *error)
{
    if (!merge_callee_returns(module, error))
        return false;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        struct pm_words before;
        if (!copy_words(module, &before, error))
            return false;
        bool ok = simplify(module, error);
        bool stable = ok && module->count == before.count &&
                      memcmp(module->data, before.data, before.count * sizeof(uint32_t)) == 0;
        pm_words_finish(&before);
        if (!ok || stable)
            return ok;
    }
    return true;
}

/* Where the optimizer gives up, or makes a module that is not valid, the shader is taken as it is,
 * with only its constants frozen and its ids compacted: also a pure function of the module. */
static bool simplify_or_keep(struct pm_words *module, const struct pm_target *target,
                             struct pm_error *error)
{
    struct pm_words simplified;
    if (!copy_words(module, &simplified, error))
        return false;
    struct pm_error reason;
    if (simplify_until_stable(&simplified, &reason) &&
        pm_validate(simplified.data, simplified.count, target, &reason))
        return replace(module, simplified.data, simplified.count);
    pm_words_finish(&simplified);
    if (reason.code == PM_ERROR_MEMORY)
        return pm_fail(error, reason.code, "%s", reason.message);
    return pm_validate(module->data, module->count, target, error);
}

static bool check_size(const struct pm_canonicalize_info *info, struct pm_error *error)
{
    if (info->word_count < PM_SPIRV_HEADER_WORDS)
        return pm_fail(error, PM_ERROR_INPUT, "%zu words are no SPIR-V module", info->word_count);
    if (info->words[0] != SpvMagicNumber)
        return pm_fail(error, PM_ERROR_INPUT, "SPIR-V word 0: the magic number is 0x%08x",
                       info->words[0]);
    if (info->words[1] > NEWEST_VERSION)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "SPIR-V word 1: version 0x%08x is newer than what SPIRV-Tools knows",
                       info->words[1]);
    if (info->word_count > MAX_WORDS)
        return pm_fail(error, PM_ERROR_LIMIT, "the module has %zu words; at most %u are optimized",
                       info->word_count, MAX_WORDS);
    return true;
}

/* Named anew where people are to read it. */
static bool simplify_with_names(struct pm_words *module, const struct pm_target *target,
                                struct pm_error *error)
{
    struct pm_value_names names;
    bool ok = pm_words_mark_names(module, &names, error) &&
              simplify_or_keep(module, target, error) &&
              pm_words_put_names(module, &names, error) &&
              pm_validate(module->data, module->count, target, error);
    pm_value_names_finish(&names);
    return ok;
}

static bool canonicalize(const struct pm_canonicalize_info *info, struct pm_words *module,
                         struct pm_error *error)
{
    uint32_t function;
    /* Validated again before the optimizer sees it: the validator lets an OpString be a number of
     * LocalSizeId, which is gone with the strings, and the optimizer trusts its input. */
    if (!pm_words_select(module, info->stage, info->entry_point, info->keep_names, &function,
                         error) ||
        !pm_validate(module->data, module->count, &info->target, error) ||
        !pm_words_check_growth(module, function, error) ||
        !run_step(PM_STEP_PREPARE, module, error) ||
        !pm_words_freeze(module, info->spec_values, info->spec_value_count, error) ||
        !(info->keep_names ? simplify_with_names(module, &info->target, error)
                           : simplify_or_keep(module, &info->target, error)))
        return false;
    module->data[2] = 0; /* generator */
    return true;
}

bool pm_canonicalize(const struct pm_canonicalize_info *info, struct pm_words *out,
                     struct pm_error *error)
{
    *out = (struct pm_words){0};
    const struct pm_words original = {(uint32_t *)info->words, info->word_count};
    if (!check_size(info, error) ||
        !pm_validate(info->words, info->word_count, &info->target, error) ||
        !copy_words(&original, out, error))
        return false;
    if (!canonicalize(info, out, error)) {
        pm_words_finish(out);
        return false;
    }
    return true;
}
