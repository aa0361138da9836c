#include "aggregator/intake/day_sum.h"

#include "aggregator/intake/day_claims.h"
#include "aggregator/statistics/ageing.h"
#include "aggregator/trust/votes.h"
#include "base/random.h"
#include <stdlib.h>
#include <string.h>

/* Samples that are looked at together, in bytes; they take some times as much. */
#define AT_ONCE ((size_t)8 << 20)

/* A part while it is summed. */
struct day {
    const struct pm_fold_place *place;
    const struct pm_shader_key *key; /* only of it; NULL: all */
    struct pm_day_sum *sum;
    uint32_t date, first_day; /* of the part, of the retention */
    unsigned classes, class;  /* shaders are looked at by classes of their keys */
    bool careful;             /* each row is looked at as a whole: something of one cannot be */
    bool listed;              /* the rows are known */
    uint64_t bytes;
    struct pm_arena *arena; /* the class's: samples, still encoded */
    struct pm_day_said *said;
    size_t count, allocated;
    struct pm_day_claims claims;
    bool writes;            /* each class's deltas, which are not kept */
    uint64_t disagreements; /* of what was written */
};

void pm_day_sum_init(struct pm_day_sum *sum, size_t sum_bytes)
{
    *sum = (struct pm_day_sum){.arena = pm_arena_create(0), .sum_bytes = sum_bytes};
    pm_deltas_init(&sum->deltas, sum_bytes);
    pm_buffer_init(&sum->rows, (size_t)1 << 30);
}

void pm_day_sum_finish(struct pm_day_sum *sum)
{
    pm_damaged_finish(&sum->damaged);
    pm_deltas_finish(&sum->deltas);
    pm_buffer_finish(&sum->rows);
    pm_arena_destroy(sum->arena);
}

void pm_day_sum_begin_again(struct pm_day_sum *sum, size_t sum_bytes)
{
    pm_day_sum_finish(sum);
    pm_day_sum_init(sum, sum_bytes);
}

/* ---- rows ---- */

static bool is_wanted(const struct day *day, const struct pm_shader_key *key)
{
    uint64_t number;
    memcpy(&number, key->bytes + 8, sizeof(number));
    return (!day->key || pm_shader_key_equal(day->key, key)) &&
           pm_random_mix(number) % day->classes == day->class;
}

/* A copy of its scene; mostly that is the one of the sample before. */
static const char *copy_scene(struct day *day, const struct pm_sample *sample)
{
    const char *before = day->count > 0 ? day->said[day->count - 1].scene : NULL;
    if (before && strlen(before) == sample->scene_size &&
        memcmp(before, sample->scene, sample->scene_size) == 0)
        return before;
    char *scene = pm_arena_zalloc(day->arena, sample->scene_size + 1, 1);
    if (scene)
        memcpy(scene, sample->scene, sample->scene_size);
    return scene;
}

/* A copy of what the sample points to. */
static bool copy_sample(struct day *day, struct pm_day_said *said)
{
    struct pm_sample *sample = &said->sample;
    const uint8_t *bitmap = sample->shader.at_most_once;
    said->scene = copy_scene(day, sample);
    sample->points = pm_arena_dup(day->arena, sample->points, sample->points_size);
    if (bitmap)
        sample->shader.at_most_once =
            pm_arena_dup(day->arena, bitmap, ((size_t)sample->shader.space + 7) / 8);
    return said->scene && sample->points && (!bitmap || sample->shader.at_most_once);
}

static bool keep_sample(void *user, const struct pm_sample_reader *reader, struct pm_error *error)
{
    struct day *day = user;
    if (!is_wanted(day, &reader->sample.shader.key))
        return true;
    if (day->count == day->allocated) {
        const size_t allocated = day->allocated ? day->allocated * 2 : 1024;
        struct pm_day_said *said = reallocarray(day->said, allocated, sizeof(*said));
        if (!said)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu samples", allocated);
        day->said = said;
        day->allocated = allocated;
    }
    struct pm_day_said *said = &day->said[day->count];
    *said = (struct pm_day_said){.sample = reader->sample};
    memcpy(said->mark, reader->mark, sizeof(said->mark));
    said->facts = pm_facts_of(said->sample.shader.at_most_once, said->sample.shader.space);
    if (!copy_sample(day, said))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for samples");
    day->count++;
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static bool visit_row(void *user, const struct pm_storage_samples *row, struct pm_error *error)
{
    struct day *day = user;
    struct pm_day_sum *sum = day->sum;
    const size_t before = day->count, rows = sum->rows.size / sizeof(row->row);
    struct pm_error why = {0};
    bool whole;
    /* What comes while it is read again waits for the next time. */
    if (day->listed &&
        (rows == 0 || !bsearch(&row->row, sum->rows.data, rows, sizeof(row->row), compare_rows)))
        return true;
    if (!day->listed && !pm_buffer_append(&sum->rows, &row->row, sizeof(row->row)))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for rows of samples");
    if (day->date < day->first_day)
        return true;
    const struct pm_row_reading reading = {
        .careful = day->careful, .marked = true, .take = keep_sample, .user = day};
    if (!pm_damaged_read(row, &reading, &whole, &why, error))
        return false;
    if (whole)
        return true;
    day->count = before;
    if (day->class > 0)
        return true;
    struct pm_storage_samples copy = *row;
    copy.data = pm_arena_dup(sum->arena, row->data, row->size);
    return copy.data ? pm_damaged_add(&sum->damaged, &copy, &why, error)
                     : pm_fail(error, PM_ERROR_MEMORY, "out of memory for damaged samples");
}

/* ---- classes ---- */

/* In a transaction: deltas of one class are all that there is of its shaders. */
static bool write_class(struct day *day, struct pm_error *error)
{
    struct pm_deltas *deltas = &day->sum->deltas;
    uint64_t disagreements;
    const bool done = pm_deltas_write(day->place->world, deltas, &disagreements, error);
    day->disagreements += disagreements;
    pm_deltas_finish(deltas);
    pm_deltas_init(deltas, day->sum->sum_bytes);
    return done;
}

static bool read_class(struct day *day, struct pm_error *error)
{
    struct pm_storage *storage = day->place->world->storage;
    pm_arena_destroy(day->arena);
    /* No more than the rows of one class have, of which one shader's may be many. */
    day->arena = pm_arena_create(SIZE_MAX);
    day->count = 0;
    if (!day->arena)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for samples");
    if (!storage->operations->read_samples(storage, day->place->game, day->place->part,
                                           SIZE_MAX >> 1, visit_row, day, error))
        return false;
    struct pm_buffer *rows = &day->sum->rows;
    if (!day->listed && rows->size > 0)
        qsort(rows->data, rows->size / sizeof(uint64_t), sizeof(uint64_t), compare_rows);
    day->listed = true;
    return pm_day_claims_sum(&day->claims, day->said, day->count, error) &&
           (!day->writes || write_class(day, error));
}

/* Bytes of the part. */
static bool add_bytes(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                      struct pm_error *error)
{
    struct day *day = user;
    (void)game;
    (void)rows;
    (void)error;
    day->bytes += part == day->place->part ? bytes : 0;
    return true;
}

/* writes: as in struct day; *disagreements: then those. */
static bool read_once(struct pm_day_sum *sum, const struct pm_fold_place *place,
                      const struct pm_shader_key *key, bool careful, uint64_t *disagreements,
                      struct pm_error *error)
{
    struct pm_storage *storage = place->world->storage;
    struct day day = {.place = place,
                      .key = key,
                      .sum = sum,
                      .careful = careful,
                      .writes = disagreements != NULL};
    unsigned part;
    day.first_day = pm_ageing_first_day(pm_world_today(place->world), place->world->retention_days);
    bool done = pm_sample_part_has_marks(place->part, &day.date, &part) &&
                (sum->arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory for samples")) &&
                storage->operations->list_samples(storage, place->game, add_bytes, &day, error);
    day.claims = (struct pm_day_claims){.world = place->world,
                                        .game = place->game,
                                        .date = day.date,
                                        .arena = sum->arena,
                                        .deltas = &sum->deltas};
    day.classes = key ? 1 : (unsigned)(1 + day.bytes / AT_ONCE);
    for (; done && day.class < day.classes; day.class ++)
        done = read_class(&day, error);
    if (disagreements)
        *disagreements = day.disagreements;
    pm_arena_destroy(day.arena);
    free(day.said);
    pm_day_clusters_finish(&day.claims.of);
    return done;
}

bool pm_day_sum_read(struct pm_day_sum *sum, const struct pm_fold_place *place,
                     const struct pm_shader_key *key, struct pm_error *error)
{
    struct pm_error reason = {0};
    if (read_once(sum, place, key, false, NULL, &reason))
        return true;
    if (reason.code == PM_ERROR_INPUT) {
        pm_day_sum_begin_again(sum, sum->sum_bytes);
        return read_once(sum, place, key, true, NULL, error);
    }
    if (error)
        *error = reason;
    return false;
}

bool pm_day_sum_write(struct pm_day_sum *sum, const struct pm_fold_place *place, bool careful,
                      uint64_t *disagreements, struct pm_error *error)
{
    return read_once(sum, place, NULL, careful, disagreements, error);
}
