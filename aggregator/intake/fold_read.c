#include "aggregator/intake/fold_read.h"

#include "aggregator/intake/day_sum.h"
#include "aggregator/intake/samples.h"
#include <stdlib.h>
#include <string.h>

/* Bytes that wait of a game and are summed whenever somebody reads it. */
#define SUMMED_MOST ((uint64_t)8 << 20)
#define TRIES 8 /* where another folds what was summed */

/* A blob that a day would become. */
struct waiting {
    struct pm_storage_blob blob;
    bool replaces; /* what is stored of the shader is by a lie */
};

struct reading {
    struct pm_folding *folding;
    const char *game, *scene; /* scene NULL: all */
    const struct pm_shader_key *key;
    pm_storage_visit_blob visit;
    void *user;
    struct pm_buffer parts; /* unsigned each */
    uint64_t bytes;
    struct pm_day_sum *sums; /* of the parts */
    uint64_t *left;          /* rows that wait in each of these still */
    size_t sum_count;
    struct waiting *waiting; /* in the storage's order */
    size_t count, allocated, at;
    bool begun;  /* what is stored is read as of some time */
    bool folded; /* some of what was summed was stored by then */
};

/* ---- what waits ---- */

static bool note_part(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                      struct pm_error *error)
{
    struct reading *reading = user;
    uint32_t day;
    unsigned of;
    (void)game;
    (void)rows;
    if (!pm_sample_part_has_marks(part, &day, &of) ||
        (reading->key && of != PM_SAMPLE_MIXED && of != pm_sample_part(reading->key)))
        return true;
    reading->bytes += bytes;
    return pm_buffer_append(&reading->parts, &part, sizeof(part)) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory for parts");
}

static bool keep_blob(void *user, const struct pm_storage_blob *blob, bool replaces,
                      struct pm_error *error)
{
    struct reading *reading = user;
    if (reading->scene && strcmp(reading->scene, blob->key.scene) != 0)
        return true;
    if (reading->count == reading->allocated) {
        const size_t allocated = reading->allocated ? reading->allocated * 2 : 256;
        struct waiting *waiting = reallocarray(reading->waiting, allocated, sizeof(*waiting));
        if (!waiting)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu sums", allocated);
        reading->waiting = waiting;
        reading->allocated = allocated;
    }
    reading->waiting[reading->count++] = (struct waiting){*blob, replaces};
    return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* By what curation takes as one: key, environment and kind. */
static int compare_shaders(const struct pm_storage_key *a, const struct pm_storage_key *b)
{
    const struct pm_environment *x = &a->environment, *y = &b->environment;
    int order = memcmp(a->key.bytes, b->key.bytes, PM_SHADER_KEY_BYTES);
    if (order == 0)
        order = compare_numbers(x->subgroup_size, y->subgroup_size);
    if (order == 0)
        order = compare_numbers(x->vendor_id, y->vendor_id);
    if (order == 0)
        order = compare_numbers(x->device_id, y->device_id);
    if (order == 0)
        order = compare_numbers(x->driver_id, y->driver_id);
    if (order == 0)
        order = compare_numbers(x->driver_version, y->driver_version);
    return order != 0 ? order : compare_numbers(a->kind, b->kind);
}

static int compare_waiting(const void *a, const void *b)
{
    const struct pm_storage_key *left = &((const struct waiting *)a)->blob.key,
                                *right = &((const struct waiting *)b)->blob.key;
    int order = compare_shaders(left, right);
    if (order == 0)
        order = compare_numbers(left->flags, right->flags);
    if (order == 0)
        order = compare_numbers(left->day, right->day);
    return order != 0 ? order : strcmp(left->scene, right->scene);
}

/* Nothing is written; but what is asked is asked as a writer. */
static bool show_sums(void *user, struct pm_storage *storage, struct pm_error *error)
{
    struct reading *reading = user;
    bool done = true;
    (void)storage;
    reading->count = 0;
    for (size_t i = 0; done && i < reading->sum_count; i++)
        done = pm_deltas_show(reading->folding->world, &reading->sums[i].deltas, keep_blob, reading,
                              error);
    return done;
}

/* What cannot be summed is not shown yet: folding says why. */
static bool sum_part(struct pm_day_sum *sum, const struct pm_fold_place *place,
                     const struct pm_shader_key *key, struct pm_error *error)
{
    const size_t sum_bytes = place->sum_bytes;
    struct pm_error reason = {0};
    pm_day_sum_init(sum, sum_bytes);
    if (pm_day_sum_read(sum, place, key, &reason))
        return true;
    if (reason.code == PM_ERROR_INPUT || reason.code == PM_ERROR_MEMORY) {
        pm_day_sum_finish(sum);
        pm_day_sum_init(sum, sum_bytes);
        return true;
    }
    if (error)
        *error = reason;
    return false;
}

static bool sum_parts(struct reading *reading, struct pm_error *error)
{
    struct pm_folding *folding = reading->folding;
    const size_t count = reading->parts.size / sizeof(unsigned);
    size_t deltas = 0;
    bool done = true;
    reading->sums = calloc(count + 1, sizeof(*reading->sums));
    reading->left = calloc(count + 1, sizeof(*reading->left));
    if (!reading->sums || !reading->left)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for parts");
    for (; done && reading->sum_count < count; reading->sum_count++) {
        struct pm_day_sum *sum = &reading->sums[reading->sum_count];
        struct pm_fold_place place = {.world = folding->world,
                                      .quarantine = folding->quarantine,
                                      .sum_bytes = folding->sum_bytes,
                                      .game = reading->game};
        memcpy(&place.part, reading->parts.data + reading->sum_count * sizeof(unsigned),
               sizeof(unsigned));
        done = sum_part(sum, &place, reading->key, error);
        deltas += sum->deltas.count;
    }
    if (!done || deltas == 0)
        return done;
    done = pm_world_transact(folding->world, PM_LAZY, show_sums, reading, error);
    if (done && reading->count > 1)
        qsort(reading->waiting, reading->count, sizeof(*reading->waiting), compare_waiting);
    return done;
}

/* ---- both ---- */

/* Rows that still wait in a part. */
static bool take_rows(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                      struct pm_error *error)
{
    struct reading *reading = user;
    (void)game;
    (void)bytes;
    (void)error;
    for (size_t i = 0; i < reading->sum_count; i++) {
        unsigned summed;
        memcpy(&summed, reading->parts.data + i * sizeof(unsigned), sizeof(unsigned));
        if (summed == part)
            reading->left[i] = rows;
    }
    return true;
}

/* Once what is stored is read as of some time, and before any of it is shown: what was folded until
 * then is in both. What is folded later is not. */
static bool begin(struct reading *reading, struct pm_error *error)
{
    struct pm_storage *storage = reading->folding->world->storage;
    if (reading->begun || reading->count == 0)
        return true;
    reading->begun = true;
    if (!storage->operations->list_samples(storage, reading->game, take_rows, reading, error))
        return false;
    for (size_t i = 0; i < reading->sum_count; i++)
        reading->folded =
            reading->folded || reading->left[i] < reading->sums[i].rows.size / sizeof(uint64_t);
    return !reading->folded || pm_fail(error, PM_ERROR_CONFLICT,
                                       "what waits of \"%s\" is being folded in", reading->game);
}

static bool visit_waiting(struct reading *reading, struct pm_error *error)
{
    const struct pm_storage_blob *blob = &reading->waiting[reading->at++].blob;
    return reading->visit(reading->user, &blob->key, blob->data, blob->size, error);
}

/* Is what is stored of the shader by a lie? */
static bool is_replaced(const struct reading *reading, const struct pm_storage_key *key)
{
    size_t low = 0, high = reading->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (memcmp(reading->waiting[middle].blob.key.key.bytes, key->key.bytes,
                   PM_SHADER_KEY_BYTES) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < reading->count &&
           pm_shader_key_equal(&reading->waiting[low].blob.key.key, &key->key);
         low++) {
        if (reading->waiting[low].blob.key.kind == key->kind && reading->waiting[low].replaces)
            return true;
    }
    return false;
}

static bool visit_stored(void *user, const struct pm_storage_key *key, const void *blob,
                         size_t size, struct pm_error *error)
{
    struct reading *reading = user;
    if (!begin(reading, error))
        return false;
    while (reading->at < reading->count &&
           compare_shaders(&reading->waiting[reading->at].blob.key, key) <= 0) {
        if (!visit_waiting(reading, error))
            return false;
    }
    return is_replaced(reading, key) || reading->visit(reading->user, key, blob, size, error);
}

static bool read_once(struct reading *reading, struct pm_error *error)
{
    struct pm_storage *storage = reading->folding->world->storage;
    pm_buffer_init(&reading->parts, (size_t)1 << 20);
    bool done =
        storage->operations->list_samples(storage, reading->game, note_part, reading, error) &&
        (reading->bytes > SUMMED_MOST || sum_parts(reading, error));
    done = done &&
           (reading->key ? storage->operations->read_shader(storage, reading->game, reading->key,
                                                            visit_stored, reading, error)
                         : storage->operations->read_game(storage, reading->game, reading->scene,
                                                          visit_stored, reading, error)) &&
           begin(reading, error);
    while (done && reading->at < reading->count)
        done = visit_waiting(reading, error);
    for (size_t i = 0; i < reading->sum_count; i++)
        pm_day_sum_finish(&reading->sums[i]);
    free(reading->sums);
    free(reading->left);
    free(reading->waiting);
    pm_buffer_finish(&reading->parts);
    return done;
}

static bool read_both(const struct reading *from, struct pm_error *error)
{
    struct reading reading = *from;
    bool done = read_once(&reading, error);
    for (unsigned tries = 1; !done && reading.folded && tries < TRIES; tries++) {
        reading = *from;
        done = read_once(&reading, error);
    }
    return done;
}

bool pm_fold_read_game(struct pm_folding *folding, const char *game, const char *scene,
                       pm_storage_visit_blob visit, void *user, struct pm_error *error)
{
    struct reading reading = {
        .folding = folding, .game = game, .scene = scene, .visit = visit, .user = user};
    return read_both(&reading, error);
}

bool pm_fold_read_shader(struct pm_folding *folding, const char *game,
                         const struct pm_shader_key *key, pm_storage_visit_blob visit, void *user,
                         struct pm_error *error)
{
    struct reading reading = {
        .folding = folding, .game = game, .key = key, .visit = visit, .user = user};
    return read_both(&reading, error);
}
