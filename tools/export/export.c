#include "tools/export/export.h"

#include <math.h>
#include <string.h>

bool pm_export_selected(const struct pm_shader_estimates *shader, const char *prefix)
{
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, text);
    return !prefix || !strncmp(text, prefix, strlen(prefix));
}

bool pm_export_selects_any(const struct pm_database *database, const char *prefix)
{
    for (size_t i = 0; i < database->shader_count; i++)
        if (pm_export_selected(&database->shaders[i], prefix))
            return true;
    return false;
}

bool pm_export_has_blocks(const struct pm_export *export, const struct pm_shader_estimates *shader)
{
    return shader->kind == PM_KIND_BLOCK && shader->points &&
           pm_export_selected(shader, export->shader);
}

bool pm_export_count(const struct pm_shader_estimates *shader, uint32_t block, uint64_t *count)
{
    const struct pm_ratio *frequency = &shader->points[block].measures[PM_MEASURE_FREQUENCY];
    if (frequency->clusters == 0)
        return false;
    const double lanes = round(frequency->ratio * (double)shader->entry_lanes);
    /* Also when a database from elsewhere says that a block ran less than never. */
    if (!(lanes > 0))
        *count = 0;
    else
        *count = lanes < (double)INT64_MAX ? (uint64_t)lanes : INT64_MAX;
    return true;
}

void pm_export_escaped(const char *text, const char *special, FILE *out)
{
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte < 0x20 || byte == 0x7f || byte == '%' || strchr(special, byte))
            fprintf(out, "%%%02X", byte);
        else
            fputc(byte, out);
    }
}
