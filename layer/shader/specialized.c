#include "layer/shader/specialized.h"

#include "layer/core/layer.h"
#include "profile/variant_parts.h"

#include <stdio.h>
#include <string.h>

struct pm_shader_key pm_specialized_key(const struct pm_words *words, uint32_t subgroup_size)
{
    const struct pm_shader_key key =
        pm_shader_key_compute(pm_canonicalize_recipe(), words->data, words->count);
    uint32_t both[sizeof key.bytes / sizeof(uint32_t) + 1];
    if (!subgroup_size)
        return key;
    memcpy(both, key.bytes, sizeof key.bytes);
    both[sizeof both / sizeof *both - 1] = subgroup_size;
    return pm_shader_key_compute(pm_canonicalize_recipe(), both, sizeof both / sizeof *both);
}

enum { BOUND_WORD = 3 };

bool pm_specialized_slow_down(const struct pm_device *device, const struct pm_words *from,
                              struct pm_words *words, struct pm_error *error)
{
    const struct pm_config *config = &device->instance->config;
    const struct pm_target *target = &device->abilities.target;
    struct pm_words slow;
    if (!config->debug.slow_variants && !config->debug.slow_guards)
        return true;
    if (!(config->debug.slow_variants
              ? pm_make_slow(words->data, words->count, target, &slow, error)
              : pm_make_slow_where_guards_fail(words->data, words->count, from->data[BOUND_WORD],
                                               target, &slow, error)))
        return false;
    pm_words_finish(words);
    *words = slow;
    return true;
}

uint32_t pm_specialized_parts(const struct pm_specialized_shader *shader)
{
    const uint32_t by = shader->made_by;
    if (shader->partitioned.count > 0)
        return PM_PART_PASSES;
    return (shader->is_pushed ? (uint32_t)PM_PART_PUSHED : 0) |
           (by & PM_MADE_BY_WORDS && !shader->is_pushed ? (uint32_t)PM_PART_WORDS : 0) |
           (by & PM_MADE_BY_ZEROS ? (uint32_t)PM_PART_ZEROS : 0) |
           (by & PM_MADE_BY_BLOCKS ? (uint32_t)PM_PART_BLOCKS : 0) |
           (by & PM_MADE_BY_RECIPE ? (uint32_t)PM_PART_RECIPE : 0);
}

uint32_t pm_specialized_counts_as(const struct pm_specialized_shader *shader)
{
    struct pm_variant_choice choice;
    const uint32_t of_base = shader->base ? shader->base->made_by & PM_MADE_BY_BLOCKS : 0;
    if (!*shader->recipe || !pm_variant_parse(shader->recipe, &choice) ||
        pm_variant_needs_blocks(&choice))
        return shader->made_by;
    return (shader->made_by & ~(uint32_t)PM_MADE_BY_BLOCKS) | of_base;
}

/* ", 11 changes by blocks (9 flatten, 2 layout)"; "" for none. */
enum { CHANGES_TEXT = 160 };
static void format_changes(const struct pm_specialized_shader *shader, char text[CHANGES_TEXT])
{
    text[0] = '\0';
    if (shader->changes == 0)
        return;
    snprintf(text, CHANGES_TEXT, ", %u changes by blocks", shader->changes);
    const char *before = " (";
    for (uint32_t p = 0; p < PM_BLOCK_PASSES; p++) {
        const size_t used = strlen(text);
        if (shader->changes_by[p] == 0)
            continue;
        snprintf(text + used, CHANGES_TEXT - used, "%s%u %s", before, shader->changes_by[p],
                 pm_block_pass_short((enum pm_block_pass)p));
        before = ", ";
    }
    strcat(text, ")");
}

void pm_specialized_say_of(const struct pm_specialized_shader *shader, bool whose,
                           char text[PM_SPECIALIZED_OF])
{
    char key[PM_SHADER_KEY_TEXT], of[40] = "", over[40] = "";
    text[0] = '\0';
    if (!*shader->recipe)
        return;
    if (whose) {
        pm_shader_key_format(&shader->original, key);
        snprintf(of, sizeof of, "of shader %.12s, ", key);
    }
    if (shader->base) {
        pm_shader_key_format(&shader->base->key, key);
        snprintf(over, sizeof over, " over %.12s", key);
    }
    snprintf(text, PM_SPECIALIZED_OF, " (%s%s%s)", of, shader->recipe, over);
}

void pm_specialized_describe(const struct pm_specialized_shader *shader, enum pm_stage stage,
                             char text[PM_SPECIALIZED_TEXT])
{
    char key[PM_SHADER_KEY_TEXT], words[48] = "", changes[CHANGES_TEXT];
    const char *of = stage == PM_STAGE_COMPUTE ? "compute" : "fragment";
    pm_shader_key_format(&shader->key, key);
    format_changes(shader, changes);
    if (shader->known.count > 0)
        snprintf(words, sizeof words, ", %u words of %s", shader->known.count,
                 shader->is_pushed ? "push constants" : "uniforms");
    if (shader->partitioned.count > 0)
        snprintf(text, PM_SPECIALIZED_TEXT,
                 "is cut into %u passes, %u words an invocation, as %.12s",
                 shader->partitioned.count, shader->partitioned.scratch_words, key);
    else if (*shader->recipe)
        snprintf(text, PM_SPECIALIZED_TEXT, "is made by the recipe %s, %s, as %.12s",
                 shader->recipe, of, key);
    else
        snprintf(text, PM_SPECIALIZED_TEXT, "is specialized: %u transforms%s%s, %s, as %.12s",
                 shader->module.transforms, changes, words, of, key);
}
