/*
 * Taking profiles in: one transaction for many. It writes the upload ids and, per game and part, a
 * row of samples; fold.c brings these into the statistics later.
 */
#include "aggregator/aggregator_private.h"
#include "aggregator/trust/originals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Bytes of a row's samples beyond which the next row begins. */
#define ROW_BYTES ((size_t)1 << 20)
#define MIXED_BYTES ((size_t)128 << 10)

/* Uploads of a group that name one scene. */
struct group_scene {
    UT_hash_handle hh;
    const char *name; /* a profile's */
    uint64_t uploads;
    bool stands; /* it may become known */
};

/* What a group of uploads says of one game. */
struct group_game {
    UT_hash_handle hh;
    const char *name; /* a profile's */
    bool has_room;    /* it is known, or may become so */
    uint64_t uploads;
    struct group_scene *scenes;
    struct pm_buffer parts[PM_SAMPLE_PARTS];
};

struct group {
    struct pm_aggregator *aggregator;
    uint32_t day;
    struct group_game *games;
    bool counted;        /* games_left is known */
    uint64_t games_left; /* that may become known */
    uint64_t bytes;      /* of samples that were written */
};

static void group_finish(struct group *group)
{
    struct group_game *game, *next;
    HASH_ITER(hh, group->games, game, next)
    {
        struct group_scene *scene, *after;
        HASH_DEL(group->games, game);
        HASH_ITER(hh, game->scenes, scene, after)
        {
            HASH_DEL(game->scenes, scene);
            free(scene);
        }
        for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++)
            pm_buffer_finish(&game->parts[i]);
        free(game);
    }
}

/* May uploads of the game be kept? Under the storage's write lock, so that nobody else brings a new
 * one meanwhile. */
static bool find_room(struct group *group, const char *name, bool *has_room, struct pm_error *error)
{
    const struct pm_storage_operations *operations = group->aggregator->storage->operations;
    const uint32_t most = group->aggregator->max_games;
    uint64_t uploads, games;
    *has_room = true;
    if (most == UINT32_MAX)
        return true;
    if (!operations->find_game(group->aggregator->storage, name, has_room, &uploads, error))
        return false;
    if (*has_room)
        return true;
    if (!group->counted) {
        if (!operations->count_games(group->aggregator->storage, &games, error))
            return false;
        group->counted = true;
        group->games_left = games < most ? most - games : 0;
    }
    *has_room = group->games_left > 0;
    group->games_left -= *has_room;
    return true;
}

/* NULL: the storage failed, or memory is short. */
static struct group_game *game_of(struct group *group, const char *name, struct pm_error *error)
{
    struct group_game *game;
    bool has_room;
    HASH_FIND_STR(group->games, name, game);
    if (game)
        return game;
    if (!find_room(group, name, &has_room, error))
        return NULL;
    game = calloc(1, sizeof(*game));
    if (!game) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group of uploads");
        return NULL;
    }
    game->name = name;
    game->has_room = has_room;
    for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++)
        pm_buffer_init(&game->parts[i], (size_t)1 << 30);
    HASH_ADD_KEYPTR(hh, group->games, game->name, strlen(game->name), game);
    return game;
}

/* Writes what a buffer has as a row of the part and begins the next. */
static bool write_row(struct group *group, struct group_game *game, unsigned from, unsigned part,
                      struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    struct pm_buffer *samples = &game->parts[from];
    const struct pm_storage_samples row = {.game = game->name,
                                           .part = part,
                                           .day = group->day,
                                           .data = samples->data,
                                           .size = samples->size};
    if (samples->size == 0)
        return true;
    group->bytes += samples->size;
    samples->size = 0;
    return storage->operations->add_samples(storage, &row, error);
}

/* Moves the samples of all parts to the end of the first. */
static bool join_parts(struct group_game *game)
{
    struct pm_buffer *first = &game->parts[0];
    for (unsigned i = 1; i < PM_SAMPLE_PARTS; i++) {
        struct pm_buffer *part = &game->parts[i];
        if (part->size > 0 && !pm_buffer_append(first, part->data, part->size))
            return false;
        part->size = 0;
    }
    return true;
}

/* A row for each part costs more than it saves where the group has little of the game. Folding a
 * mixed row rewrites more blobs in one transaction, so that it had better stay the exception for a
 * game that many upload to. */
static bool write_rows(struct group *group, struct group_game *game, struct pm_error *error)
{
    size_t size = 0;
    for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++)
        size += game->parts[i].size;
    if (size < MIXED_BYTES)
        return join_parts(game) ? write_row(group, game, 0, PM_SAMPLE_MIXED, error)
                                : pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group");
    for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++) {
        if (!write_row(group, game, i, i, error))
            return false;
    }
    return true;
}

/* Once a day: whoever invents names must not fill the log. */
static void tell(const struct group *group, uint32_t *told, const char *what)
{
    if (*told != group->day)
        pm_log_warning(group->aggregator->log, "%s", what);
    *told = group->day;
}

static bool count_scenes(struct group *group, const struct group_game *game, struct pm_error *error)
{
    struct pm_aggregator *aggregator = group->aggregator;
    struct pm_storage *storage = aggregator->storage;
    struct group_scene *scene, *next;
    bool known;
    HASH_ITER(hh, game->scenes, scene, next)
    {
        if (!storage->operations->add_scene(storage, game->name, scene->name, scene->uploads,
                                            group->day, scene->stands ? aggregator->max_scenes : 0,
                                            &known, error))
            return false;
        if (scene->stands && !known)
            tell(group, &aggregator->told_scenes,
                 "a game has as many scenes as may be known of one (--max-scenes): uploads that "
                 "name further ones count for the game, and for no scene of it");
    }
    return true;
}

static bool group_flush(struct group *group, struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    struct group_game *game, *next;
    HASH_ITER(hh, group->games, game, next)
    {
        if (game->uploads > 0 &&
            (!storage->operations->add_uploads(storage, game->name, game->uploads, error) ||
             !count_scenes(group, game, error) || !write_rows(group, game, error)))
            return false;
    }
    return true;
}

/* ---- one profile ---- */

static bool is_refusal(const struct pm_error *error)
{
    return error->code == PM_ERROR_INPUT || error->code == PM_ERROR_UNSUPPORTED;
}

/* Every blob of the shader is of a space that was a lie. So are samples that wait, which folding
 * will leave out. */
static bool replace_space(struct group *group, const char *game,
                          const struct pm_shader_profile *shader, uint32_t known,
                          struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, text);
    pm_log_warning(group->aggregator->log,
                   "\"%s\", shader %s: %" PRIu32
                   " points, as many clients say, and not the %" PRIu32
                   " known before: its profiles are deleted",
                   game, text, shader->space, known);
    return storage->operations->replace_space(storage, game, &shader->key, shader->kind,
                                              shader->space, error);
}

/* false: the storage failed. *agrees false: the profile is to be refused, for *reason. All shaders
 * are looked at all the same, since each that disagrees is a claim. */
static bool check_spaces(struct group *group, const struct pm_profile *profile,
                         const struct pm_ingest_source *source, bool *agrees,
                         struct pm_error *reason, struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    *agrees = true;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        uint32_t known;
        bool wins = false;
        if (!storage->operations->find_space(storage, profile->game, &shader->key, shader->kind,
                                             &known, error))
            return false;
        if (known == 0 || known == shader->space)
            continue;
        if (source && !pm_claims_note(group->aggregator, profile->game, profile->scene, shader,
                                      source, group->day, known, &wins, error))
            return false;
        if (wins && !replace_space(group, profile->game, shader, known, error))
            return false;
        if (!wins && *agrees) {
            pm_fail(reason, PM_ERROR_INPUT,
                    "space: %" PRIu32 " does not agree with the %" PRIu32 " known before",
                    shader->space, known);
            *agrees = pm_ingest_fail_shader(reason, &shader->key);
        }
    }
    return true;
}

static bool put_spaces(struct group *group, const struct pm_profile *profile,
                       const struct pm_ingest_source *source, struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        uint32_t known;
        bool wins;
        /* Asked again: one key may occur in a profile with several environments. */
        if (!storage->operations->find_space(storage, profile->game, &shader->key, shader->kind,
                                             &known, error) ||
            (known == 0 && !storage->operations->put_space(storage, profile->game, &shader->key,
                                                           shader->kind, shader->space, error)) ||
            (source && !pm_claims_note(group->aggregator, profile->game, profile->scene, shader,
                                       source, group->day, shader->space, &wins, error)) ||
            !pm_originals_note(group->aggregator, profile->game, shader, source, group->day, error))
            return false;
    }
    return true;
}

static bool note_scene(struct group *group, struct group_game *game, const char *name,
                       const struct pm_ingest_source *source, struct pm_error *error)
{
    struct group_scene *scene;
    bool stands = group->aggregator->min_tokens <= 1;
    if (!name || !*name)
        return true;
    if (source && !pm_claims_note_scene(group->aggregator, game->name, name, source, group->day,
                                        &stands, error))
        return false;
    HASH_FIND_STR(game->scenes, name, scene);
    if (!scene) {
        scene = calloc(1, sizeof(*scene));
        if (!scene)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group of uploads");
        scene->name = name;
        HASH_ADD_KEYPTR(hh, game->scenes, scene->name, strlen(scene->name), scene);
    }
    scene->uploads++;
    scene->stands = scene->stands || stands;
    return true;
}

static bool keep(struct group *group, struct group_game *game, const struct pm_prepared *prepared,
                 const struct pm_ingest_source *source, struct pm_error *error)
{
    game->uploads++;
    if (!note_scene(group, game, prepared->profile->scene, source, error))
        return false;
    for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++) {
        const size_t start = i > 0 ? prepared->ends[i - 1] : 0;
        struct pm_buffer *samples = &game->parts[i];
        if (prepared->ends[i] > start &&
            !pm_buffer_append(samples, prepared->samples.data + start, prepared->ends[i] - start))
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group of uploads");
        if (samples->size >= ROW_BYTES && !write_row(group, game, i, i, error))
            return false;
    }
    return put_spaces(group, prepared->profile, source, error);
}

/* Of a game that nobody may add. */
static void turn_away(struct group *group, struct pm_ingest_outcome *outcome)
{
    outcome->result = PM_INGEST_NO_ROOM;
    pm_fail(&outcome->reason, PM_ERROR_LIMIT,
            "game: is new here, and %u games are known, which is the most (--max-games)",
            (unsigned)group->aggregator->max_games);
    tell(group, &group->aggregator->told_games,
         "as many games are known as may be (--max-games): uploads to further ones are answered "
         "with 507; `piecemeal db drop` makes room, and so does the retention");
}

/* false: the group fails as a whole. */
static bool take(struct group *group, const struct pm_prepared *prepared,
                 const struct pm_ingest_source *source, struct pm_ingest_outcome *outcome,
                 struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    const struct pm_profile *profile = prepared->profile;
    bool agrees, fresh;
    struct group_game *game = game_of(group, profile->game, error);
    memset(outcome, 0, sizeof(*outcome));
    outcome->result = PM_INGEST_REFUSED;
    if (!game)
        return false;
    if (!game->has_room) {
        turn_away(group, outcome);
        return true;
    }
    if (!check_spaces(group, profile, source, &agrees, &outcome->reason, error))
        return false;
    if (!agrees)
        return true;
    if (!storage->operations->add_upload_id(storage, profile->upload_id, group->day, &fresh, error))
        return false;
    outcome->result = fresh ? PM_INGEST_STORED : PM_INGEST_DUPLICATE;
    if (!fresh)
        return true;
    outcome->uncounted =
        source && !pm_sources_count(group->aggregator->sources, source, profile->game);
    return outcome->uncounted || keep(group, game, prepared, source, error);
}

/* Those that are NULL have their outcome already. */
static bool take_all(struct group *group, struct pm_prepared *const *prepared,
                     const struct pm_ingest_source *const *sources, size_t count,
                     struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct pm_aggregator *aggregator = group->aggregator;
    struct pm_storage *storage = aggregator->storage;
    if (!pm_aggregator_begin_epoch(aggregator, group->day, error) ||
        !storage->operations->begin(storage, error))
        return false;
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = !prepared[i] ||
               take(group, prepared[i], sources ? sources[i] : NULL, &outcomes[i], error);
    done = done && group_flush(group, error);
    done = pm_storage_end(storage, done, error);
    if (done) {
        pm_sources_keep(aggregator->sources);
    } else {
        pm_sources_undo(aggregator->sources);
        pm_claims_forget(aggregator->claims);
    }
    return done;
}

bool pm_aggregator_ingest_prepared(struct pm_aggregator *aggregator,
                                   struct pm_prepared *const *prepared,
                                   const struct pm_ingest_source *const *sources, size_t count,
                                   struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct group group = {.aggregator = aggregator};
    if (!pm_fold_make_room(aggregator, error))
        return false;
    pthread_mutex_lock(&aggregator->write_mutex);
    group.day = pm_aggregator_today(aggregator);
    const bool done = take_all(&group, prepared, sources, count, outcomes, error);
    pthread_mutex_unlock(&aggregator->write_mutex);
    if (done)
        atomic_fetch_add(&aggregator->samples_bytes, group.bytes);
    group_finish(&group);
    for (size_t i = 0; done && i < count; i++) {
        if (prepared[i] && outcomes[i].result == PM_INGEST_REFUSED)
            pm_quarantine_add_profile(aggregator, prepared[i]->profile, outcomes[i].reason.message);
    }
    return done;
}

bool pm_aggregator_ingest_from(struct pm_aggregator *aggregator,
                               const struct pm_profile *const *profiles,
                               const struct pm_ingest_source *const *sources, size_t count,
                               struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    bool done = true;
    struct pm_prepared **prepared = calloc(count + 1, sizeof(*prepared));
    if (!prepared)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu profiles", count);
    for (size_t i = 0; done && i < count; i++) {
        outcomes[i] = (struct pm_ingest_outcome){.result = PM_INGEST_REFUSED};
        prepared[i] = pm_aggregator_prepare(aggregator, profiles[i], &outcomes[i].reason);
        done = prepared[i] || is_refusal(&outcomes[i].reason);
        if (!done && error)
            *error = outcomes[i].reason;
    }
    done = done &&
           pm_aggregator_ingest_prepared(aggregator, prepared, sources, count, outcomes, error);
    for (size_t i = 0; i < count; i++)
        pm_prepared_destroy(prepared[i]);
    free(prepared);
    return done;
}

bool pm_aggregator_ingest(struct pm_aggregator *aggregator,
                          const struct pm_profile *const *profiles, size_t count,
                          struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    return pm_aggregator_ingest_from(aggregator, profiles, NULL, count, outcomes, error);
}
