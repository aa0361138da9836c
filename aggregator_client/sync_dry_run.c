#include "aggregator_client/session_upload.h"
#include "aggregator_client/sync_refused.h"
#include "base/file.h"
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* The profile as it would travel: decoded from the very bytes. */
static cJSON *profile_json(const struct pm_buffer *body, struct pm_error *error)
{
    struct pm_buffer wire, text;
    struct pm_profile profile;
    struct pm_arena *arena = pm_arena_create(0);
    cJSON *json = NULL;
    pm_buffer_init(&wire, pm_profile_limits_default.decompressed_bytes);
    pm_buffer_init(&text, (size_t)1 << 30);
    if (!arena)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    else if (pm_decompress(body->data, body->size, &wire, error) &&
             pm_profile_decode(wire.data, wire.size, NULL, arena, &profile, error) &&
             pm_profile_to_json(&profile, &text, error))
        /* Raw, since reading it again would round 64-bit counts. */
        json = cJSON_CreateRaw((char *)text.data);
    pm_buffer_finish(&wire);
    pm_buffer_finish(&text);
    pm_arena_destroy(arena);
    return json;
}

/* why: it would not be sent; NULL: it would. */
static bool add_body(const char *from, const char *why, const char *url,
                     const struct pm_buffer *body, cJSON *list, struct pm_error *error)
{
    cJSON *object = cJSON_CreateObject(), *profile = profile_json(body, error);
    const bool added = object && profile && cJSON_AddStringToObject(object, "session", from) &&
                       cJSON_AddBoolToObject(object, "would_be_sent", why == NULL) &&
                       (!why || cJSON_AddStringToObject(object, "why_not", why)) &&
                       (!url || cJSON_AddStringToObject(object, "url", url)) &&
                       cJSON_AddNumberToObject(object, "bytes", (double)body->size);
    if (added && cJSON_AddItemToObject(object, "profile", profile) &&
        cJSON_AddItemToArray(list, object))
        return true;
    cJSON_Delete(object);
    cJSON_Delete(profile);
    return pm_fail(error, PM_ERROR_MEMORY, "no room for %s as JSON", from);
}

static const char *why_not(enum pm_consent consent, const struct pm_game_settings *settings)
{
    return consent != PM_CONSENT_GRANTED ? "there is no consent (`piecemeal consent grant`)"
           : settings->withheld          ? settings->why
                                         : NULL;
}

static bool add_upload(const struct pm_sync_info *info, enum pm_consent consent, const char *path,
                       unsigned part, struct pm_session *session, cJSON *list,
                       struct pm_error *error)
{
    struct pm_session_upload *upload = &session->uploads[part];
    char *kept = pm_spool_upload_path(path, part);
    struct pm_game_settings settings;
    bool acknowledged = false;
    if (kept)
        pm_session_upload_take_kept(upload, kept, &acknowledged);
    free(kept);
    if (acknowledged)
        return true;
    if (!pm_game_settings_init(&settings, info, upload->game, error))
        return false;
    const char *why = consent == PM_CONSENT_GRANTED && session->withheld
                          ? "consent.upload was false when it was recorded"
                          : why_not(consent, &settings);
    const bool added =
        add_body(path, why, settings.server->aggregator.url, &upload->body, list, error);
    pm_game_settings_finish(&settings);
    return added;
}

struct refused {
    const struct pm_sync_info *info;
    enum pm_consent consent;
    cJSON *list;
    bool added;
    struct pm_error *error;
};

static bool add_refused(void *user, const struct pm_refused_upload *upload)
{
    struct refused *refused = user;
    struct pm_game_settings settings;
    struct pm_buffer body;
    pm_buffer_init(&body, pm_profile_limits_default.decompressed_bytes);
    refused->added = pm_game_settings_init(&settings, refused->info, upload->game, refused->error);
    if (!refused->added)
        return false;
    const char *why = why_not(refused->consent, &settings);
    refused->added =
        pm_file_read(upload->path, &body, refused->error) &&
        add_body(upload->path,
                 why ? why
                     : "it was refused: it is sent when the aggregator says that what "
                       "refused it has changed",
                 settings.server->aggregator.url, &body, refused->list, refused->error);
    pm_buffer_finish(&body);
    pm_game_settings_finish(&settings);
    return refused->added;
}

static bool add_session(const struct pm_sync_info *info, enum pm_consent consent, const char *path,
                        cJSON *list, struct pm_error *error)
{
    struct pm_session session;
    struct pm_error why = {0};
    if (!pm_session_build(&session, path, &why)) {
        /* Nothing of it would be sent. */
        pm_log_warning(info->log, "%s", why.message);
        return true;
    }
    bool added = true;
    for (unsigned part = 0; part < session.count && added; part++)
        added = add_upload(info, consent, path, part, &session, list, error);
    pm_session_finish(&session);
    return added;
}

bool pm_sync_dry_run(const struct pm_sync_info *info, struct pm_buffer *out, struct pm_error *error)
{
    struct pm_spool_session *sessions;
    size_t count;
    enum pm_consent consent;
    if (!pm_consent_read(&consent, error) ||
        !pm_spool_list(info->spool_folder, &sessions, &count, error))
        return false;
    cJSON *list = cJSON_CreateArray();
    bool added = list || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; i < count && added; i++) {
        if (!sessions[i].live)
            added = add_session(info, consent, sessions[i].path, list, error);
    }
    pm_spool_list_free(sessions, count);
    char *folder = added ? pm_spool_folder(info->spool_folder) : NULL;
    struct refused refused = {info, consent, list, added, error};
    if (folder)
        pm_refused_list(folder, add_refused, &refused);
    added = refused.added && (folder || pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    free(folder);
    char *text = added ? cJSON_Print(list) : NULL;
    if (added)
        added = (text && pm_buffer_printf(out, "%s\n", text)) ||
                pm_fail(error, PM_ERROR_MEMORY, "no room for the uploads as JSON");
    cJSON_free(text);
    cJSON_Delete(list);
    return added;
}
