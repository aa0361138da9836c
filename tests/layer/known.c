#include "tests/layer/known.h"

#include "aggregator_client/disk/database_cache.h"
#include "aggregator_client/disk/spool.h"
#include "base/file.h"
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };

/* ---- what the spool has ---- */

struct taking {
    struct known_shader *shaders;
    size_t count, most;
};

static void take(struct taking *taking, const struct pm_shader_profile *shader)
{
    for (size_t i = 0; i < taking->count; i++) {
        if (taking->shaders[i].kind == shader->kind &&
            pm_shader_key_equal(&taking->shaders[i].key, &shader->key))
            return;
    }
    if (taking->count < taking->most)
        taking->shaders[taking->count++] =
            (struct known_shader){shader->key, shader->environment, shader->kind, shader->space};
}

static bool take_checkpoint(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    (void)error;
    for (size_t i = 0; i < checkpoint->shader_count; i++)
        take(user, &checkpoint->shaders[i]);
    return true;
}

size_t known_take(struct known_shader *shaders, size_t most)
{
    struct taking taking = {shaders, 0, most};
    struct pm_spool_session *sessions = NULL;
    struct pm_error error = {0};
    size_t count = 0;
    if (!pm_spool_list(NULL, &sessions, &count, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < count; i++) {
        uint64_t damaged = 0;
        if (!pm_spool_read(sessions[i].path, take_checkpoint, &taking, &damaged, &error))
            fail_msg("%s", error.message);
        assert_int_equal(remove(sessions[i].path), 0);
    }
    pm_spool_list_free(sessions, count);
    return taking.count;
}

/* ---- the database ---- */

static int by_key(const void *a, const void *b)
{
    const struct known_shader *x = a, *y = b;
    const int keys = memcmp(x->key.bytes, y->key.bytes, sizeof x->key.bytes);
    return keys ? keys : (int)x->kind - (int)y->kind;
}

static void write_database(const struct pm_database *database)
{
    struct pm_buffer wire, body;
    struct pm_error error = {0};
    pm_buffer_init(&wire, MOST_BYTES);
    pm_buffer_init(&body, MOST_BYTES);
    char *path = pm_database_cache_path(database->game), *folder = strdup(path);
    if (!pm_database_encode(database, &wire, &error) ||
        !pm_compress(wire.data, wire.size, &body, &error) ||
        !pm_make_folder(dirname(folder), &error) ||
        !pm_file_write(path, body.data, body.size, &error) || !pm_database_cache_pack(path, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&wire);
    pm_buffer_finish(&body);
    free(folder);
    free(path);
}

void known_place(const char *game, struct known_shader *shaders, size_t count)
{
    struct pm_shader_estimates *estimates = calloc(count, sizeof *estimates);
    assert_non_null(estimates);
    qsort(shaders, count, sizeof *shaders, by_key);
    for (size_t i = 0; i < count; i++) {
        struct pm_point_estimate *points = calloc(shaders[i].space, sizeof *points);
        assert_non_null(points);
        estimates[i] = (struct pm_shader_estimates){.key = shaders[i].key,
                                                    .environment = shaders[i].environment,
                                                    .kind = shaders[i].kind,
                                                    .space = shaders[i].space,
                                                    .published = true,
                                                    .points = points};
    }
    write_database(&(const struct pm_database){game, 1, estimates, count});
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)estimates[i].points);
    free(estimates);
}
