#include "profile/pairs_store.h"

#include "base/file.h"
#include "base/folder_cap.h"
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    MOST_BYTES = 1 << 16,   /* of a file */
    FOLDER_BYTES = 4 << 20, /* of all games */
};

/* In front of the times; a file is for the machine that wrote it. */
struct head {
    char magic[8];
    uint64_t hash; /* of all behind it */
    int64_t at;    /* CLOCK_REALTIME, seconds */
    uint32_t kind, count;
};
static const char magic[8] = {'p', 'm', 'p', 'a', 'i', 'r', 's', '1'};

/* What is owed. */
struct owed {
    char magic[8];
    uint64_t hash; /* of all behind it */
    int64_t at;    /* CLOCK_REALTIME, seconds */
    int64_t nanoseconds;
};
static const char owed_magic[8] = {'p', 'm', 'o', 'w', 'e', 'd', '0', '1'};

struct pm_pairs_store {
    char *folder, *game, *layer;
    _Atomic bool made; /* the folder, and room in it */
};

struct pm_pairs_store *pm_pairs_store_open(const char *folder, const char *game, const char *layer)
{
    struct pm_pairs_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->folder = folder ? strdup(folder) : pm_place_path(PM_PLACE_DATA, "trials");
    store->game = strdup(game);
    store->layer = strdup(layer);
    if (store->folder != NULL && store->game != NULL && store->layer != NULL)
        return store;
    pm_pairs_store_close(store);
    return NULL;
}

void pm_pairs_store_close(struct pm_pairs_store *store)
{
    if (store == NULL)
        return;
    free(store->folder);
    free(store->game);
    free(store->layer);
    free(store);
}

/* malloc'ed; NULL: no memory. */
static char *path_named(const struct pm_pairs_store *store, const char *name)
{
    const XXH128_hash_t hash = XXH3_128bits(name, strlen(name));
    char *path = NULL;
    if (asprintf(&path, "%s/%016" PRIx64 "%016" PRIx64, store->folder, hash.high64, hash.low64) < 0)
        return NULL;
    return path;
}

static char *path_of(const struct pm_pairs_store *store, const struct pm_shader_key *key,
                     const struct pm_shader_key *original, const struct pm_environment *environment)
{
    char shader[PM_SHADER_KEY_TEXT], of[PM_SHADER_KEY_TEXT], *name = NULL;
    pm_shader_key_format(key, shader);
    pm_shader_key_format(original, of);
    const int size = asprintf(
        &name, "%s\n%s\n%s %s %" PRIu32 " %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIx32,
        store->layer, store->game, shader, of, environment->subgroup_size, environment->vendor_id,
        environment->device_id, environment->driver_id, environment->driver_version);
    if (size < 0)
        return NULL;
    char *path = path_named(store, name);
    free(name);
    return path;
}

static char *path_of_owed(const struct pm_pairs_store *store, enum pm_owed_by by)
{
    static const char *const names[] = {
        [PM_OWED_IN_TURN] = "owed", [PM_OWED_OVER_SESSIONS] = "owed over sessions"};
    char *name = NULL;
    if (asprintf(&name, "%s\n%s", names[by], store->game) < 0)
        return NULL;
    char *path = path_named(store, name);
    free(name);
    return path;
}

/* ---- reading ---- */

static uint64_t hash_of(const struct head *head, const void *times)
{
    const uint64_t of_head = XXH3_64bits(&head->at, sizeof *head - offsetof(struct head, at));
    return XXH3_64bits_withSeed(times, head->count * sizeof(float[2]), of_head);
}

static bool is_time(float nanoseconds)
{
    return nanoseconds > 0 && isfinite(nanoseconds);
}

static bool is_of_late(int64_t at, int64_t now)
{
    return at >= now - PM_DAYS_UNDECIDED * INT64_C(86400) && at <= now;
}

static bool take(const struct pm_buffer *file, int64_t now, uint32_t most,
                 struct pm_kept_pairs *pairs)
{
    struct head head;
    if (file->size < sizeof head)
        return false;
    memcpy(&head, file->data, sizeof head);
    const unsigned char *times = (const unsigned char *)file->data + sizeof head;
    const size_t size = file->size - sizeof head;
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.count == 0 || head.count > most ||
        size != head.count * sizeof(float[2]) || head.hash != hash_of(&head, times) ||
        !is_of_late(head.at, now) || head.kind > PM_TIMED_PASSES)
        return false;
    float(*time)[2] = malloc(size);
    if (time == NULL)
        return false;
    memcpy(time, times, size);
    for (uint32_t i = 0; i < head.count; i++) {
        if (!is_time(time[i][0]) || !is_time(time[i][1])) {
            free(time);
            return false;
        }
    }
    *pairs = (struct pm_kept_pairs){(enum pm_timed_kind)head.kind, head.count, time};
    return true;
}

bool pm_pairs_store_read(const struct pm_pairs_store *store, const struct pm_shader_key *key,
                         const struct pm_shader_key *original,
                         const struct pm_environment *environment, int64_t now, uint32_t most,
                         struct pm_kept_pairs *pairs)
{
    *pairs = (struct pm_kept_pairs){0};
    char *path = store != NULL ? path_of(store, key, original, environment) : NULL;
    if (path == NULL)
        return false;
    struct pm_buffer file;
    pm_buffer_init(&file, MOST_BYTES);
    const bool taken = pm_file_read(path, &file, NULL) && take(&file, now, most, pairs);
    pm_buffer_finish(&file);
    free(path);
    return taken;
}

/* ---- writing ---- */

static bool make_folder(struct pm_pairs_store *store, struct pm_error *error)
{
    if (atomic_load(&store->made))
        return true;
    if (!pm_make_folder(store->folder, error))
        return false;
    const char *const folders[] = {store->folder};
    (void)pm_folders_shrink(folders, 1, FOLDER_BYTES, MOST_BYTES);
    atomic_store(&store->made, true);
    return true;
}

bool pm_pairs_store_keep(struct pm_pairs_store *store, const struct pm_shader_key *key,
                         const struct pm_shader_key *original,
                         const struct pm_environment *environment, int64_t now,
                         const struct pm_kept_pairs *pairs, struct pm_error *error)
{
    if (store == NULL || pairs->count == 0)
        return true;
    if (!make_folder(store, error))
        return false;
    struct head head = {.at = now, .kind = pairs->kind, .count = pairs->count};
    memcpy(head.magic, magic, sizeof magic);
    head.hash = hash_of(&head, pairs->time);
    struct pm_buffer file;
    pm_buffer_init(&file, MOST_BYTES);
    char *path = path_of(store, key, original, environment);
    bool kept = path != NULL && pm_buffer_append(&file, &head, sizeof head) &&
                pm_buffer_append(&file, pairs->time, pairs->count * sizeof *pairs->time);
    if (!kept)
        pm_fail(error, PM_ERROR_MEMORY, "no memory to keep what a trial has timed");
    kept = kept && pm_file_put(path, file.data, file.size, error);
    pm_buffer_finish(&file);
    free(path);
    return kept;
}

/* ---- what is owed ---- */

static uint64_t hash_of_owed(const struct owed *owed)
{
    return XXH3_64bits(&owed->at, sizeof *owed - offsetof(struct owed, at));
}

int64_t pm_owed_within(enum pm_owed_by by, int64_t nanoseconds)
{
    const int64_t most = by == PM_OWED_IN_TURN ? PM_MOST_OWED : PM_MOST_OWED_OVER_SESSIONS,
                  least = by == PM_OWED_IN_TURN ? 0 : -PM_MOST_OWED_OVER_SESSIONS;
    return nanoseconds < least ? least : nanoseconds > most ? most : nanoseconds;
}

/* All zero: there is nothing. */
static struct owed read_owed(const struct pm_pairs_store *store, enum pm_owed_by by, int64_t now)
{
    struct owed owed = {.nanoseconds = 0};
    char *path = store != NULL ? path_of_owed(store, by) : NULL;
    if (path == NULL)
        return owed;
    struct pm_buffer file;
    pm_buffer_init(&file, MOST_BYTES);
    const bool read = pm_file_read(path, &file, NULL) && file.size == sizeof owed;
    if (read)
        memcpy(&owed, file.data, sizeof owed);
    pm_buffer_finish(&file);
    free(path);
    const bool good = read && memcmp(owed.magic, owed_magic, sizeof owed_magic) == 0 &&
                      owed.hash == hash_of_owed(&owed) && is_of_late(owed.at, now) &&
                      owed.nanoseconds == pm_owed_within(by, owed.nanoseconds);
    return good ? owed : (struct owed){.nanoseconds = 0};
}

int64_t pm_pairs_store_owed(const struct pm_pairs_store *store, enum pm_owed_by by, int64_t now)
{
    return read_owed(store, by, now).nanoseconds;
}

bool pm_pairs_store_owe(struct pm_pairs_store *store, enum pm_owed_by by, int64_t now, int64_t more,
                        int64_t paid, struct pm_error *error)
{
    if (store == NULL)
        return true;
    if (!make_folder(store, error))
        return false;
    struct owed owed = read_owed(store, by, now);
    const int64_t left = owed.nanoseconds + more;
    /* What is paid makes it no younger. */
    if (owed.at == 0 || llabs(left) > llabs(owed.nanoseconds))
        owed.at = now;
    owed.nanoseconds =
        pm_owed_within(by, left > 0 && paid > 0 ? (left > paid ? left - paid : 0) : left);
    memcpy(owed.magic, owed_magic, sizeof owed_magic);
    owed.hash = hash_of_owed(&owed);
    char *path = path_of_owed(store, by);
    if (path == NULL)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory to keep what trials owe");
    const bool kept = pm_file_put(path, &owed, sizeof owed, error);
    free(path);
    return kept;
}

void pm_pairs_store_forget(const struct pm_pairs_store *store, const struct pm_shader_key *key,
                           const struct pm_shader_key *original,
                           const struct pm_environment *environment)
{
    char *path = store != NULL ? path_of(store, key, original, environment) : NULL;
    if (path != NULL)
        (void)unlink(path);
    free(path);
}
