/*
 * Uploads that cannot be. They wait in memory until the next upkeep writes them: whoever sends
 * nothing but such uploads must not make the service write.
 */
#include "aggregator/aggregator_private.h"

#include <stdlib.h>
#include <string.h>

#define BODY_BYTES ((size_t)64 << 10) /* above it only the reason is kept */
#define STORED_ENTRIES 1000
#define STORED_BYTES ((uint64_t)16 << 20) /* of bodies */
#define SECONDS_AN_HOUR 3600

static void forget(struct pm_waiting_entry *entry)
{
    free(entry->game);
    free(entry->reason);
    free(entry->body);
    memset(entry, 0, sizeof(*entry));
}

void pm_quarantine_finish(struct pm_waiting *waiting)
{
    for (size_t i = 0; i < waiting->count; i++)
        forget(&waiting->entries[i]);
    waiting->count = 0;
    pthread_mutex_destroy(&waiting->mutex);
}

/* A client that sends the same again and again is one entry. */
static bool is_waiting(const struct pm_waiting *waiting, const char *game, const char *reason)
{
    for (size_t i = 0; i < waiting->count; i++) {
        if (strcmp(waiting->entries[i].game, game) == 0 &&
            strcmp(waiting->entries[i].reason, reason) == 0)
            return true;
    }
    return false;
}

void pm_aggregator_quarantine_add(struct pm_aggregator *aggregator, const char *game,
                                  const char *reason, const void *body, size_t body_size)
{
    struct pm_waiting *waiting = &aggregator->waiting;
    const int64_t now = pm_aggregator_now(aggregator);
    struct pm_waiting_entry entry = {
        .time = now - now % SECONDS_AN_HOUR, .game = strdup(game), .reason = strdup(reason)};
    if (body && body_size > 0 && body_size <= BODY_BYTES && (entry.body = malloc(body_size))) {
        memcpy(entry.body, body, body_size);
        entry.body_size = body_size;
    }
    pthread_mutex_lock(&waiting->mutex);
    if (!entry.game || !entry.reason || is_waiting(waiting, game, reason)) {
        forget(&entry);
    } else {
        if (waiting->count == PM_WAITING) {
            forget(&waiting->entries[0]);
            memmove(waiting->entries, waiting->entries + 1,
                    (PM_WAITING - 1) * sizeof(*waiting->entries));
            waiting->count--;
        }
        waiting->entries[waiting->count++] = entry;
    }
    pthread_mutex_unlock(&waiting->mutex);
}

void pm_quarantine_add_profile(struct pm_aggregator *aggregator, const struct pm_profile *profile,
                               const char *reason)
{
    struct pm_profile nameless = *profile;
    struct pm_buffer encoded, body;
    pm_buffer_init(&encoded, pm_profile_limits_default.decompressed_bytes);
    pm_buffer_init(&body, BODY_BYTES);
    memset(nameless.upload_id, 0, sizeof(nameless.upload_id));
    if (!pm_profile_encode(&nameless, &encoded, NULL) ||
        !pm_compress(encoded.data, encoded.size, &body, NULL))
        body.size = 0;
    pm_aggregator_quarantine_add(aggregator, profile->game, reason, body.data, body.size);
    pm_buffer_finish(&body);
    pm_buffer_finish(&encoded);
}

bool pm_quarantine_write(struct pm_aggregator *aggregator, struct pm_error *error)
{
    struct pm_storage *storage = aggregator->storage;
    struct pm_waiting *waiting = &aggregator->waiting;
    bool done = true;
    pthread_mutex_lock(&waiting->mutex);
    const size_t count = waiting->count;
    if (count > 0)
        done = storage->operations->begin(storage, error);
    for (size_t i = 0; done && i < count; i++) {
        const struct pm_waiting_entry *entry = &waiting->entries[i];
        const struct pm_quarantined written = {entry->time, entry->game, entry->reason, entry->body,
                                               entry->body_size};
        done = storage->operations->add_quarantined(storage, &written, STORED_ENTRIES, STORED_BYTES,
                                                    error);
        if (!done)
            storage->operations->rollback(storage);
    }
    if (count > 0 && done)
        done = storage->operations->commit(storage, error);
    for (size_t i = 0; done && i < count; i++)
        forget(&waiting->entries[i]);
    if (done)
        waiting->count = 0;
    pthread_mutex_unlock(&waiting->mutex);
    return done;
}

bool pm_aggregator_quarantine(struct pm_aggregator *aggregator, const char *game,
                              pm_visit_quarantined visit, void *user, struct pm_error *error)
{
    struct pm_storage *storage = aggregator->storage;
    /* What waits is shown too, unless somebody writes just now: whoever looks shall not wait. */
    if (pthread_mutex_trylock(&aggregator->write_mutex) == 0) {
        const bool written = pm_quarantine_write(aggregator, error);
        pthread_mutex_unlock(&aggregator->write_mutex);
        if (!written)
            return false;
    }
    return storage->operations->read_quarantine(storage, game, visit, user, error);
}
