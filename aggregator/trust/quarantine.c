#include "aggregator/trust/quarantine.h"

#include <stdlib.h>
#include <string.h>

#define BODY_BYTES ((size_t)64 << 10) /* above it only the reason is kept */
#define STORED_ENTRIES 1000
#define STORED_BYTES ((uint64_t)16 << 20) /* of bodies */
#define SECONDS_AN_HOUR 3600

static int64_t hour_of(const struct pm_quarantine *quarantine)
{
    const int64_t now = pm_world_now(quarantine->world);
    return now - now % SECONDS_AN_HOUR;
}

static void forget(struct pm_quarantine_entry *entry)
{
    free(entry->game);
    free(entry->reason);
    free(entry->body);
    memset(entry, 0, sizeof(*entry));
}

void pm_quarantine_init(struct pm_quarantine *quarantine, struct pm_world *world)
{
    *quarantine = (struct pm_quarantine){.world = world};
    pthread_mutex_init(&quarantine->mutex, NULL);
}

void pm_quarantine_finish(struct pm_quarantine *quarantine)
{
    for (size_t i = 0; i < quarantine->count; i++)
        forget(&quarantine->entries[i]);
    quarantine->count = 0;
    pthread_mutex_destroy(&quarantine->mutex);
}

/* A client that sends the same again and again is one entry. */
static bool is_waiting(const struct pm_quarantine *waiting, const char *game, const char *reason)
{
    for (size_t i = 0; i < waiting->count; i++) {
        if (strcmp(waiting->entries[i].game, game) == 0 &&
            strcmp(waiting->entries[i].reason, reason) == 0)
            return true;
    }
    return false;
}

void pm_quarantine_add(struct pm_quarantine *waiting, const char *game, const char *reason,
                       const void *body, size_t body_size)
{
    struct pm_quarantine_entry entry = {
        .time = hour_of(waiting), .game = strdup(game), .reason = strdup(reason)};
    if (body && body_size > 0 && body_size <= BODY_BYTES && (entry.body = malloc(body_size))) {
        memcpy(entry.body, body, body_size);
        entry.body_size = body_size;
    }
    pthread_mutex_lock(&waiting->mutex);
    if (!entry.game || !entry.reason || is_waiting(waiting, game, reason)) {
        forget(&entry);
    } else {
        if (waiting->count == PM_QUARANTINE_WAITING) {
            forget(&waiting->entries[0]);
            memmove(waiting->entries, waiting->entries + 1,
                    (PM_QUARANTINE_WAITING - 1) * sizeof(*waiting->entries));
            waiting->count--;
        }
        waiting->entries[waiting->count++] = entry;
    }
    pthread_mutex_unlock(&waiting->mutex);
}

void pm_quarantine_add_profile(struct pm_quarantine *quarantine, const struct pm_profile *profile,
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
    pm_quarantine_add(quarantine, profile->game, reason, body.data, body.size);
    pm_buffer_finish(&body);
    pm_buffer_finish(&encoded);
}

struct written {
    const struct pm_quarantine_entry *entries;
    size_t count;
};

static bool write_entries(void *user, struct pm_storage *storage, struct pm_error *error)
{
    const struct written *written = user;
    bool done = true;
    for (size_t i = 0; done && i < written->count; i++) {
        const struct pm_quarantine_entry *entry = &written->entries[i];
        const struct pm_quarantined row = {entry->time, entry->game, entry->reason, entry->body,
                                           entry->body_size};
        done = storage->operations->add_quarantined(storage, &row, STORED_ENTRIES, STORED_BYTES,
                                                    error);
    }
    return done;
}

/* Puts back what could not be written, before what came since; the oldest go where there is no
 * room. */
static void put_back(struct pm_quarantine *waiting, struct pm_quarantine_entry *entries,
                     size_t count)
{
    pthread_mutex_lock(&waiting->mutex);
    const size_t room = PM_QUARANTINE_WAITING - waiting->count,
                 lost = count > room ? count - room : 0;
    memmove(waiting->entries + (count - lost), waiting->entries,
            waiting->count * sizeof(*waiting->entries));
    memcpy(waiting->entries, entries + lost, (count - lost) * sizeof(*entries));
    waiting->count += count - lost;
    pthread_mutex_unlock(&waiting->mutex);
    for (size_t i = 0; i < lost; i++)
        forget(&entries[i]);
}

bool pm_quarantine_write(struct pm_quarantine *waiting, struct pm_error *error)
{
    struct pm_quarantine_entry entries[PM_QUARANTINE_WAITING];
    /* Whoever refuses an upload meanwhile does not wait for the disk. */
    pthread_mutex_lock(&waiting->mutex);
    const size_t count = waiting->count;
    memcpy(entries, waiting->entries, count * sizeof(*entries));
    waiting->count = 0;
    pthread_mutex_unlock(&waiting->mutex);
    if (count == 0)
        return true;
    struct written written = {entries, count};
    if (!pm_world_transact(waiting->world, PM_DURABLE, write_entries, &written, error)) {
        put_back(waiting, entries, count);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        forget(&entries[i]);
    return true;
}

bool pm_quarantine_set_aside(struct pm_quarantine *quarantine, const char *game, const char *reason,
                             const void *data, size_t size, struct pm_error *error)
{
    struct pm_storage *storage = quarantine->world->storage;
    struct pm_buffer body;
    pm_buffer_init(&body, STORED_BYTES);
    /* What is too large leaves its reason. */
    if (!pm_compress(data, size, &body, NULL))
        body.size = 0;
    const struct pm_quarantined entry = {.time = hour_of(quarantine),
                                         .game = game,
                                         .reason = reason,
                                         .body = body.size > 0 ? body.data : NULL,
                                         .body_size = body.size};
    const bool done =
        storage->operations->add_quarantined(storage, &entry, STORED_ENTRIES, STORED_BYTES, error);
    pm_buffer_finish(&body);
    return done;
}

static bool show_waiting(struct pm_quarantine *waiting, const char *game,
                         pm_visit_quarantined visit, void *user, struct pm_error *error)
{
    bool done = true;
    pthread_mutex_lock(&waiting->mutex);
    for (size_t i = waiting->count; done && i-- > 0;) {
        const struct pm_quarantine_entry *entry = &waiting->entries[i];
        const struct pm_quarantined shown = {entry->time, entry->game, entry->reason, entry->body,
                                             entry->body_size};
        done = (game && strcmp(game, entry->game) != 0) || visit(user, &shown, error);
    }
    pthread_mutex_unlock(&waiting->mutex);
    return done;
}

bool pm_quarantine_show(struct pm_quarantine *quarantine, const char *game,
                        pm_visit_quarantined visit, void *user, struct pm_error *error)
{
    struct pm_storage *storage = quarantine->world->storage;
    return show_waiting(quarantine, game, visit, user, error) &&
           storage->operations->read_quarantine(storage, game, visit, user, error);
}
