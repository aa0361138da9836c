#include "aggregator/service/service_rules.h"

#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t of_server(const struct pm_service *service)
{
    const struct pm_profile_limits *limits = &service->limits;
    char all[256];
    const int size = snprintf(all, sizeof(all), "%s %zu %zu %zu %zu %zu %zu", PM_VERSION,
                              limits->compressed_bytes, limits->decompressed_bytes, limits->shaders,
                              limits->points_per_shader, limits->space, limits->name_bytes);
    return XXH3_64bits(all, (size_t)size);
}

/* What a game's sums come from: another one with each change (pm_storage_note_change). */
static bool add_origin(void *user, const void *origin, size_t size, struct pm_error *error)
{
    uint64_t *sum = user;
    (void)error;
    *sum = XXH3_64bits_withSeed(origin, size, *sum);
    return true;
}

bool pm_rules_find(struct pm_service *service, const char *game, char text[static PM_RULES_TEXT],
                   struct pm_error *error)
{
    struct pm_storage *storage = pm_aggregator_storage(service->aggregator);
    uint64_t sum = 0;
    snprintf(text, PM_RULES_TEXT, "%016" PRIx64, of_server(service));
    if (!game)
        return true;
    if (!storage->operations->read_origins(storage, game, add_origin, &sum, error))
        return false;
    snprintf(text + 16, PM_RULES_TEXT - 16, ".%016" PRIx64, sum);
    return true;
}

/* Uploads of those who have a vote are not refused for what is known of a shader, and when the
 * votes of others have changed that is nothing that they may learn before it is published. */
static bool may_be_refused(const struct pm_get *get)
{
    struct pm_tokens *uploaders = &get->service->uploaders;
    uint8_t digest[PM_TOKEN_DIGEST_BYTES];
    const char *authorization = MHD_lookup_connection_value(get->connection, MHD_HEADER_KIND,
                                                            MHD_HTTP_HEADER_AUTHORIZATION);
    return !uploaders->asked ||
           (pm_tokens_digest(authorization, digest) && pm_tokens_is_fleet(uploaders, digest));
}

enum MHD_Result pm_get_rules(struct pm_get *get)
{
    char text[PM_RULES_TEXT], json[PM_RULES_TEXT + 16];
    struct pm_error error = {0};
    const char *game = may_be_refused(get) ? get->names[0] : NULL;
    if (!pm_rules_find(get->service, game, text, &error)) {
        pm_log_error(get->service->log, "cannot read what is known of \"%s\": %s", get->names[0],
                     error.message);
        return pm_http_answer_unread(get->connection, &error,
                                     "the storage cannot be read; the log says why");
    }
    snprintf(json, sizeof(json), "{\"rules\":\"%s\"}", text);
    return pm_http_answer_json(get->connection, MHD_HTTP_OK, json, text);
}
