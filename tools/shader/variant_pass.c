#include "tools/shader/variant_pass.h"
#include "shader_rewrite/blocks/block_profile.h"
#include "tools/common/out_file.h"
#include "tools/shader/block_passes.h"
#include <cjson/cJSON.h>
#include <stdio.h>

static void key_of(const struct pm_words *words, char *text)
{
    const struct pm_shader_key key =
        pm_shader_key_compute(pm_canonicalize_recipe(), words->data, words->count);
    pm_shader_key_format(&key, text);
}

/* A line, or an element of the list. */
static void say(cJSON *list, const struct pm_recipe *recipe, const struct pm_words *made,
                const struct pm_error *failed)
{
    char key[PM_SHADER_KEY_TEXT] = "";
    if (made->count > 0)
        key_of(made, key);
    if (!list) {
        printf("%-18s %-18s %s\n", recipe->name, pm_recipe_kind_name(recipe->kind),
               failed            ? failed->message
               : made->count > 0 ? key
                                 : "nothing to change");
        return;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", recipe->name);
    cJSON_AddNumberToObject(json, "version", recipe->version);
    cJSON_AddStringToObject(json, "kind", pm_recipe_kind_name(recipe->kind));
    cJSON_AddStringToObject(json, "what", recipe->what);
    if (failed)
        cJSON_AddStringToObject(json, "failed", failed->message);
    else if (made->count > 0)
        cJSON_AddStringToObject(json, "key", key);
    cJSON_AddNumberToObject(json, "words", (double)made->count);
    cJSON_AddItemToArray(list, json);
}

static bool say_all(const struct pm_shader_options *options, const struct pm_words *in,
                    struct pm_variant_info *info)
{
    cJSON *list = options->json ? cJSON_CreateArray() : NULL;
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        struct pm_words made;
        struct pm_error failed;
        info->choice.recipe = pm_recipe_at(r);
        const bool ok = pm_make_variant(in->data, in->count, info, &made, &failed);
        say(list, info->choice.recipe, &made, ok ? NULL : &failed);
        pm_words_finish(&made);
    }
    char *text = list ? cJSON_Print(list) : NULL;
    if (text)
        puts(text);
    cJSON_free(text);
    cJSON_Delete(list);
    return true;
}

static bool make_one(const struct pm_shader_options *options, const struct pm_words *in,
                     struct pm_variant_info *info, struct pm_error *error)
{
    struct pm_words made;
    if (!pm_variant_parse(options->recipe, &info->choice))
        return pm_fail(error, PM_ERROR_INPUT, "--recipe %s: there is none called so",
                       options->recipe);
    if (!pm_make_variant(in->data, in->count, info, &made, error))
        return false;
    char key[PM_SHADER_KEY_TEXT] = "nothing to change";
    if (made.count > 0)
        key_of(&made, key);
    puts(key);
    const struct pm_words *out = made.count > 0 ? &made : in;
    const bool ok = !options->out || pm_out_bytes(options->out, out->data, out->count * 4, error);
    pm_words_finish(&made);
    return ok;
}

bool pm_shader_make_variant(struct pm_shader_options *options, const struct pm_words *in,
                            struct pm_error *error)
{
    struct pm_block_profile profile = {0};
    const struct pm_optimize_blocks_info blocks = {.profile = &profile,
                                                   .passes = options->block_passes,
                                                   .uniform_share = options->uniform_share,
                                                   .costs = options->specialize.costs};
    const bool known = options->profile || options->game;
    struct pm_variant_info info = {.target = options->target,
                                   .driver = options->specialize.driver,
                                   .blocks = known ? &blocks : NULL,
                                   .withheld_passes = PM_BLOCK_ALL & ~options->block_passes,
                                   .subgroup_vote = !options->no_vote,
                                   .times = options->times};
    if (known && !pm_shader_block_profile(options, in, &profile, error))
        return false;
    const bool ok =
        options->recipe ? make_one(options, in, &info, error) : say_all(options, in, &info);
    pm_block_profile_finish(&profile);
    return ok;
}
