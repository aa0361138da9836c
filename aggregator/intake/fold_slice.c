#include "aggregator/intake/fold_slice.h"

#include "aggregator/intake/damaged.h"
#include "aggregator/intake/fold_deltas.h"
#include "aggregator/intake/hold_out.h"
#include "aggregator/intake/samples.h"
#include "aggregator/statistics/ageing.h"
#include "aggregator/statistics/statistics.h"
#include "aggregator/storage/fail.h"
#include "base/random.h"
#include <stdlib.h>
#include <string.h>

/* Points of one shader that are decoded at once; a sample that has more is so all the same. */
#define POINTS_AT_ONCE ((size_t)1 << 16)
#define FEWER 4 /* where what they become is too much */
/* Of what one row becomes, in bytes; the limits of an upload keep it smaller (prepare.c: its
 * points). */
#define ROW_DELTAS_CAP ((size_t)2 << 30)

struct fold_sample {
    struct pm_sample sample;
    uint32_t day;
};

/* Some rows of one part. */
struct slice {
    const struct pm_fold_place *place;
    uint32_t first_day;     /* of the retention: what is older is only deleted */
    struct pm_arena *arena; /* rows and scenes */
    struct fold_sample *samples;
    size_t count, allocated;
    uint32_t row_day; /* the day of the row that is read, and which it is */
    uint64_t row;
    uint64_t bytes;
    struct pm_buffer rows; /* that were read: uint64_t each */
    bool careful;          /* each row is looked at as a whole: something of one cannot be */
    struct pm_damaged damaged;
    struct pm_deltas deltas;
};

/* What was folded until then stays so, in transactions of its own. */
static bool may_go_on(const struct slice *slice, struct pm_error *error)
{
    return pm_world_may_go_on(slice->place->world, PM_FOLDING, error);
}

static size_t row_count(const struct slice *slice)
{
    return slice->rows.size / sizeof(uint64_t);
}

/* ---- reading ---- */

static bool add_sample(void *user, const struct pm_sample_reader *reader, struct pm_error *error)
{
    struct slice *slice = user;
    if (slice->count == slice->allocated) {
        const size_t allocated = slice->allocated ? slice->allocated * 2 : 1024;
        struct fold_sample *samples = realloc(slice->samples, allocated * sizeof(*samples));
        if (!samples)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu samples", allocated);
        slice->samples = samples;
        slice->allocated = allocated;
    }
    struct fold_sample *sample = &slice->samples[slice->count++];
    *sample = (struct fold_sample){reader->sample, slice->row_day};
    /* Each upload is a cluster here, and no more than where it stands is known of it. */
    sample->sample.shader.flags =
        pm_hold_out(&sample->sample.shader, pm_random_mix(slice->row) + reader->at);
    return true;
}

static bool visit_row(void *user, const struct pm_storage_samples *row, struct pm_error *error)
{
    struct slice *slice = user;
    struct pm_storage_samples copy = *row;
    const size_t before = slice->count;
    struct pm_error why = {0};
    bool whole;
    copy.data = pm_arena_dup(slice->arena, row->data, row->size);
    if (!copy.data)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu bytes of samples", row->size);
    if (!pm_buffer_append(&slice->rows, &row->row, sizeof(row->row)))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for rows of samples");
    slice->bytes += row->size;
    if (row->day < slice->first_day)
        return true;
    const struct pm_row_reading reading = {
        .careful = slice->careful, .take = add_sample, .user = slice};
    slice->row_day = row->day;
    slice->row = row->row;
    if (!pm_damaged_read(&copy, &reading, &whole, &why, error))
        return false;
    if (whole)
        return true;
    slice->count = before;
    return pm_damaged_add(&slice->damaged, &copy, &why, error);
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Orders by all that a blob belongs to, and the space. */
static int compare_samples(const void *a, const void *b)
{
    const struct fold_sample *left = a, *right = b;
    const struct pm_shader_profile *x = &left->sample.shader, *y = &right->sample.shader;
    int order = memcmp(x->key.bytes, y->key.bytes, PM_SHADER_KEY_BYTES);
    if (order == 0)
        order = compare_numbers(x->kind, y->kind);
    if (order == 0)
        order = memcmp(&x->environment, &y->environment, sizeof(x->environment));
    if (order == 0)
        order = compare_numbers(x->flags, y->flags);
    if (order == 0)
        order = compare_numbers(left->day, right->day);
    if (order == 0)
        order = compare_numbers(x->space, y->space);
    if (order == 0)
        order =
            compare_numbers((uint32_t)left->sample.scene_size, (uint32_t)right->sample.scene_size);
    return order != 0 ? order
                      : memcmp(left->sample.scene, right->sample.scene, left->sample.scene_size);
}

/* ---- summing ---- */

/* Adds the samples from `first` on, fewer than `end` where their points are many; *end: behind
 * them. */
static bool add_some(struct slice *slice, struct pm_statistics *statistics, size_t first,
                     size_t *end, struct pm_error *error)
{
    size_t points = 0, at = first;
    for (; at < *end && (at == first || points < POINTS_AT_ONCE); at++)
        points += slice->samples[at].sample.shader.point_count;
    *end = at;
    struct pm_shader_profile *shaders = calloc(at - first, sizeof(*shaders));
    struct pm_point_counts *counts = calloc(points + 1, sizeof(*counts)), *next = counts;
    bool done = (shaders && counts) ||
                pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", points);
    for (size_t i = first; done && i < at; i++) {
        const struct pm_sample *sample = &slice->samples[i].sample;
        struct pm_shader_profile *shader = &shaders[i - first];
        *shader = sample->shader;
        shader->points = next;
        done = pm_sample_points(sample, next, error);
        next += shader->point_count;
    }
    done = done && pm_statistics_add_profiles(statistics, shaders, at - first, error);
    free(counts);
    free(shaders);
    return done;
}

/* The samples from `first` on that belong to one blob become a delta; *end: behind them. */
static bool sum(struct slice *slice, size_t first, size_t *end, struct pm_error *error)
{
    const struct pm_sample *sample = &slice->samples[first].sample;
    const struct pm_shader_profile *shader = &sample->shader;
    struct pm_statistics statistics;
    size_t last = first + 1;
    bool done = true;
    while (last < slice->count &&
           compare_samples(&slice->samples[first], &slice->samples[last]) == 0)
        last++;
    *end = last;
    pm_statistics_init(&statistics);
    for (size_t at = first, next = last; done && at < last; at = next, next = last)
        done = add_some(slice, &statistics, at, &next, error);
    char *scene = pm_arena_zalloc(slice->arena, sample->scene_size + 1, 1);
    if (done && !scene)
        done = pm_fail(error, PM_ERROR_MEMORY, "out of memory for a scene's name");
    if (done) {
        memcpy(scene, sample->scene, sample->scene_size);
        const struct pm_delta delta = {.key = {.game = slice->place->game,
                                               .scene = scene,
                                               .key = shader->key,
                                               .environment = shader->environment,
                                               .kind = shader->kind,
                                               .flags = shader->flags,
                                               .day = slice->samples[first].day},
                                       .space = shader->space};
        done = pm_deltas_add(&slice->deltas, &delta, &statistics, error);
    }
    if (!done)
        pm_fail_shader(error, &shader->key);
    pm_statistics_finish(&statistics);
    return done;
}

static bool sum_all(struct slice *slice, struct pm_error *error)
{
    if (slice->count > 1)
        qsort(slice->samples, slice->count, sizeof(*slice->samples), compare_samples);
    for (size_t at = 0; at < slice->count;) {
        if (!may_go_on(slice, error) || !sum(slice, at, &at, error))
            return false;
    }
    return true;
}

/* ---- writing ---- */

static bool write_all(const struct slice *slice, bool *again, uint64_t *disagreements,
                      struct pm_error *error)
{
    struct pm_storage *storage = slice->place->world->storage;
    uint64_t deleted;
    if (!pm_deltas_write(slice->place->world, &slice->deltas, disagreements, error) ||
        !pm_damaged_set_aside(&slice->damaged, slice->place->quarantine, error) ||
        !storage->operations->delete_samples(storage, slice->place->game, slice->place->part,
                                             (const uint64_t *)(const void *)slice->rows.data,
                                             row_count(slice), &deleted, error))
        return false;
    *again = deleted != row_count(slice);
    return true;
}

static bool commit_all(const struct slice *slice, bool *again, struct pm_error *error)
{
    struct pm_storage *storage = slice->place->world->storage;
    uint64_t disagreements = 0;
    pthread_mutex_lock(&slice->place->world->write_mutex);
    /* Lazily: until it is durable, so is that the samples wait. */
    bool done = pm_storage_begin_piece(storage, slice->place->game, (int)slice->place->part, error);
    if (done) {
        done = write_all(slice, again, &disagreements, error);
        if (done && !*again)
            done = storage->operations->commit(storage, error);
        else
            storage->operations->rollback(storage);
    }
    pthread_mutex_unlock(&slice->place->world->write_mutex);
    if (done && !*again)
        atomic_fetch_add(&slice->place->world->disagreements, disagreements);
    return done;
}

static void slice_finish(struct slice *slice)
{
    pm_damaged_finish(&slice->damaged);
    pm_arena_destroy(slice->arena);
    free(slice->samples);
    pm_deltas_finish(&slice->deltas);
    pm_buffer_finish(&slice->rows);
}

bool pm_fold_slice(const struct pm_fold_place *place, struct pm_fold_tries *tries, uint64_t *bytes,
                   struct pm_error *error)
{
    struct pm_world *world = place->world;
    struct pm_storage *storage = world->storage;
    struct slice slice = {.place = place,
                          .careful = tries->careful,
                          .first_day =
                              pm_ageing_first_day(pm_world_today(world), world->retention_days),
                          .arena = pm_arena_create(0)};
    struct pm_error reason = {0};
    *bytes = 0;
    tries->again = false;
    pm_buffer_init(&slice.rows, (size_t)1 << 30);
    bool done = (slice.arena || pm_fail(&reason, PM_ERROR_MEMORY, "out of memory for samples")) &&
                storage->operations->read_samples(storage, place->game, place->part, tries->most,
                                                  visit_row, &slice, &reason);
    pm_deltas_init(&slice.deltas, row_count(&slice) > 1 ? place->sum_bytes : ROW_DELTAS_CAP);
    if (done && row_count(&slice) > 0)
        done = sum_all(&slice, &reason) && commit_all(&slice, &tries->again, &reason);
    if (done && !tries->again) {
        *bytes = slice.bytes;
        pm_damaged_log(&slice.damaged, world->log);
    }
    if (!done && pm_world_again(world, &tries->conflicts, &reason)) {
        done = tries->again = true; /* whoever came between may have folded the same rows */
    } else if (!done && reason.code == PM_ERROR_MEMORY && row_count(&slice) > 1) {
        tries->most = (size_t)(slice.bytes < tries->most ? slice.bytes : tries->most) / FEWER + 1;
        done = tries->again = true;
    } else if (!done && reason.code == PM_ERROR_INPUT && !tries->careful) {
        done = tries->again = tries->careful = true;
    } else if (!done && error) {
        *error = reason;
    }
    slice_finish(&slice);
    return done;
}
