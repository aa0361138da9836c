#include "tests/aggregator/support.h"

#include <dirent.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *make_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/pm-aggregator-XXXXXX", base ? base : "/tmp") < 0 || !mkdtemp(path))
        abort();
    return path;
}

char *join(const char *folder, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        abort();
    return path;
}

bool on_postgres(void)
{
    return getenv("PM_TEST_STORAGE") != NULL;
}

char *fresh_storage(const char *folder)
{
    static unsigned made;
    const char *engine = getenv("PM_TEST_STORAGE");
    char *url = NULL, sql[100];
    if (!engine)
        return join(folder, "test.db");
    PGconn *connection = PQconnectdb(engine);
    snprintf(sql, sizeof(sql), "CREATE SCHEMA place_%d_%u", (int)getpid(), ++made);
    PGresult *result = PQexec(connection, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK ||
        asprintf(&url, "%s&options=-csearch_path%%3Dplace_%d_%u", engine, (int)getpid(), made) <
            0) {
        fprintf(stderr, "%s: %s", engine, PQerrorMessage(connection));
        abort();
    }
    PQclear(result);
    PQfinish(connection);
    return url;
}

void remove_folder(char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char *name = join(path, entry->d_name);
        if (entry->d_type != DT_DIR)
            unlink(name);
        free(name);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
    free(path);
}

struct pm_shader_key key_of(uint64_t number)
{
    struct pm_shader_key key;
    struct pm_random random;
    pm_random_init(&random, number);
    for (size_t i = 0; i < sizeof(key.bytes); i++)
        key.bytes[i] = (uint8_t)pm_random_below(&random, 256);
    return key;
}

struct pm_point_counts block_counts(uint32_t point, uint64_t entry_lanes, uint64_t lanes)
{
    return (struct pm_point_counts){
        .point = point,
        .calls = 1,
        .entry_lanes = entry_lanes,
        .entry_subgroups = (entry_lanes + 7) / 8,
        .counts = {lanes, lanes / 2, (lanes + 7) / 8},
    };
}

struct pm_point_counts alone_counts(uint32_t point, uint64_t entry_lanes, uint64_t lanes)
{
    return (struct pm_point_counts){.point = point,
                                    .calls = 1,
                                    .entry_lanes = entry_lanes,
                                    .counts = {lanes},
                                    .lanes_alone = lanes};
}

struct pm_shader_profile block_shader(struct pm_arena *arena, uint64_t number, uint32_t space,
                                      const struct pm_point_counts *points, size_t count)
{
    return (struct pm_shader_profile){
        .key = key_of(number),
        .environment = {.subgroup_size = 8},
        .kind = PM_KIND_BLOCK,
        .space = space,
        .points = pm_arena_dup(arena, points, count * sizeof(*points)),
        .point_count = count,
    };
}

struct pm_point_counts zero_counts(uint32_t point, uint64_t entry_lanes, uint64_t writes,
                                   uint64_t zero_writes)
{
    return (struct pm_point_counts){.point = point,
                                    .calls = 1,
                                    .entry_lanes = entry_lanes,
                                    .entry_subgroups = (entry_lanes + 7) / 8,
                                    .counts = {writes, zero_writes}};
}

struct pm_shader_profile zero_shader(struct pm_arena *arena, uint64_t number, uint32_t space,
                                     const struct pm_point_counts *points, size_t count)
{
    struct pm_shader_profile shader = block_shader(arena, number, space, points, count);
    shader.kind = PM_KIND_ZERO;
    return shader;
}

struct pm_shader_profile timing_shader(struct pm_arena *arena, uint64_t number, uint32_t pairs,
                                       uint64_t original, uint64_t variant)
{
    const struct pm_point_counts point = {.calls = pairs,
                                          .entry_lanes = pairs,
                                          .entry_subgroups = pairs,
                                          .counts = {original, variant}};
    struct pm_shader_profile shader = block_shader(arena, number, 1, &point, 1);
    shader.kind = PM_KIND_TIMING;
    shader.environment.vendor_id = 0x10005;
    shader.environment.driver_version = 1;
    return shader;
}

struct pm_profile *profile_of(struct pm_arena *arena, struct pm_random *random, const char *game,
                              const struct pm_shader_profile *shaders, size_t count)
{
    struct pm_profile *profile = pm_arena_zalloc(arena, 1, sizeof(*profile));
    for (size_t i = 0; i < sizeof(profile->upload_id); i++)
        profile->upload_id[i] = (uint8_t)pm_random_below(random, 256);
    profile->game = pm_arena_strdup(arena, game);
    profile->scene = "";
    profile->layer_version = "test";
    profile->shaders = pm_arena_dup(arena, shaders, count * sizeof(*shaders));
    profile->shader_count = count;
    return profile;
}

struct pm_profile *random_profile(struct pm_arena *arena, struct pm_random *random,
                                  const char *game, size_t shaders, uint32_t space)
{
    struct pm_shader_profile *all = pm_arena_zalloc(arena, shaders, sizeof(*all));
    struct pm_point_counts *points = pm_arena_zalloc(arena, space, sizeof(*points));
    for (size_t i = 0; i < shaders; i++) {
        size_t count = 0;
        for (uint32_t j = 0; j < space; j++) {
            if (pm_random_below(random, 2) == 0)
                continue;
            const uint64_t x = 1 + pm_random_below(random, 1u << pm_random_below(random, 24));
            const uint64_t lanes = pm_random_below(random, 3) * x / 2;
            points[count++] = x % 3 == 0 ? alone_counts(j, x, lanes) : block_counts(j, x, lanes);
        }
        all[i] = block_shader(arena, i, space, points, count);
    }
    return profile_of(arena, random, game, all, shaders);
}

struct histogram_visit {
    const struct pm_shader_estimates *shader;
    uint32_t point;
    unsigned measure;
    uint64_t *bins;
};

static bool visit_histogram(void *user, const struct pm_storage_key *key, const void *blob,
                            size_t size, struct pm_error *error)
{
    const struct histogram_visit *visit = user;
    const struct pm_shader_estimates *shader = visit->shader;
    if (!pm_shader_key_equal(&shader->key, &key->key) || shader->kind != key->kind ||
        memcmp(&shader->environment, &key->environment, sizeof(key->environment)) != 0 ||
        (shader->flags | key->flags) != shader->flags)
        return true;
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    if (!pm_statistics_decode(blob, size, &statistics, error))
        return false;
    const struct pm_point_statistics *point = pm_statistics_find(&statistics, visit->point);
    for (unsigned i = 0; point && i < PM_HISTOGRAM_BINS; i++)
        visit->bins[i] += point->measures[visit->measure].histogram[i];
    pm_statistics_finish(&statistics);
    return true;
}

void histogram_of(struct pm_aggregator *aggregator, const char *game,
                  const struct pm_shader_estimates *shader, uint32_t point, unsigned measure,
                  const char *scene, uint64_t bins[static PM_HISTOGRAM_BINS])
{
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    struct histogram_visit visit = {shader, point, measure, bins};
    memset(bins, 0, PM_HISTOGRAM_BINS * sizeof(*bins));
    if (!pm_aggregator_fold(aggregator, game, NULL) ||
        !storage->operations->read_game(storage, game, scene, visit_histogram, &visit, NULL))
        abort();
}

bool count_marks(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    (void)error;
    *(size_t *)user += claim->mark ? PM_MARK_BYTES : 0;
    return true;
}
