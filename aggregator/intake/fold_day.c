#include "aggregator/intake/fold_day.h"

#include "aggregator/intake/hold_out.h"
#include "aggregator/intake/samples.h"
#include "aggregator/statistics/ageing.h"
#include "aggregator/storage/fail.h"
#include "aggregator/trust/claims.h"
#include "aggregator/trust/votes.h"
#include "base/random.h"
#include <stdlib.h>
#include <string.h>

/* Samples that are looked at together, in bytes; they take some times as much. */
#define AT_ONCE ((size_t)8 << 20)
#define POINTS_AT_ONCE ((size_t)1 << 16) /* that are decoded, but for one player's */
/* Of what the samples that are looked at together become, in bytes. */
#define ENCODED_CAP ((size_t)2 << 30)

/* One sample under its mark, in the class's arena. */
struct said {
    struct pm_sample sample;
    const char *scene;
    uint8_t mark[PM_SAMPLE_MARK_BYTES];
    uint32_t facts;
};

/* What a token says of a shader in one environment: a cluster. */
struct cluster {
    const struct said *said; /* samples of one scene, with the same flags */
    size_t count;
    uint32_t flags; /* of the cluster */
};

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
    struct said *said;
    size_t count, allocated;
    struct cluster *clusters; /* of one claim */
    size_t cluster_count, clusters_allocated;
    struct pm_point_counts *points; /* of one sample */
    size_t points_allocated;
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

/* Forgets what was read. */
static void begin_again(struct pm_day_sum *sum, size_t sum_bytes)
{
    pm_day_sum_finish(sum);
    pm_day_sum_init(sum, sum_bytes);
}

/* ---- reading ---- */

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
static bool copy_sample(struct day *day, struct said *said)
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
        struct said *said = reallocarray(day->said, allocated, sizeof(*said));
        if (!said)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu samples", allocated);
        day->said = said;
        day->allocated = allocated;
    }
    struct said *said = &day->said[day->count];
    *said = (struct said){.sample = reader->sample};
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

/* ---- order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_shaders(const struct said *a, const struct said *b)
{
    const int keys =
        memcmp(a->sample.shader.key.bytes, b->sample.shader.key.bytes, PM_SHADER_KEY_BYTES);
    return keys != 0 ? keys : compare_numbers(a->sample.shader.kind, b->sample.shader.kind);
}

/* By all that is claimed of the shader. */
static int compare_claims(const struct said *a, const struct said *b)
{
    const struct pm_shader_profile *x = &a->sample.shader, *y = &b->sample.shader;
    int order = compare_shaders(a, b);
    if (order == 0)
        order = compare_numbers(x->space, y->space);
    if (order == 0)
        order = compare_numbers(a->facts, b->facts);
    if (order != 0 || pm_facts_agree(x->at_most_once, y->at_most_once, x->space))
        return order;
    /* Two sets of points with one number: some order. */
    static const uint8_t none[PM_STATISTICS_MAX_SPACE / 8];
    return memcmp(x->at_most_once ? x->at_most_once : none,
                  y->at_most_once ? y->at_most_once : none, ((size_t)x->space + 7) / 8);
}

/* By who said it of which environment. */
static int compare_players(const struct said *a, const struct said *b)
{
    const int marks = memcmp(a->mark, b->mark, sizeof(a->mark));
    return marks != 0 ? marks
                      : memcmp(&a->sample.shader.environment, &b->sample.shader.environment,
                               sizeof(a->sample.shader.environment));
}

static int compare_places(uint32_t a_flags, const char *a_scene, uint32_t b_flags,
                          const char *b_scene)
{
    return a_flags != b_flags ? compare_numbers(a_flags, b_flags) : strcmp(a_scene, b_scene);
}

static int compare_said(const void *a, const void *b)
{
    const struct said *left = a, *right = b;
    int order = compare_claims(left, right);
    if (order == 0)
        order = compare_players(left, right);
    return order != 0 ? order
                      : compare_places(left->sample.shader.flags, left->scene,
                                       right->sample.shader.flags, right->scene);
}

static int compare_clusters(const void *a, const void *b)
{
    const struct cluster *left = a, *right = b;
    const struct pm_shader_profile *x = &left->said->sample.shader,
                                   *y = &right->said->sample.shader;
    const int order = memcmp(&x->environment, &y->environment, sizeof(x->environment));
    return order != 0
               ? order
               : compare_places(left->flags, left->said->scene, right->flags, right->said->scene);
}

/* ---- one cluster ---- */

/* Into day->points. */
static bool decode(struct day *day, const struct said *said, struct pm_error *error)
{
    const size_t count = said->sample.shader.point_count;
    if (count > day->points_allocated) {
        struct pm_point_counts *points = reallocarray(day->points, count, sizeof(*points));
        if (!points)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", count);
        day->points = points;
        day->points_allocated = count;
    }
    return pm_sample_points(&said->sample, day->points, error);
}

static bool count_calls(struct day *day, const struct said *said, size_t count, uint64_t *calls,
                        struct pm_error *error)
{
    *calls = 0;
    for (size_t i = 0; i < count; i++) {
        if (!decode(day, &said[i], error))
            return false;
        for (size_t j = 0; j < said[i].sample.shader.point_count; j++)
            *calls += day->points[j].calls;
    }
    return true;
}

static bool add_cluster(struct day *day, const struct cluster *cluster, struct pm_error *error)
{
    if (day->cluster_count == day->clusters_allocated) {
        const size_t allocated = day->clusters_allocated ? day->clusters_allocated * 2 : 256;
        struct cluster *clusters = reallocarray(day->clusters, allocated, sizeof(*clusters));
        if (!clusters)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu players", allocated);
        day->clusters = clusters;
        day->clusters_allocated = allocated;
    }
    day->clusters[day->cluster_count++] = *cluster;
    return true;
}

/* Behind those of one scene with the same flags. */
static size_t end_of_place(const struct said *said, size_t first, size_t count)
{
    size_t end = first + 1;
    while (end < count && compare_places(said[first].sample.shader.flags, said[first].scene,
                                         said[end].sample.shader.flags, said[end].scene) == 0)
        end++;
    return end;
}

/* One token's samples of one environment, sorted by scene and flags. */
static bool add_player(struct day *day, const struct said *said, size_t count,
                       struct pm_error *error)
{
    struct cluster cluster = {.said = said, .count = end_of_place(said, 0, count)};
    uint64_t calls, most = 0, mark;
    if (cluster.count < count && !count_calls(day, said, cluster.count, &most, error))
        return false;
    for (size_t first = cluster.count, end; first < count; first = end) {
        end = end_of_place(said, first, count);
        if (!count_calls(day, said + first, end - first, &calls, error))
            return false;
        if (calls > most) {
            most = calls;
            cluster.said = said + first;
            cluster.count = end - first;
        }
    }
    memcpy(&mark, said->mark, sizeof(mark));
    cluster.flags = pm_hold_out(&cluster.said->sample.shader, mark);
    return add_cluster(day, &cluster, error);
}

/* Adds up several samples of a cluster. */
static bool merge(struct day *day, const struct cluster *cluster, struct pm_arena *arena,
                  struct pm_shader_profile *out, struct pm_error *error)
{
    struct pm_profile_merge *merged = pm_profile_merge_create();
    const struct pm_shader_profile *sum = NULL;
    size_t sums = 0;
    bool done = merged || pm_fail(error, PM_ERROR_MEMORY, "out of memory for merging");
    for (size_t i = 0; done && i < cluster->count; i++) {
        struct pm_shader_profile shader = cluster->said[i].sample.shader;
        const struct pm_profile profile = {.shaders = &shader, .shader_count = 1};
        done = decode(day, &cluster->said[i], error);
        shader.points = day->points;
        shader.at_most_once = NULL; /* all of a claim have the same */
        done = done && pm_profile_merge_add(merged, &profile, error);
    }
    if (done) {
        sum = pm_profile_merge_shaders(merged, &sums);
        done = sum && sums == 1;
        out->points =
            done ? pm_arena_dup(arena, sum->points, sum->point_count * sizeof(*sum->points)) : NULL;
        done = out->points || pm_fail(error, PM_ERROR_MEMORY, "out of memory for merging");
    }
    if (done) {
        out->point_count = sum->point_count;
        out->candidates = sum->candidates;
    }
    pm_profile_merge_destroy(merged);
    return done;
}

/* The cluster as one profile, whose points are the arena's. */
static bool read_cluster(struct day *day, const struct cluster *cluster, struct pm_arena *arena,
                         struct pm_shader_profile *out, struct pm_error *error)
{
    *out = cluster->said->sample.shader;
    out->flags = cluster->flags;
    if (cluster->count > 1)
        return merge(day, cluster, arena, out, error);
    struct pm_point_counts *points = pm_arena_zalloc(arena, out->point_count + 1, sizeof(*points));
    if (!points)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", out->point_count);
    out->points = points;
    return pm_sample_points(&cluster->said->sample, points, error);
}

/* ---- sums ---- */

/* Adds the clusters from `first` on, fewer than `count` where their points are many; returns behind
 * them. */
static bool add_some(struct day *day, const struct cluster *clusters, size_t count, size_t *first,
                     struct pm_shader_profile *shaders, struct pm_statistics *statistics,
                     struct pm_error *error)
{
    struct pm_arena *arena = pm_arena_create(0);
    size_t points = 0, some = 0;
    bool done = arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory for points");
    while (done && *first + some < count && points < POINTS_AT_ONCE) {
        done = read_cluster(day, &clusters[*first + some], arena, &shaders[some], error);
        points += done ? shaders[some++].point_count : 0;
    }
    done = done && pm_statistics_add_profiles(statistics, shaders, some, error);
    pm_arena_destroy(arena);
    *first += some;
    return done;
}

/* The clusters of one blob. */
static bool sum_clusters(struct day *day, const struct cluster *clusters, size_t count,
                         struct pm_delta *delta, struct pm_error *error)
{
    struct pm_statistics statistics;
    struct pm_shader_profile *shaders = calloc(count, sizeof(*shaders));
    bool done = shaders || pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu players", count);
    pm_statistics_init(&statistics);
    for (size_t first = 0; done && first < count;)
        done = add_some(day, clusters, count, &first, shaders, &statistics, error);
    delta->key.environment = clusters->said->sample.shader.environment;
    delta->key.flags = clusters->flags;
    delta->key.scene = pm_arena_strdup(day->sum->arena, clusters->said->scene);
    done = done && (delta->key.scene || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
           pm_deltas_add(&day->sum->deltas, delta, &statistics, error);
    pm_statistics_finish(&statistics);
    free(shaders);
    return done;
}

/* A claim's samples become deltas. */
static bool sum_claim(struct day *day, const struct said *said, size_t count,
                      struct pm_delta *delta, struct pm_error *error)
{
    day->cluster_count = 0;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && compare_players(&said[first], &said[end]) == 0;)
            end++;
        if (!add_player(day, said + first, end - first, error))
            return false;
    }
    qsort(day->clusters, day->cluster_count, sizeof(*day->clusters), compare_clusters);
    for (size_t first = 0, end; first < day->cluster_count; first = end) {
        for (end = first + 1; end < day->cluster_count &&
                              compare_clusters(&day->clusters[first], &day->clusters[end]) == 0;)
            end++;
        if (!sum_clusters(day, day->clusters + first, end - first, delta, error))
            return false;
    }
    return true;
}

/* Samples of one claim, from `first` of day->said on. */
struct claimed {
    size_t first, count;
    uint32_t tokens;
};

static int compare_votes(const void *a, const void *b)
{
    const struct claimed *left = a, *right = b;
    return left->tokens != right->tokens ? compare_numbers(right->tokens, left->tokens)
                                         : compare_numbers(left->first, right->first);
}

/* The claims of the shader whose samples are these, those with the most votes first. */
static size_t find_claims(const struct day *day, size_t first, size_t end, struct claimed *claims)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++) {
        const bool same = i > first && compare_claims(&day->said[i - 1], &day->said[i]) == 0;
        if (!same)
            claims[count++] = (struct claimed){.first = i};
        claims[count - 1].count++;
        claims[count - 1].tokens +=
            !same || memcmp(day->said[i - 1].mark, day->said[i].mark, PM_SAMPLE_MARK_BYTES) != 0;
    }
    qsort(claims, count, sizeof(*claims), compare_votes);
    return count;
}

static bool sum_shader(struct day *day, size_t first, size_t end, struct pm_error *error)
{
    const struct pm_shader_profile *shader = &day->said[first].sample.shader;
    struct claimed *claims = calloc(end - first, sizeof(*claims));
    bool done = claims || pm_fail(error, PM_ERROR_MEMORY, "out of memory for claims");
    const size_t count = done ? find_claims(day, first, end, claims) : 0;
    for (size_t i = 0; done && i < count && i < PM_CLAIMS_OF_SHADER; i++) {
        const struct said *said = &day->said[claims[i].first];
        struct pm_delta delta = {.key = {.game = day->place->game,
                                         .key = shader->key,
                                         .kind = shader->kind,
                                         .day = day->date},
                                 .space = said->sample.shader.space,
                                 .facts = said->facts,
                                 .tokens = claims[i].tokens,
                                 .claim = (unsigned)i};
        done = sum_claim(day, said, claims[i].count, &delta, error);
    }
    if (!done)
        pm_fail_shader(error, &shader->key);
    free(claims);
    return done;
}

static bool sum_class(struct day *day, struct pm_error *error)
{
    if (day->count > 1)
        qsort(day->said, day->count, sizeof(*day->said), compare_said);
    for (size_t first = 0, end; first < day->count; first = end) {
        for (end = first + 1;
             end < day->count && compare_shaders(&day->said[first], &day->said[end]) == 0;)
            end++;
        if (!pm_world_may_go_on(day->place->world, PM_FOLDING, error) ||
            !sum_shader(day, first, end, error))
            return false;
    }
    return true;
}

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
    return sum_class(day, error) && (!day->writes || write_class(day, error));
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
    day.classes = key ? 1 : (unsigned)(1 + day.bytes / AT_ONCE);
    for (; done && day.class < day.classes; day.class ++)
        done = read_class(&day, error);
    if (disagreements)
        *disagreements = day.disagreements;
    pm_arena_destroy(day.arena);
    free(day.said);
    free(day.clusters);
    free(day.points);
    return done;
}

bool pm_day_sum_read(struct pm_day_sum *sum, const struct pm_fold_place *place,
                     const struct pm_shader_key *key, struct pm_error *error)
{
    struct pm_error reason = {0};
    if (read_once(sum, place, key, false, NULL, &reason))
        return true;
    if (reason.code == PM_ERROR_INPUT) {
        begin_again(sum, sum->sum_bytes);
        return read_once(sum, place, key, true, NULL, error);
    }
    if (error)
        *error = reason;
    return false;
}

/* ---- folding ---- */

struct folding {
    const struct pm_fold_place *place;
    struct pm_day_sum *sum;
    bool at_once; /* what is summed is written class by class: all of it is too much to keep */
    bool careful; /* then: as in struct day */
    bool again;
    uint64_t disagreements;
};

static bool fold(struct folding *folding, struct pm_error *error)
{
    const struct pm_fold_place *place = folding->place;
    struct pm_day_sum *sum = folding->sum;
    struct pm_storage *storage = place->world->storage;
    uint64_t deleted;
    if (!(folding->at_once
              ? read_once(sum, place, NULL, folding->careful, &folding->disagreements, error)
              : pm_deltas_write(place->world, &sum->deltas, &folding->disagreements, error)))
        return false;
    const size_t rows = sum->rows.size / sizeof(uint64_t);
    if (!pm_damaged_set_aside(&sum->damaged, place->quarantine, error) ||
        !storage->operations->delete_samples(storage, place->game, place->part,
                                             (const uint64_t *)(const void *)sum->rows.data, rows,
                                             &deleted, error))
        return false;
    folding->again = deleted != rows;
    return true;
}

/* Lazily: until it is durable, so is that the samples wait. */
static bool commit(struct folding *folding, struct pm_error *error)
{
    struct pm_world *world = folding->place->world;
    struct pm_storage *storage = world->storage;
    pthread_mutex_lock(&world->write_mutex);
    bool done =
        pm_storage_begin_piece(storage, folding->place->game, (int)folding->place->part, error);
    if (done) {
        done = fold(folding, error);
        if (done && !folding->again)
            done = storage->operations->commit(storage, error);
        else
            storage->operations->rollback(storage);
    }
    pthread_mutex_unlock(&world->write_mutex);
    if (done && !folding->again)
        atomic_fetch_add(&world->disagreements, folding->disagreements);
    return done;
}

/* Sums first, so that uploads go on meanwhile, and where that is too much, while it writes. */
static bool sum_and_commit(struct folding *folding, struct pm_error *error)
{
    struct pm_day_sum *sum = folding->sum;
    struct pm_error reason = {0};
    if (pm_day_sum_read(sum, folding->place, NULL, &reason))
        return sum->rows.size == 0 || commit(folding, error);
    if (reason.code == PM_ERROR_MEMORY) {
        folding->at_once = true;
        begin_again(sum, ENCODED_CAP);
        return commit(folding, error);
    }
    if (error)
        *error = reason;
    return false;
}

bool pm_fold_day(const struct pm_fold_place *place, struct pm_fold_tries *tries,
                 struct pm_error *error)
{
    struct pm_day_sum sum;
    struct folding folding = {.place = place, .sum = &sum, .careful = tries->careful};
    struct pm_error reason = {0};
    pm_day_sum_init(&sum, place->sum_bytes);
    bool done = sum_and_commit(&folding, &reason);
    tries->again = done && folding.again;
    if (done && !tries->again)
        pm_damaged_log(&sum.damaged, place->world->log);
    else if (!done && pm_world_again(place->world, &tries->conflicts, &reason))
        done = tries->again = true; /* whoever came between may have folded the same rows */
    else if (!done && folding.at_once && reason.code == PM_ERROR_INPUT && !tries->careful)
        done = tries->again = tries->careful = true;
    else if (!done && error)
        *error = reason;
    pm_day_sum_finish(&sum);
    return done;
}
