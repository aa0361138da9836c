/* Collapsed stacks: frames joined by ";", then a space and the count, one stack a line. */
#include "tools/export/export.h"

static void print_shader(const char *game, const struct pm_shader_estimates *shader, FILE *out)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, key);
    for (uint32_t i = 0; i < shader->space; i++) {
        uint64_t count;
        if (!pm_export_count(shader, i, &count) || count == 0)
            continue;
        pm_export_escaped(game, ";", out);
        fprintf(
            out, ";shader %s subgroup %u%s;block %u %llu\n", key, shader->environment.subgroup_size,
            shader->flags & PM_PROFILE_OCCLUDED ? " occluded" : "", i, (unsigned long long)count);
    }
}

bool pm_export_collapsed(const struct pm_export *export, FILE *out, struct pm_error *error)
{
    const struct pm_database *database = export->database;
    (void)error;
    for (size_t i = 0; i < database->shader_count; i++)
        if (pm_export_has_blocks(export, &database->shaders[i]))
            print_shader(database->game, &database->shaders[i], out);
    return true;
}
