#include "aggregator/curation/publish.h"

#include "aggregator/curation/publish_races.h"
#include "aggregator/curation/release.h"
#include "aggregator/storage/etag.h"
#include "aggregator/storage/names.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Of memory, when a database is read or made. */
#define DATABASE_CAP ((size_t)1 << 30)
#define PART_BYTES ((size_t)512 << 10) /* of a body */

/* Encodes, compresses and names a database. */
static bool make_body(const struct pm_database *database, struct pm_buffer *body,
                      char etag[static PM_ETAG_TEXT], struct pm_error *error)
{
    struct pm_buffer encoded;
    pm_buffer_init(&encoded, DATABASE_CAP);
    body->size = 0;
    bool done = pm_database_encode(database, &encoded, error) &&
                pm_compress(encoded.data, encoded.size, body, error);
    if (done && !pm_etag_make(body->data, body->size, etag))
        done = pm_fail(error, PM_ERROR_MEMORY, "cannot digest a database");
    pm_buffer_finish(&encoded);
    return done;
}

bool pm_publish_anew(struct pm_world *world, const char *game, const struct pm_error *why,
                     struct pm_error *error)
{
    if (why->code != PM_ERROR_STATE && why->code != PM_ERROR_INPUT) {
        if (error)
            *error = *why;
        return pm_fail_prefix(error, "what is published cannot be read");
    }
    if (why->code == PM_ERROR_INPUT)
        pm_log_error(world->log,
                     "of what is published of \"%s\" something is damaged, and is made anew: %s",
                     game, why->message);
    return true;
}

/* What is published; PM_ERROR_STATE: nothing. */
static bool read_published(struct pm_storage *storage, const char *game, const char *scene,
                           struct pm_arena *arena, char etag[static PM_ETAG_TEXT],
                           struct pm_database *database, struct pm_error *error)
{
    struct pm_buffer body, encoded;
    pm_buffer_init(&body, DATABASE_CAP);
    pm_buffer_init(&encoded, DATABASE_CAP);
    const bool done =
        storage->operations->get_database(storage, game, scene, false, etag, &body, error) &&
        pm_decompress(body.data, body.size, &encoded, error) &&
        pm_database_decode(encoded.data, encoded.size, arena, database, error);
    pm_buffer_finish(&encoded);
    pm_buffer_finish(&body);
    return done;
}

/* *changed: false when the published database says the same, but for the time, or may not be
 * followed by another yet; it then stays, and so does its ETag, which is what clients ask by. */
static bool make_publication(struct pm_curator *curator, const struct pm_curate_request *request,
                             struct pm_curated *curated, struct pm_arena *arena,
                             struct pm_buffer *body, char etag[static PM_ETAG_TEXT], bool *changed,
                             struct pm_error *error)
{
    char old_etag[PM_ETAG_TEXT];
    struct pm_database *database = &curated->database, before;
    struct pm_error why = {0};
    const uint64_t now = database->curated_at;
    const bool known =
        read_published(curator->world->storage, database->game,
                       request->scene ? request->scene : "", arena, old_etag, &before, &why);
    if (!known && !pm_publish_anew(curator->world, database->game, &why, error))
        return false;
    *changed = !known || request->at_once || pm_release_is_due(curator, before.curated_at, now);
    if (!*changed)
        return true;
    if (!pm_release_make(curator, known ? &before : NULL, curated, arena, error))
        return false;
    if (known) {
        database->curated_at = before.curated_at;
        if (!make_body(database, body, etag, error))
            return false;
        *changed = strcmp(etag, old_etag) != 0;
        database->curated_at = now;
        if (!*changed)
            return true;
    }
    return make_body(database, body, etag, error);
}

struct body_part {
    const char *etag;
    uint32_t number;
    const uint8_t *data;
    size_t size;
};

static bool put_part(void *user, struct pm_storage *storage, struct pm_error *error)
{
    const struct body_part *part = user;
    return storage->operations->put_part(storage, part->etag, part->number, part->data, part->size,
                                         error);
}

/* Puts the body down in parts that take a few milliseconds each; between them, whoever waits to
 * commit uploads comes first. */
static bool store_body(struct pm_world *world, const char *etag, const struct pm_buffer *body,
                       struct pm_error *error)
{
    for (size_t at = 0; at < body->size; at += PART_BYTES) {
        const size_t left = body->size - at;
        const int64_t begin = pm_now();
        struct body_part part = {etag, (uint32_t)(at / PART_BYTES), body->data + at,
                                 left < PART_BYTES ? left : PART_BYTES};
        if (!pm_world_may_go_on(world, "while publishing", error) ||
            !pm_world_transact(world, PM_DURABLE, put_part, &part, error))
            return false;
        const int64_t rest = pm_now() - begin;
        if (left > PART_BYTES)
            nanosleep(&(struct timespec){rest / PM_SECOND, rest % PM_SECOND}, NULL);
    }
    return true;
}

/* etag NULL: the database stays as it is. */
struct publication {
    const char *scene;
    const struct pm_curated *curated;
    const char *etag;
    size_t size; /* bytes of the body */
    int64_t now;
};

static bool put_publication(void *user, struct pm_storage *storage, struct pm_error *error)
{
    const struct publication *publication = user;
    const struct pm_curated *curated = publication->curated;
    const char *game = curated->database.game;
    return (!publication->etag ||
            storage->operations->put_database(storage, game, publication->scene, publication->etag,
                                              publication->size, error)) &&
           (*publication->scene ||
            storage->operations->add_coverage(storage, game, publication->now, curated->uploads,
                                              curated->points_covered, curated->points, error));
}

static bool store_whole(struct pm_world *world, const char *scene, const struct pm_curated *curated,
                        const char *etag, const struct pm_buffer *body, struct pm_error *error)
{
    struct publication publication = {scene, curated, etag, body->size, pm_world_now(world)};
    return (!etag || store_body(world, etag, body, error)) &&
           pm_world_transact(world, PM_DURABLE, put_publication, &publication, error);
}

/* One body at a time: its parts are put down before it takes the place of the one before. */
static bool store(struct pm_curator *curator, const char *scene, const struct pm_curated *curated,
                  const char *etag, const struct pm_buffer *body, struct pm_error *error)
{
    pthread_mutex_lock(&curator->publish_mutex);
    const bool done = store_whole(curator->world, scene, curated, etag, body, error);
    pthread_mutex_unlock(&curator->publish_mutex);
    return done;
}

bool pm_publish_body(struct pm_curator *curator, const char *game, const char *name,
                     const char *etag, const struct pm_buffer *body, struct pm_error *error)
{
    const struct pm_curated curated = {.database.game = game};
    return store(curator, name, &curated, etag, body, error);
}

/* A scene of which nothing may be published has no database, or an empty one where it had one: its
 * name, too, is only what somebody sent. */
static bool is_secret(struct pm_storage *storage, const struct pm_curated *curated,
                      const char *scene)
{
    char etag[PM_ETAG_TEXT];
    struct pm_error why = {0};
    return *scene && curated->database.shader_count == 0 &&
           !storage->operations->get_database(storage, curated->database.game, scene, false, etag,
                                              NULL, &why) &&
           why.code == PM_ERROR_STATE;
}

/* result: NULL where nobody asks. */
static bool publish(struct pm_curator *curator, const struct pm_curate_request *request,
                    struct pm_curate_result *result, struct pm_error *error)
{
    const char *game = request->game, *scene = request->scene ? request->scene : "";
    struct pm_curated curated;
    struct pm_buffer body;
    char etag[PM_ETAG_TEXT];
    bool changed;
    struct pm_arena *arena = pm_arena_create(DATABASE_CAP);
    if (!arena)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database");
    pm_buffer_init(&body, DATABASE_CAP);
    const bool done =
        pm_curate_read(curator, request, arena, &curated, error) &&
        (is_secret(curator->world->storage, &curated, scene) ||
         (make_publication(curator, request, &curated, arena, &body, etag, &changed, error) &&
          (!changed && *scene
               ? true
               : store(curator, scene, &curated, changed ? etag : NULL, &body, error))));
    if (done && result)
        *result = (struct pm_curate_result){.curated_at = curated.database.curated_at,
                                            .uploads = curated.uploads,
                                            .points = curated.points,
                                            .points_covered = curated.points_covered};
    if (done && result)
        memcpy(result->left_alone, curated.left_alone, sizeof(result->left_alone));
    if (done && curated.left_out > 0)
        pm_log_warning(curator->world->log,
                       "the database of \"%s\"%s%s is full: %llu shaders that run least are left"
                       " out",
                       game, *scene ? ", scene " : "", scene, (unsigned long long)curated.left_out);
    if (done)
        pm_log_debug(curator->world->log,
                     "curated \"%s\"%s%s: %llu of %llu points covered, %zu bytes", game,
                     *scene ? ", scene " : "", scene, (unsigned long long)curated.points_covered,
                     (unsigned long long)curated.points, body.size);
    pm_buffer_finish(&body);
    pm_arena_destroy(arena);
    return done;
}

/* The game as a whole, with its races. */
static bool publish_game(struct pm_curator *curator, struct pm_curate_request request,
                         struct pm_curate_result *result, struct pm_error *error)
{
    struct pm_race_gathering races = {0};
    request.races = &races;
    const bool done = publish(curator, &request, result, error) &&
                      pm_publish_races(curator, request.game, &races, request.at_once, error);
    pm_race_gathering_finish(&races);
    return done;
}

static bool publish_all(struct pm_curator *curator, struct pm_curate_request request,
                        struct pm_curate_result *result, struct pm_error *error)
{
    struct pm_names scenes = {0};
    bool done =
        publish_game(curator, request, result, error) &&
        pm_names_of_scenes(&scenes, curator->world->storage, request.game, curator->scenes, error);
    request.observe = NULL;
    for (size_t i = 0; i < scenes.count; i++) {
        request.scene = scenes.names[i];
        done = done &&
               pm_world_may_go_on(curator->world, "before its scenes were curated", error) &&
               publish(curator, &request, NULL, error);
    }
    pm_names_finish(&scenes);
    return done;
}

bool pm_curate_publish(struct pm_curator *curator, const char *game, pm_curate_observe observe,
                       void *user, struct pm_curate_result *result, struct pm_error *error)
{
    return publish_all(curator,
                       (struct pm_curate_request){.game = game, .observe = observe, .user = user},
                       result, error);
}

bool pm_curate_publish_at_once(struct pm_curator *curator, const char *game, struct pm_error *error)
{
    return publish_all(curator, (struct pm_curate_request){.game = game, .at_once = true}, NULL,
                       error);
}
