#include "aggregator/trust/sources.h"

#include "base/file.h"
#include "base/random.h"
#include <blake2.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 32
#define NAME_BYTES 16 /* of a counter; 2^-64 of them collide */
#define LEAST_COUNTERS 1024
#define MOST_COUNTERS (1u << 22) /* 80 MiB, at most half of them taken */

static const char magic[8] = "PMepoch1";

struct counter {
    uint8_t name[NAME_BYTES];
    uint32_t clusters; /* 0: nothing is here */
};

/* What the file begins with; the taken counters follow. It never leaves the machine. */
struct head {
    char magic[sizeof(magic)];
    uint32_t day, count;
    uint8_t key[KEY_BYTES];
};

struct pm_sources {
    struct pm_log *log;
    char *file;
    uint32_t clusters;
    bool begun, changed, complained;
    uint32_t day;
    uint8_t key[KEY_BYTES];
    struct counter *counters; /* open addressing; `room` is a power of two */
    uint32_t room, taken;
    uint8_t (*undo)[NAME_BYTES]; /* counters that were raised */
    size_t undo_count, undo_room;
};

static bool make_room(struct pm_sources *sources, uint32_t room);

struct pm_sources *pm_sources_create(const char *file, uint32_t clusters, struct pm_log *log)
{
    struct pm_sources *sources = calloc(1, sizeof(*sources));
    if (!sources)
        return NULL;
    sources->log = log;
    sources->clusters = clusters;
    sources->file = file ? strdup(file) : NULL;
    if ((file && !sources->file) || !make_room(sources, LEAST_COUNTERS)) {
        free(sources->file);
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
    free(sources->undo);
    free(sources->counters);
    free(sources->file);
    free(sources);
}

/* ---- counters ---- */

/* Where the name is, or would be. Names are keyed hashes: nobody can choose where they go. */
static uint32_t find(const struct pm_sources *sources, const uint8_t name[static NAME_BYTES])
{
    uint32_t at;
    memcpy(&at, name, sizeof(at));
    for (;; at++) {
        at &= sources->room - 1;
        const struct counter *counter = &sources->counters[at];
        if (counter->clusters == 0 || memcmp(counter->name, name, NAME_BYTES) == 0)
            return at;
    }
}

static bool make_room(struct pm_sources *sources, uint32_t room)
{
    struct counter *old = sources->counters;
    const uint32_t old_room = sources->room;
    struct counter *counters = calloc(room, sizeof(*counters));
    if (!counters)
        return false;
    sources->counters = counters;
    sources->room = room;
    for (uint32_t i = 0; i < old_room; i++) {
        if (old[i].clusters != 0)
            counters[find(sources, old[i].name)] = old[i];
    }
    free(old);
    return true;
}

/* Room for two more, and for taking them back. */
static bool is_ready(struct pm_sources *sources)
{
    if (sources->taken + 2 > sources->room / 2 &&
        (sources->room == MOST_COUNTERS || !make_room(sources, sources->room * 2)))
        return false;
    if (sources->undo_count + 2 <= sources->undo_room)
        return true;
    const size_t room = sources->undo_room ? sources->undo_room * 2 : 256;
    uint8_t(*undo)[NAME_BYTES] = realloc(sources->undo, room * sizeof(*undo));
    if (!undo)
        return false;
    sources->undo = undo;
    sources->undo_room = room;
    return true;
}

static void raise_counter(struct pm_sources *sources, const uint8_t name[static NAME_BYTES])
{
    struct counter *counter = &sources->counters[find(sources, name)];
    if (counter->clusters == 0) {
        memcpy(counter->name, name, NAME_BYTES);
        sources->taken++;
    }
    counter->clusters++;
    memcpy(sources->undo[sources->undo_count++], name, NAME_BYTES);
}

void pm_sources_keep(struct pm_sources *sources)
{
    sources->changed = sources->changed || sources->undo_count > 0;
    sources->undo_count = 0;
}

/* In the reverse order of raising. A counter that ends at 0 is taken out as if it had never been:
 * those behind it in its chain move up. */
void pm_sources_undo(struct pm_sources *sources)
{
    while (sources->undo_count > 0) {
        uint32_t hole = find(sources, sources->undo[--sources->undo_count]);
        struct counter *counters = sources->counters;
        if (counters[hole].clusters == 0 || --counters[hole].clusters > 0)
            continue;
        sources->taken--;
        for (uint32_t at = (hole + 1) & (sources->room - 1); counters[at].clusters != 0;
             at = (at + 1) & (sources->room - 1)) {
            const uint32_t home = find(sources, counters[at].name);
            if (home == at)
                continue;
            counters[home] = counters[at];
            counters[at].clusters = 0;
        }
    }
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

bool pm_sources_count(struct pm_sources *sources, const struct pm_ingest_source *source,
                      const char *game)
{
    uint8_t of_game[NAME_BYTES], of_all[NAME_BYTES];
    if (sources->clusters == 0)
        return true;
    if (!sources->begun || !is_ready(sources))
        return false;
    hash(sources, source, game, NULL, 0, of_game, sizeof(of_game));
    hash(sources, source, "", NULL, 0, of_all, sizeof(of_all)); /* no game has this name */
    if (sources->counters[find(sources, of_all)].clusters >=
            (uint64_t)sources->clusters * PM_SOURCES_GAMES ||
        sources->counters[find(sources, of_game)].clusters >= sources->clusters)
        return false;
    raise_counter(sources, of_all);
    raise_counter(sources, of_game);
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
    if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.day != day ||
        head.count > MOST_COUNTERS / 2 ||
        bytes->size != sizeof(head) + head.count * sizeof(struct counter))
        return false;
    uint32_t room = LEAST_COUNTERS;
    while (head.count + 2 > room / 2)
        room *= 2;
    if (!make_room(sources, room))
        return false;
    for (uint32_t i = 0; i < head.count; i++) {
        struct counter counter;
        memcpy(&counter, bytes->data + sizeof(head) + i * sizeof(counter), sizeof(counter));
        struct counter *to = &sources->counters[find(sources, counter.name)];
        sources->taken += to->clusters == 0 && counter.clusters != 0;
        *to = counter;
    }
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
    pm_buffer_init(&bytes, sizeof(struct head) + MOST_COUNTERS * sizeof(struct counter));
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
    sources->undo_count = 0;
    sources->taken = 0;
    memset(sources->counters, 0, sources->room * sizeof(*sources->counters));
    if (!first || !load(sources, day)) {
        if (!pm_random_system(sources->key, sizeof(sources->key)))
            return pm_fail(error, PM_ERROR_STATE, "the system gives no random bytes for a key");
        sources->changed = true;
    }
    sources->day = day;
    sources->begun = true;
    pm_sources_save(sources);
    return true;
}

void pm_sources_save(struct pm_sources *sources)
{
    struct head head = {.day = sources->day, .count = sources->taken};
    struct pm_buffer bytes;
    struct pm_error error = {0};
    if (!sources->file || !sources->begun || !sources->changed || sources->undo_count > 0)
        return;
    memcpy(head.magic, magic, sizeof(magic));
    memcpy(head.key, sources->key, sizeof(head.key));
    pm_buffer_init(&bytes, sizeof(head) + MOST_COUNTERS * sizeof(struct counter));
    bool done = pm_buffer_append(&bytes, &head, sizeof(head));
    for (uint32_t i = 0; done && i < sources->room; i++) {
        if (sources->counters[i].clusters != 0)
            done = pm_buffer_append(&bytes, &sources->counters[i], sizeof(struct counter));
    }
    if (!done)
        pm_fail(&error, PM_ERROR_MEMORY, "out of memory");
    done = done && pm_file_write(sources->file, bytes.data, bytes.size, &error);
    if (!done && !sources->complained)
        pm_log_warning(sources->log,
                       "cannot keep the epoch's key, so that a restart begins a new "
                       "epoch: %s",
                       error.message);
    sources->complained = !done;
    sources->changed = !done;
    explicit_bzero(&head, sizeof(head));
    finish_secret(&bytes);
}
