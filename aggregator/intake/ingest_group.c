#include "aggregator/intake/ingest_group.h"

#include "aggregator/intake/room.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of a row's samples beyond which the next row begins. */
#define ROW_BYTES ((size_t)1 << 20)
#define MIXED_BYTES ((size_t)128 << 10)
#define ROW_CAP ((size_t)1 << 30)

void pm_group_finish(struct pm_group *group)
{
    struct pm_group_game *game, *next;
    HASH_ITER(hh, group->games, game, next)
    {
        struct pm_group_scene *scene, *after;
        HASH_DEL(group->games, game);
        HASH_ITER(hh, game->scenes, scene, after)
        {
            HASH_DEL(game->scenes, scene);
            free(scene);
        }
        for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++)
            for (unsigned marked = 0; marked < 2; marked++)
                pm_buffer_finish(&game->parts[marked][i]);
        free(game);
    }
    for (size_t i = 0; i < group->row_count; i++)
        free((void *)group->rows[i].data);
    free(group->rows);
    free(group->counts);
    free(group->named);
}

/* May uploads of the game be kept? Under the storage's write lock, so that nobody else brings a new
 * one meanwhile. */
static bool find_room(struct pm_group *group, const char *name, bool *has_room,
                      struct pm_error *error)
{
    struct pm_storage *storage = group->world->storage;
    const uint32_t most = group->limits->max_games;
    uint64_t uploads, games;
    *has_room = true;
    if (most == UINT32_MAX)
        return true;
    if (!storage->operations->find_game(storage, name, has_room, &uploads, error))
        return false;
    if (*has_room)
        return true;
    if (!group->counted) {
        if (!storage->operations->count_games(storage, &games, error))
            return false;
        group->counted = true;
        group->games_left = games < most ? most - games : 0;
    }
    *has_room = group->games_left > 0;
    if (!*has_room)
        return pm_room_make(group, has_room, error);
    group->games_left--;
    return true;
}

struct pm_group_game *pm_group_find(struct pm_group *group, const char *name,
                                    struct pm_error *error)
{
    struct pm_group_game *game;
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
        for (unsigned marked = 0; marked < 2; marked++)
            pm_buffer_init(&game->parts[marked][i], ROW_CAP);
    HASH_ADD_KEYPTR(hh, group->games, game->name, strlen(game->name), game);
    return game;
}

/* Makes what a buffer has a row of the part and begins the next. */
static bool end_row(struct pm_group *group, struct pm_group_game *game, unsigned from,
                    unsigned part, bool marked, struct pm_error *error)
{
    struct pm_buffer *samples = &game->parts[marked][from];
    if (samples->size == 0)
        return true;
    if (group->row_count == group->rows_allocated) {
        const size_t allocated = group->rows_allocated ? 2 * group->rows_allocated : 32;
        struct pm_storage_samples *rows = reallocarray(group->rows, allocated, sizeof(*rows));
        if (!rows)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group of uploads");
        group->rows = rows;
        group->rows_allocated = allocated;
    }
    const unsigned number = marked ? pm_sample_part_of_day(part, group->day) : part;
    group->rows[group->row_count++] = (struct pm_storage_samples){.game = game->name,
                                                                  .part = number,
                                                                  .day = group->day,
                                                                  .data = samples->data,
                                                                  .size = samples->size};
    group->bytes += marked ? 0 : samples->size;
    pm_buffer_init(samples, ROW_CAP);
    return true;
}

/* Moves the samples of all parts to the end of the first. */
static bool join_parts(struct pm_buffer parts[static PM_SAMPLE_PARTS])
{
    struct pm_buffer *first = &parts[0];
    for (unsigned i = 1; i < PM_SAMPLE_PARTS; i++) {
        struct pm_buffer *part = &parts[i];
        if (part->size > 0 && !pm_buffer_append(first, part->data, part->size))
            return false;
        part->size = 0;
    }
    return true;
}

/* A row for each part costs more than it saves where the group has little of the game. Folding a
 * mixed row rewrites more blobs in one transaction, so that it had better stay the exception for a
 * game that many upload to. */
static bool end_rows(struct pm_group *group, struct pm_group_game *game, bool marked,
                     struct pm_error *error)
{
    size_t size = 0;
    for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++)
        size += game->parts[marked][i].size;
    if (size < MIXED_BYTES)
        return join_parts(game->parts[marked])
                   ? end_row(group, game, 0, PM_SAMPLE_MIXED, marked, error)
                   : pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group");
    for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++) {
        if (!end_row(group, game, i, i, marked, error))
            return false;
    }
    return true;
}

/* Once a day: whoever invents names must not fill the log. */
static void tell(const struct pm_group *group, uint32_t *told, const char *what)
{
    if (*told != group->day)
        pm_log_warning(group->world->log, "%s", what);
    *told = group->day;
}

void pm_group_tell_no_room(struct pm_group *group)
{
    tell(group, &group->limits->told_games,
         "as many games are known as may be (--max-games): uploads to further ones are answered "
         "with 507; `piecemeal db drop` makes room, and so does the retention");
}

bool pm_group_collect(struct pm_group *group, struct pm_storage_batch *batch,
                      struct pm_error *error)
{
    struct pm_group_game *game, *next;
    size_t games = HASH_COUNT(group->games), scenes = 0;
    HASH_ITER(hh, group->games, game, next)
    scenes += HASH_COUNT(game->scenes);
    group->counts = calloc(games + 1, sizeof(*group->counts));
    group->named = calloc(scenes + 1, sizeof(*group->named));
    if (!group->counts || !group->named)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group of uploads");
    games = 0;
    HASH_ITER(hh, group->games, game, next)
    {
        struct pm_group_scene *scene, *after;
        if (game->uploads == 0)
            continue;
        group->counts[games++] = (struct pm_storage_game){game->name, game->uploads};
        HASH_ITER(hh, game->scenes, scene, after)
        group->named[group->named_count++] =
            (struct pm_storage_scene){.game = game->name,
                                      .name = scene->name,
                                      .uploads = scene->uploads,
                                      .day = group->day,
                                      .most = scene->stands ? group->limits->max_scenes : 0};
        if (!end_rows(group, game, false, error) || !end_rows(group, game, true, error))
            return false;
    }
    batch->games = group->counts;
    batch->game_count = games;
    batch->scenes = group->named;
    batch->scene_count = group->named_count;
    batch->samples = group->rows;
    batch->sample_count = group->row_count;
    return true;
}

void pm_group_committed(struct pm_group *group)
{
    for (size_t i = 0; i < group->named_count; i++) {
        if (group->named[i].most > 0 && !group->named[i].known)
            tell(group, &group->limits->told_scenes,
                 "a game has as many scenes as may be known of one (--max-scenes): uploads that "
                 "name further ones count for the game, and for no scene of it");
    }
}

bool pm_group_name_scene(struct pm_group_game *game, const char *name, bool stands,
                         struct pm_error *error)
{
    struct pm_group_scene *scene;
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

bool pm_group_append(struct pm_group *group, struct pm_group_game *game,
                     const struct pm_prepared *prepared, const uint8_t *mark,
                     struct pm_error *error)
{
    for (unsigned i = 0; i < PM_SAMPLE_PARTS; i++) {
        const size_t start = i > 0 ? prepared->ends[i - 1] : 0;
        struct pm_buffer *samples = &game->parts[mark != NULL][i];
        if (prepared->ends[i] > start &&
            ((mark && !pm_sample_append_mark(samples, mark)) ||
             !pm_buffer_append(samples, prepared->samples.data + start, prepared->ends[i] - start)))
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a group of uploads");
        if (samples->size >= ROW_BYTES && !end_row(group, game, i, i, mark != NULL, error))
            return false;
    }
    return true;
}
