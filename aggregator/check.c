#include "aggregator/check.h"

#include "aggregator/curation/races.h"
#include "aggregator/intake/damaged.h"
#include "aggregator/intake/samples.h"
#include "aggregator/statistics/statistics.h"
#include "aggregator/storage/etag.h"
#include "aggregator/storage/names.h"
#include "aggregator/storage/postgres/storage_postgres.h"
#include "aggregator/storage/seal.h"
#include "aggregator/storage/sqlite/storage_sqlite.h"
#include "aggregator/storage/sqlite/storage_sqlite_check.h"
#include "profile/database.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATABASE_CAP ((size_t)1 << 30) /* of memory, for a published body */

struct check {
    pm_check_report report;
    void *user;
    struct pm_storage *storage;
    unsigned errors;
};

struct game {
    struct check *check;
    const char *name;
    uint64_t uploads, blobs, rows, most_sessions;
    struct pm_storage_key at; /* what the sum is of */
    struct pm_statistics sum; /* of the days and scenes of one shader, environment and kind */
    bool any;                 /* the sum has something */
};

static void fail(struct check *check, const char *what, const struct pm_error *error)
{
    check->errors++;
    pm_check_say(check->report, check->user, PM_FINDING_ERROR, "%s: %s", what, error->message);
}

/* ---- statistics ---- */

static bool is_same_shader(const struct pm_storage_key *a, const struct pm_storage_key *b)
{
    return memcmp(&a->key, &b->key, sizeof(a->key)) == 0 &&
           memcmp(&a->environment, &b->environment, sizeof(a->environment)) == 0 &&
           a->kind == b->kind && a->flags == b->flags;
}

static void finish_shader(struct game *game)
{
    for (size_t i = 0; i < game->sum.count; i++) {
        if (game->sum.points[i].sessions > game->most_sessions)
            game->most_sessions = game->sum.points[i].sessions;
    }
    pm_statistics_finish(&game->sum);
    pm_statistics_init(&game->sum);
    game->any = false;
}

static bool visit_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                       struct pm_error *error)
{
    struct game *game = user;
    struct pm_statistics statistics;
    struct pm_error why = {0};
    (void)error;
    if (game->any && !is_same_shader(&game->at, key))
        finish_shader(game);
    pm_statistics_init(&statistics);
    bool fine = blob ? pm_statistics_decode(blob, size, &statistics, &why) : pm_seal_fail(&why);
    if (fine && statistics.kind != key->kind)
        fine = pm_fail(&why, PM_ERROR_INPUT, "are of kind %d inside", (int)statistics.kind);
    if (fine)
        fine = pm_statistics_merge(&game->sum, &statistics, &why);
    pm_statistics_finish(&statistics);
    if (!fine) {
        char text[PM_SHADER_KEY_TEXT], what[256];
        pm_shader_key_format(&key->key, text);
        snprintf(what, sizeof(what), "game \"%.100s\": statistics of shader %s, day %" PRIu32,
                 game->name, text, key->day);
        fail(game->check, what, &why);
    }
    game->at = *key;
    game->any = true;
    game->blobs++;
    return true; /* on to the next: the operator wants to know all */
}

/* ---- samples that wait ---- */

static bool visit_samples(void *user, const struct pm_storage_samples *row, struct pm_error *error)
{
    struct game *game = user;
    struct pm_error why = {0};
    (void)error;
    if (!pm_damaged_check(row, &why)) {
        char what[192];
        snprintf(what, sizeof(what), "game \"%.100s\": what waits to be folded in, row %" PRId64,
                 game->name, (int64_t)row->row);
        fail(game->check, what, &why);
    }
    game->rows++;
    return true;
}

static bool check_part(void *user, const char *name, unsigned part, uint64_t rows, uint64_t bytes,
                       struct pm_error *error)
{
    struct game *game = user;
    struct pm_storage *storage = game->check->storage;
    struct pm_error why = {0};
    (void)error;
    (void)rows;
    (void)bytes;
    if (!storage->operations->read_samples(storage, name, part, SIZE_MAX >> 1, visit_samples, game,
                                           &why))
        fail(game->check, game->name, &why);
    return true;
}

static void check_samples(struct game *game)
{
    struct pm_storage *storage = game->check->storage;
    struct pm_error error = {0};
    if (!storage->operations->list_samples(storage, game->name, check_part, game, &error))
        fail(game->check, game->name, &error);
}

/* ---- what timed shaders were specialized from ---- */

static bool visit_original(void *user, const struct pm_shader_key *key,
                           const struct pm_shader_key *original, uint32_t day,
                           struct pm_error *error)
{
    const struct game *game = user;
    struct pm_error why = {0};
    (void)original;
    (void)error;
    if (key)
        return true;
    pm_fail(&why, PM_ERROR_INPUT, "an original of day %" PRIu32 " has a damaged key", day);
    fail(game->check, game->name, &why);
    return true;
}

static void check_originals(struct game *game)
{
    struct pm_storage *storage = game->check->storage;
    struct pm_error error = {0};
    if (!storage->operations->read_originals(storage, game->name, visit_original, game, &error))
        fail(game->check, game->name, &error);
}

/* ---- sessions ---- */

/* Asked after the statistics were read, since both only grow meanwhile. */
static void check_sessions(struct game *game)
{
    struct pm_error error = {0};
    const struct pm_storage_operations *operations = game->check->storage->operations;
    bool known;
    if (!operations->find_game(game->check->storage, game->name, &known, &game->uploads, &error)) {
        fail(game->check, "games", &error);
        return;
    }
    if (!known || game->most_sessions <= game->uploads)
        return;
    pm_fail(&error, PM_ERROR_INPUT,
            "a point was measured in %" PRIu64 " sessions, of %" PRIu64 " uploads",
            game->most_sessions, game->uploads);
    fail(game->check, game->name, &error);
}

/* ---- what is published ---- */

/* The game that a body says it is of; NULL: it cannot be read. */
static const char *game_of(const struct pm_buffer *body, bool of_races, struct pm_arena *arena,
                           struct pm_error *error)
{
    struct pm_buffer encoded;
    struct pm_database database;
    struct pm_races races;
    if (of_races)
        return pm_races_body_decode(body->data, body->size, arena, &races, error) ? races.game
                                                                                  : NULL;
    pm_buffer_init(&encoded, DATABASE_CAP);
    const bool done = pm_decompress(body->data, body->size, &encoded, error) &&
                      pm_database_decode(encoded.data, encoded.size, arena, &database, error);
    pm_buffer_finish(&encoded);
    return done ? database.game : NULL;
}

static bool body_is_right(const struct pm_buffer *body, const char *etag, const char *game,
                          bool of_races, struct pm_error *error)
{
    char text[PM_ETAG_TEXT];
    if (!pm_etag_make(body->data, body->size, text))
        return pm_fail(error, PM_ERROR_MEMORY, "cannot digest it");
    if (strcmp(text, etag) != 0)
        return pm_fail(error, PM_ERROR_INPUT, "is not what its ETag says");
    struct pm_arena *arena = pm_arena_create(DATABASE_CAP);
    const char *of = arena ? game_of(body, of_races, arena, error) : NULL;
    bool done = of || (!arena && pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    if (of && strcmp(of, game) != 0)
        done = pm_fail(error, PM_ERROR_INPUT, "is of the game \"%.100s\"", of);
    pm_arena_destroy(arena);
    return done;
}

/* false: there is one, and it is not right. A body that a curation replaced between asking for the
 * ETag and for the body has another ETag by then, and is looked at anew. */
static bool publication_is_right(struct game *game, const char *scene, bool previous,
                                 struct pm_error *error)
{
    struct pm_storage *storage = game->check->storage;
    char before[PM_ETAG_TEXT], etag[PM_ETAG_TEXT], after[PM_ETAG_TEXT];
    bool right;
    do {
        struct pm_buffer body;
        if (!storage->operations->get_database(storage, game->name, scene, previous, before, NULL,
                                               error))
            return error->code == PM_ERROR_STATE; /* there is none */
        pm_buffer_init(&body, DATABASE_CAP);
        right =
            storage->operations->get_database(storage, game->name, scene, previous, etag, &body,
                                              error) &&
            body_is_right(&body, etag, game->name, strcmp(scene, PM_RACES_PUBLICATION) == 0, error);
        pm_buffer_finish(&body);
    } while (!right &&
             storage->operations->get_database(storage, game->name, scene, previous, after, NULL,
                                               NULL) &&
             strcmp(before, after) != 0);
    return right;
}

static void check_publication(struct game *game, const char *scene, bool previous)
{
    struct pm_error error = {0};
    char what[320];
    if (publication_is_right(game, scene, previous, &error))
        return;
    if (strcmp(scene, PM_RACES_PUBLICATION) == 0)
        snprintf(what, sizeof(what), "game \"%.100s\": %s races of variants", game->name,
                 previous ? "previous" : "published");
    else
        snprintf(what, sizeof(what), "game \"%.100s\": %s database of %s%.100s", game->name,
                 previous ? "previous" : "published", *scene ? "scene " : "all scenes", scene);
    fail(game->check, what, &error);
}

static void check_publications(struct game *game, const char *scene)
{
    check_publication(game, scene, false);
    check_publication(game, scene, true);
}

static bool visit_scene(void *user, const char *scene, uint64_t uploads, uint32_t day,
                        struct pm_error *error)
{
    (void)uploads;
    (void)day;
    (void)error;
    check_publications(user, scene);
    return true;
}

/* ---- what was set aside ---- */

static bool visit_quarantined(void *user, const struct pm_quarantined *entry,
                              struct pm_error *error)
{
    const struct check *check = user;
    (void)error;
    if (strncmp(entry->reason, PM_DAMAGED_REASON, strlen(PM_DAMAGED_REASON)) == 0)
        pm_check_say(check->report, check->user, PM_FINDING_WARNING,
                     "quarantine: game \"%.100s\": %s", entry->game, entry->reason);
    return true;
}

static void check_quarantine(struct check *check)
{
    struct pm_error error = {0};
    if (!check->storage->operations->read_quarantine(check->storage, NULL, visit_quarantined, check,
                                                     &error))
        fail(check, "quarantine", &error);
}

/* ---- games ---- */

static void check_game(struct check *check, const char *name)
{
    struct game game = {.check = check, .name = name};
    struct pm_error error = {0};
    const struct pm_storage_operations *operations = check->storage->operations;
    const unsigned before = check->errors;
    pm_statistics_init(&game.sum);
    if (!operations->read_game(check->storage, name, NULL, visit_blob, &game, &error))
        fail(check, name, &error);
    finish_shader(&game);
    check_samples(&game);
    check_originals(&game);
    check_sessions(&game);
    check_publications(&game, "");
    check_publications(&game, PM_RACES_PUBLICATION);
    if (!operations->list_scenes(check->storage, name, UINT32_MAX, visit_scene, &game, &error))
        fail(check, name, &error);
    if (check->errors == before)
        pm_check_say(check->report, check->user, PM_FINDING_OK,
                     "game \"%.100s\": %" PRIu64 " uploads, %" PRIu64 " statistics, %" PRIu64
                     " rows that wait to be folded in",
                     name, game.uploads, game.blobs, game.rows);
}

void pm_aggregator_check(const char *path, pm_check_report report, void *user)
{
    struct check check = {.report = report, .user = user};
    struct pm_names all = {0};
    struct pm_error error = {0};
    const bool remote = pm_storage_postgres_is_url(path);
    if (!remote && access(path, F_OK) != 0 && errno == ENOENT) {
        pm_check_say(report, user, PM_FINDING_OK, "%s: is not there yet, and would be made", path);
        return;
    }
    if (!remote && !pm_storage_sqlite_check(path, report, user))
        return;
    check.storage = remote ? pm_storage_postgres_open(path, NULL, &error)
                           : pm_storage_sqlite_open_to_read(path, &error);
    if (!check.storage || !pm_names_of_games(&all, check.storage, NULL, &error))
        fail(&check, "storage", &error);
    for (size_t i = 0; i < all.count; i++)
        check_game(&check, all.names[i]);
    pm_names_finish(&all);
    if (check.storage)
        check_quarantine(&check);
    if (check.storage)
        check.storage->operations->destroy(check.storage);
}
