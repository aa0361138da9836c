#include "tools/common/gain.h"
#include "base/buffer.h"
#include "base/file.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

double pm_gain_percent(double ratio)
{
    return 100 * (1 / ratio - 1);
}

enum pm_gain_answer pm_gain_answer(double low, double high)
{
    if (high < 1 || low > 1)
        return PM_GAIN_CHANGED;
    return pm_gain_percent(low) < 5 && pm_gain_percent(high) > -5 ? PM_GAIN_NO_CHANGE
                                                                  : PM_GAIN_NOT_KNOWN;
}

/* malloc'ed. */
static char *path_of(const char *game)
{
    char *folder = pm_place_path(PM_PLACE_DATA, "gains"), *safe = pm_file_safe_name(game),
         *path = NULL;
    if (folder && safe && asprintf(&path, "%s/%s.json", folder, safe) < 0)
        path = NULL;
    free(folder);
    free(safe);
    return path;
}

static bool add_keys(cJSON *root, const char *name, const struct pm_shader_key *keys,
                     uint32_t count)
{
    cJSON *list = cJSON_AddArrayToObject(root, name);
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        char text[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&keys[i], text);
        ok = cJSON_AddItemToArray(list, cJSON_CreateString(text));
    }
    return ok;
}

static cJSON *to_json(const struct pm_gain *gain)
{
    cJSON *root = cJSON_CreateObject();
    const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"at", (double)gain->at},
        {"ratio", gain->ratio},
        {"low", gain->low},
        {"high", gain->high},
        {"original", gain->original},
        {"optimized", gain->optimized},
        {"frames", (double)gain->frames},
        {"pairs", gain->pairs},
        {"block", gain->block},
    };
    bool ok = root && cJSON_AddStringToObject(root, "device", gain->device) &&
              cJSON_AddStringToObject(root, "software", gain->software ? gain->software : "") &&
              add_keys(root, "shaders", gain->shaders, gain->shader_count) &&
              add_keys(root, "variants", gain->variants, gain->variant_count);
    for (size_t i = 0; ok && i < sizeof(numbers) / sizeof(numbers[0]); i++)
        ok = cJSON_AddNumberToObject(root, numbers[i].name, numbers[i].value) != NULL;
    if (ok) {
        cJSON *sessions = cJSON_CreateDoubleArray(gain->sessions, (int)gain->session_count);
        if (cJSON_AddItemToObject(root, "sessions", sessions))
            return root;
        cJSON_Delete(sessions);
    }
    cJSON_Delete(root);
    return NULL;
}

bool pm_gain_write(const char *game, const struct pm_gain *gain, struct pm_error *error)
{
    char *path = path_of(game), *folder = pm_place_path(PM_PLACE_DATA, "gains");
    cJSON *root = to_json(gain);
    char *text = root ? cJSON_Print(root) : NULL;
    bool ok =
        (path && folder && text) || pm_fail(error, PM_ERROR_MEMORY, "no home, or out of memory");
    ok = ok && pm_make_folder(folder, error) && pm_file_write(path, text, strlen(text), error);
    cJSON_free(text);
    cJSON_Delete(root);
    free(folder);
    free(path);
    return ok;
}

static double number(const cJSON *root, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool read_keys(const cJSON *root, const char *name, struct pm_arena *arena,
                      const struct pm_shader_key **out, uint32_t *count)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, name), *item;
    struct pm_shader_key *keys =
        pm_arena_zalloc(arena, (size_t)cJSON_GetArraySize(list) + 1, sizeof(*keys));
    *out = keys;
    *count = 0;
    cJSON_ArrayForEach(item, list)
    {
        if (keys && cJSON_IsString(item) && pm_shader_key_parse(item->valuestring, &keys[*count]))
            ++*count;
    }
    return keys != NULL;
}

/* false: one cannot be. */
static bool read_sessions(const cJSON *root, struct pm_gain *gain)
{
    const cJSON *item;
    bool ok = true;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "sessions"))
    {
        ok = ok && gain->session_count < PM_GAIN_SESSIONS && cJSON_IsNumber(item) &&
             item->valuedouble > 0 && isfinite(item->valuedouble);
        if (ok)
            gain->sessions[gain->session_count++] = item->valuedouble;
    }
    return ok;
}

/* false: something is missing or cannot be. */
static bool from_json(const cJSON *root, struct pm_arena *arena, struct pm_gain *gain)
{
    const cJSON *device = cJSON_GetObjectItemCaseSensitive(root, "device"),
                *software = cJSON_GetObjectItemCaseSensitive(root, "software");
    *gain = (struct pm_gain){
        .ratio = number(root, "ratio"),
        .low = number(root, "low"),
        .high = number(root, "high"),
        .original = number(root, "original"),
        .optimized = number(root, "optimized"),
    };
    const double at = number(root, "at"), frames = number(root, "frames"),
                 pairs = number(root, "pairs"), block = number(root, "block");
    if (!cJSON_IsString(device) ||
        !(gain->low > 0 && gain->low <= gain->ratio && gain->ratio <= gain->high) ||
        !isfinite(gain->high) || !(gain->original > 0 && gain->optimized > 0) ||
        !(at >= 0 && at < 1e15) || !(frames >= 0 && frames < 1e15) ||
        !(pairs >= 0 && pairs <= UINT32_MAX) || !(block >= 0 && block <= UINT32_MAX))
        return false;
    gain->at = (int64_t)at;
    gain->frames = (uint64_t)frames;
    gain->pairs = (uint32_t)pairs;
    gain->block = (uint32_t)block;
    gain->device = pm_arena_strdup(arena, device->valuestring);
    /* Without it in a file of an earlier version. */
    gain->software = pm_arena_strdup(arena, cJSON_IsString(software) ? software->valuestring : "");
    return gain->device && gain->software &&
           read_keys(root, "shaders", arena, &gain->shaders, &gain->shader_count) &&
           read_keys(root, "variants", arena, &gain->variants, &gain->variant_count) &&
           read_sessions(root, gain);
}

bool pm_gain_read(const char *game, struct pm_arena *arena, struct pm_gain *gain,
                  struct pm_error *error)
{
    struct pm_buffer text;
    char *path = path_of(game);
    if (!path || access(path, F_OK) != 0) {
        free(path);
        return pm_fail(error, PM_ERROR_STATE, "nothing was compared of %s yet", game);
    }
    pm_buffer_init(&text, MOST_BYTES);
    bool ok = pm_file_read(path, &text, error);
    if (ok) {
        cJSON *root = cJSON_ParseWithLength((const char *)text.data, text.size);
        ok = from_json(root, arena, gain) || pm_fail(error, PM_ERROR_INPUT, "%s: damaged", path);
        cJSON_Delete(root);
    }
    pm_buffer_finish(&text);
    free(path);
    return ok;
}

/* ---- over sessions ---- */

/* Whether they compare the same. */
static bool is_same(const struct pm_gain *a, const struct pm_gain *b)
{
    bool same = strcmp(a->device, b->device) == 0 && strcmp(a->software, b->software) == 0 &&
                a->variant_count == b->variant_count && a->variant_count > 0;
    for (uint32_t i = 0; same && i < a->variant_count; i++) {
        bool found = false;
        for (uint32_t j = 0; !found && j < b->variant_count; j++)
            found = pm_shader_key_equal(&a->variants[i], &b->variants[j]);
        same = found;
    }
    return same;
}

void pm_gain_add_sessions(const char *game, struct pm_gain *gain)
{
    struct pm_arena *arena = pm_arena_create(MOST_BYTES);
    struct pm_gain kept;
    gain->session_count = 0;
    if (arena && pm_gain_read(game, arena, &kept, NULL) && is_same(&kept, gain)) {
        const uint32_t most = PM_GAIN_SESSIONS - 1,
                       count = kept.session_count < most ? kept.session_count : most;
        memcpy(gain->sessions, kept.sessions + kept.session_count - count,
               count * sizeof *gain->sessions);
        gain->session_count = count;
    }
    gain->sessions[gain->session_count++] = gain->ratio;
    pm_arena_destroy(arena);
}

struct pm_paired pm_gain_over_sessions(const struct pm_gain *gain)
{
    double ratios[PM_GAIN_SESSIONS];
    for (uint32_t i = 0; i < gain->session_count; i++)
        ratios[i] = log(gain->sessions[i]);
    return pm_paired_interval(ratios, gain->session_count, 0);
}
