#include "layer/shader/recipe_shader.h"

#include "base/random.h"
#include "layer/shader/specialize.h"
#include "profile/variant_parts.h"
#include <string.h>

bool pm_recipe_shader_make(const struct pm_device *device, const struct pm_shader_record *record,
                           const struct pm_variant_choice *choice, uint32_t withheld,
                           struct pm_specialized_shader *shader, struct pm_error *error)
{
    const struct pm_words *over = shader->base ? &shader->base->module.words : &record->canonical;
    struct pm_words *words = &shader->module.words;
    /* What is made for known words has the shader as it was beside it, and the blocks' ids are
     * those of that. */
    if (shader->base && (shader->base->made_by & PM_MADE_BY_WORDS))
        withheld |= PM_PART_BLOCKS;
    shader->made_by |= PM_MADE_BY_RECIPE | (shader->base ? (uint32_t)PM_MADE_OVER : 0);
    if (pm_variant_by_blocks(choice))
        shader->made_by |= PM_MADE_BY_BLOCKS;
    pm_variant_name(choice, shader->recipe);
    if (!pm_specialize_by_recipe(device, record, over, choice, withheld, words, error))
        return false;
    if (words->count == 0)
        return true;
    shader->subgroup_size = choice->subgroup_size;
    if (!pm_specialized_slow_down(device, over, words, error))
        return false;
    shader->key = pm_specialized_key(words, shader->subgroup_size);
    return true;
}

/* ---- debug.recipe ---- */

bool pm_recipe_asked_read(const struct pm_config *config, struct pm_recipe_asked *asked,
                          struct pm_error *error)
{
    const char *name = config->debug.recipe;
    *asked = (struct pm_recipe_asked){.asked = name != NULL};
    if (!name)
        return true;
    asked->lot = config->sampler.seed_set ? config->sampler.seed : 0;
    asked->any = strcmp(name, "any") == 0;
    /* Which subgroup sizes there are hangs on the device and the pipeline. */
    if (asked->any || (pm_variant_parse(name, &asked->choice) && asked->choice.subgroup_size == 0))
        return true;
    asked->choice = (struct pm_variant_choice){0};
    return pm_fail(error, PM_ERROR_INPUT,
                   "debug.recipe: \"%.70s\" is no recipe, no two with \"+\" between them, and not "
                   "\"any\"; `piecemeal shader make_variant FILE.spv` lists the recipes",
                   name);
}

static bool make_any(const struct pm_recipe_asked *asked, const struct pm_device *device,
                     const struct pm_shader_record *record, uint32_t withheld,
                     struct pm_specialized_shader *shader, struct pm_error *error)
{
    enum { MOST = 64 /* bits; the recipes behind them are not drawn */ };
    const uint32_t count = pm_recipe_count() < MOST ? pm_recipe_count() : MOST;
    uint64_t key, drawn = 0;
    struct pm_random random;
    _Static_assert(sizeof key <= sizeof record->key.bytes, "the key has as many bits");
    memcpy(&key, record->key.bytes, sizeof key);
    pm_random_init(&random, pm_random_mix(asked->lot) ^ key);
    for (uint32_t left = count; left > 0 && shader->module.words.count == 0; left--) {
        uint32_t at, skip = pm_random_below(&random, left);
        for (at = 0; (drawn >> at & 1) != 0 || skip-- > 0; at++)
            ;
        drawn |= UINT64_C(1) << at;
        const struct pm_variant_choice choice = {.recipe = pm_recipe_at(at)};
        shader->made_by = 0; /* of those before, which made nothing */
        if (!pm_recipe_shader_make(device, record, &choice, withheld, shader, error))
            return false;
    }
    return true;
}

bool pm_recipe_asked_make(const struct pm_recipe_asked *asked, const struct pm_device *device,
                          const struct pm_shader_record *record, uint32_t withheld,
                          struct pm_specialized_shader *shader, struct pm_error *error)
{
    if (asked->any)
        return make_any(asked, device, record, withheld, shader, error);
    return !asked->choice.recipe ||
           pm_recipe_shader_make(device, record, &asked->choice, withheld, shader, error);
}
