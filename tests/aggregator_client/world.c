#include "tests/aggregator_client/world.h"
#include "aggregator_client/disk/spool.h"
#include "base/file.h"
#include "tests/cmocka_includes.h"
#include "tests/profile/random_profile.h"
#include "tests/temporary.h"
#include <dirent.h>
#include <string.h>
#include <time.h>

static void check(bool good)
{
    if (!good)
        abort();
}

const char *world_path(const struct world *world, const char *name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", world->folder, name);
    return path;
}

int world_make(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    check(world != NULL);
    temporary_make(world->folder, sizeof(world->folder));
    setenv("HOME", world->folder, 1);
    setenv("XDG_CONFIG_HOME", world_path(world, "config"), 1);
    setenv("XDG_DATA_HOME", world_path(world, "data"), 1);
    setenv("XDG_CACHE_HOME", world_path(world, "cache"), 1);
    unsetenv("PIECEMEAL_CONFIG");
    world->spool = strdup(world_path(world, "data/piecemeal/spool"));
    world->server = server_start();
    pm_config_init(&world->config);
    check(asprintf(&world->config.aggregator.url, "http://127.0.0.1:%u",
                   server_port(world->server)) > 0);
    world->log = pm_log_create(world_path(world, "log"), -1, PM_LOG_DEBUG, NULL);
    world->info =
        (struct pm_sync_info){.config = &world->config, .log = world->log, .deadline_seconds = 20};
    check(pm_consent_write(PM_CONSENT_GRANTED, &world->error));
    server_script(world->server, &(struct server_answer){.status = 204}, 1);
    *state = world;
    return 0;
}

int world_remove(void **state)
{
    struct world *world = *state;
    server_stop(world->server);
    pm_log_destroy(world->log);
    pm_config_finish(&world->config);
    temporary_remove(world->folder);
    free(world->spool);
    free(world);
    return 0;
}

char *world_session(struct world *world, const char *game, uint64_t seed, int checkpoints,
                    struct pm_profile_merge *merge)
{
    struct pm_spool_session *before, *after;
    size_t before_count, after_count;
    check(pm_spool_list(NULL, &before, &before_count, &world->error));
    struct pm_spool_writer *writer =
        pm_spool_writer_create(NULL, (uint64_t)64 << 20, &world->error);
    struct pm_random random;
    pm_random_init(&random, seed);
    check(writer != NULL);
    for (int i = 0; i < checkpoints; i++) {
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_profile profile = pm_random_profile(&random, arena, 10, 16);
        profile.game = game;
        check(pm_spool_append(writer, &profile, &world->error));
        check(!merge || pm_profile_merge_add(merge, &profile, &world->error));
        pm_arena_destroy(arena);
    }
    pm_spool_writer_destroy(writer);
    check(pm_spool_list(NULL, &after, &after_count, &world->error));
    char *path = NULL;
    for (size_t i = 0; i < after_count; i++) {
        bool old = false;
        for (size_t k = 0; k < before_count; k++)
            old = old || strcmp(before[k].path, after[i].path) == 0;
        if (!old)
            path = strdup(after[i].path);
    }
    pm_spool_list_free(before, before_count);
    pm_spool_list_free(after, after_count);
    return path;
}

int world_count(const struct world *world, const char *folder, const char *suffix)
{
    DIR *directory = opendir(world_path(world, folder));
    int count = 0;
    if (!directory)
        return -1;
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name), tail = strlen(suffix);
        if (entry->d_name[0] != '.' && length >= tail &&
            strcmp(entry->d_name + length - tail, suffix) == 0)
            count++;
    }
    closedir(directory);
    return count;
}

bool world_logged(const struct world *world, const char *text)
{
    struct pm_buffer log;
    pm_buffer_init(&log, 1 << 20);
    bool found = pm_file_read(world_path(world, "log"), &log, NULL) && log.data &&
                 strstr((char *)log.data, text);
    pm_buffer_finish(&log);
    return found;
}

bool world_upload(struct world *world)
{
    world->report = (struct pm_sync_report){0};
    world->error = (struct pm_error){0};
    return pm_sync_upload(&world->info, &world->report, &world->error);
}

void world_configure(struct world *world, const char *game, const char *text)
{
    char *safe = pm_file_safe_name(game), name[300];
    snprintf(name, sizeof(name), "config/piecemeal/%s.json", safe);
    assert_true(pm_file_write(world_path(world, name), text, strlen(text), &world->error));
    free(safe);
}

const char *world_headers(char text[static 128], int days)
{
    const time_t then = time(NULL) - (time_t)days * 86400;
    struct tm parts;
    strftime(text, 128, "Piecemeal-Rules: aa\r\nDate: %a, %d %b %Y %H:%M:%S GMT\r\n",
             gmtime_r(&then, &parts));
    return text;
}

void world_decode(const struct server_request *request, struct pm_arena *arena,
                  struct pm_profile *profile)
{
    struct pm_buffer wire;
    struct pm_error error = {0};
    pm_buffer_init(&wire, 1 << 24);
    if (!pm_decompress(request->body, request->size, &wire, &error) ||
        !pm_profile_decode(wire.data, wire.size, NULL, arena, profile, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&wire);
}

void world_same_requests(struct world *world, size_t a, size_t b)
{
    const struct server_request *x = server_request(world->server, a);
    const struct server_request *y = server_request(world->server, b);
    assert_int_equal(x->size, y->size);
    assert_memory_equal(x->body, y->body, x->size);
}
