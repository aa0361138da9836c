#include "aggregator/storage/fail.h"

bool pm_fail_unread(struct pm_error *error)
{
    if (error && error->code == PM_ERROR_STATE)
        error->code = PM_ERROR_IO;
    return false;
}

bool pm_fail_shader(struct pm_error *error, const struct pm_shader_key *key)
{
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(key, text);
    return pm_fail_prefix(error, "shader %s", text);
}

bool pm_fail_blob(struct pm_error *error, const struct pm_storage_key *key)
{
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&key->key, text);
    return pm_fail_prefix(error, "shader %s, day %u", text, key->day);
}
