#include "aggregator/trust/sources.h"

#include "base/file.h"
#include "base/random.h"
#include <blake2.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES PM_EPOCH_BYTES

static const char magic[8] = "PMepoch1";

/* What the file is, but for counts behind it that earlier versions wrote. It never leaves the
 * machine. */
struct head {
    char magic[sizeof(magic)];
    uint32_t day, count;
    uint8_t key[KEY_BYTES];
};
#define FILE_CAP ((size_t)1 << 26)

struct pm_sources {
    struct pm_log *log;
    struct pm_storage *storage;
    char *file;
    uint32_t clusters;
    bool begun, changed, complained;
    uint32_t day;
    uint8_t key[KEY_BYTES];
};

struct pm_sources *pm_sources_create(const char *file, struct pm_storage *storage,
                                     uint32_t clusters, struct pm_log *log)
{
    struct pm_sources *sources = calloc(1, sizeof(*sources));
    if (!sources)
        return NULL;
    sources->log = log;
    sources->storage = storage;
    sources->clusters = clusters;
    sources->file = file ? strdup(file) : NULL;
    if (file && !sources->file) {
        free(sources);
        return NULL;
    }
    return sources;
}

void pm_sources_destroy(struct pm_sources *sources)
{
    if (!sources)
        return;
    pm_sources_save(sources);
    explicit_bzero(sources->key, sizeof(sources->key));
    free(sources->file);
    free(sources);
}

/* ---- marks ---- */

/* The keyed hash of the source and of what is to be marked. */
static void hash(const struct pm_sources *sources, const struct pm_ingest_source *source,
                 const char *game, const void *more, size_t more_size, void *out, size_t out_size)
{
    blake2b_state state;
    const size_t game_size = strlen(game) + 1;
    blake2b_init_key(&state, out_size, sources->key, sizeof(sources->key));
    blake2b_update(&state, source->digest, sizeof(source->digest));
    blake2b_update(&state, (const uint8_t *)game, game_size);
    if (more_size > 0)
        blake2b_update(&state, more, more_size);
    blake2b_final(&state, out, out_size);
}

bool pm_sources_cap(const struct pm_sources *sources, const struct pm_ingest_source *source,
                    const char *game, const uint8_t *id, struct pm_storage_cap *cap)
{
    if (sources->clusters == 0 || source->fleet)
        return false;
    /* No game has the name "". */
    hash(sources, source, game, NULL, 0, cap->of_game, sizeof(cap->of_game));
    hash(sources, source, "", NULL, 0, cap->of_all, sizeof(cap->of_all));
    hash(sources, source, game, id, PM_UPLOAD_ID_BYTES, cap->id_of_game, sizeof(cap->id_of_game));
    hash(sources, source, "", id, PM_UPLOAD_ID_BYTES, cap->id_of_all, sizeof(cap->id_of_all));
    cap->day = sources->day;
    cap->most_of_game = sources->clusters;
    cap->most = sources->clusters > UINT32_MAX / PM_SOURCES_GAMES
                    ? UINT32_MAX
                    : sources->clusters * PM_SOURCES_GAMES;
    return true;
}

bool pm_sources_has_mark(const struct pm_sources *sources, const struct pm_ingest_source *source)
{
    return sources->clusters != 0 && !source->fleet;
}

bool pm_sources_sample_mark(const struct pm_sources *sources, const struct pm_ingest_source *source,
                            const char *game, uint8_t mark[static PM_MARK_BYTES])
{
    static const char what[] = "samples"; /* no claim is as short */
    if (!pm_sources_has_mark(sources, source))
        return false;
    hash(sources, source, game, what, sizeof(what), mark, PM_MARK_BYTES);
    return true;
}

void pm_sources_mark(const struct pm_sources *sources, const struct pm_ingest_source *source,
                     const char *game, const struct pm_shader_key *key, enum pm_kind kind,
                     const uint8_t scope[static PM_SCOPE_BYTES], uint8_t mark[static PM_MARK_BYTES])
{
    uint8_t shader[PM_SHADER_KEY_BYTES + 1 + PM_SCOPE_BYTES];
    memcpy(shader, key->bytes, PM_SHADER_KEY_BYTES);
    shader[PM_SHADER_KEY_BYTES] = (uint8_t)kind;
    memcpy(shader + PM_SHADER_KEY_BYTES + 1, scope, PM_SCOPE_BYTES);
    hash(sources, source, game, shader, sizeof(shader), mark, PM_MARK_BYTES);
}

/* ---- epochs ---- */

static bool take_file(struct pm_sources *sources, const struct pm_buffer *bytes, uint32_t day)
{
    struct head head;
    if (bytes->size < sizeof(head))
        return false;
    memcpy(&head, bytes->data, sizeof(head));
    if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.day != day)
        return false;
    memcpy(sources->key, head.key, sizeof(sources->key));
    explicit_bzero(&head, sizeof(head));
    return true;
}

static void finish_secret(struct pm_buffer *bytes)
{
    if (bytes->data)
        explicit_bzero(bytes->data, bytes->size);
    pm_buffer_finish(bytes);
}

/* What an earlier process left of this epoch. A file that cannot be read or is of another day is
 * no reason to stop: it is written over. */
static bool load(struct pm_sources *sources, uint32_t day)
{
    struct pm_buffer bytes;
    if (!sources->file)
        return false;
    pm_buffer_init(&bytes, FILE_CAP);
    const bool done = pm_file_read(sources->file, &bytes, NULL) && take_file(sources, &bytes, day);
    finish_secret(&bytes);
    return done;
}

bool pm_sources_begin(struct pm_sources *sources, uint32_t day, struct pm_error *error)
{
    if (sources->begun && sources->day == day)
        return true;
    const bool first = !sources->begun;
    sources->begun = false;
    if (!first || !load(sources, day)) {
        if (!pm_random_system(sources->key, sizeof(sources->key)))
            return pm_fail(error, PM_ERROR_STATE, "the system gives no random bytes for a key");
        sources->changed = true;
        const struct pm_storage_operations *operations = sources->storage->operations;
        if (!sources->file && operations->take_epoch &&
            !operations->take_epoch(sources->storage, day, sources->key, error))
            return false;
    }
    sources->day = day;
    sources->begun = true;
    pm_sources_save(sources);
    return true;
}

void pm_sources_save(struct pm_sources *sources)
{
    struct head head = {.day = sources->day};
    struct pm_error error = {0};
    if (!sources->file || !sources->begun || !sources->changed)
        return;
    memcpy(head.magic, magic, sizeof(magic));
    memcpy(head.key, sources->key, sizeof(head.key));
    const bool done = pm_file_write(sources->file, &head, sizeof(head), &error);
    if (!done && !sources->complained)
        pm_log_warning(sources->log,
                       "cannot keep the epoch's key, so that a restart begins a new "
                       "epoch: %s",
                       error.message);
    sources->complained = !done;
    sources->changed = !done;
    explicit_bzero(&head, sizeof(head));
}
