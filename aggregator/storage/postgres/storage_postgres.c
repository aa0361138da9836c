#include "aggregator/storage/postgres/storage_postgres.h"

#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- opening and closing ---- */

static void destroy(struct pm_storage *storage)
{
    struct pm_postgres *postgres = (struct pm_postgres *)storage;
    pm_pg_close_leases(postgres);
    pm_pg_close_readers(postgres);
    pm_pg_close_writer(postgres);
    pthread_mutex_destroy(&postgres->readers_mutex);
    pm_spaces_forget(&postgres->spaces);
    pm_pg_forget_days(postgres);
    pm_pg_forget_wanted_days(postgres);
    pm_pg_forget_rounds(postgres);
    pm_buffer_finish(&postgres->returned);
    free(postgres->name);
    free(postgres->url);
    free(postgres);
}

static void hurry(struct pm_storage *storage, int64_t until)
{
    atomic_store(&((struct pm_postgres *)storage)->hurry, until);
}

static const struct pm_storage_operations operations = {
    .destroy = destroy,
    .hurry = hurry,
    .take_epoch = pm_postgres_take_epoch,
    .take_lease = pm_postgres_take_lease,
    .drop_lease = pm_postgres_drop_lease,
    .begin = pm_postgres_begin,
    .begin_lazily = pm_postgres_begin_lazily,
    .begin_piece = pm_postgres_begin_piece,
    .commit = pm_postgres_commit,
    .rollback = pm_postgres_rollback,
    .begin_uploads = pm_postgres_begin_uploads,
    .return_uploads = pm_postgres_return_uploads,
    .commit_uploads = pm_postgres_commit_uploads,
    .add_games = pm_postgres_add_games,
    .add_scenes = pm_postgres_add_scenes,
    .find_scenes = pm_postgres_find_scenes,
    .find_spaces = pm_postgres_find_spaces,
    .put_spaces = pm_postgres_put_spaces,
    .replace_space = pm_postgres_replace_space,
    .find_claims = pm_postgres_find_claims,
    .add_marks = pm_postgres_add_marks,
    .put_claims = pm_postgres_put_claims,
    .drop_claim = pm_postgres_drop_claim,
    .settle_marks = pm_postgres_settle_marks,
    .read_claims = pm_postgres_read_claims,
    .put_originals = pm_postgres_put_originals,
    .read_originals = pm_postgres_read_originals,
    .put_name = pm_postgres_put_name,
    .read_names = pm_postgres_read_names,
    .add_quarantined = pm_postgres_add_quarantined,
    .read_quarantine = pm_postgres_read_quarantine,
    .prune = pm_postgres_prune,
    .drop = pm_postgres_drop,
    .add_samples = pm_postgres_add_samples,
    .delete_samples = pm_postgres_delete_samples,
    .read_samples = pm_postgres_read_samples,
    .list_samples = pm_postgres_list_samples,
    .add_blobs = pm_postgres_add_blobs,
    .read_game = pm_postgres_read_game,
    .read_shader = pm_postgres_read_shader,
    .put_part = pm_postgres_put_part,
    .put_database = pm_postgres_put_database,
    .get_database = pm_postgres_get_database,
    .add_origin = pm_postgres_add_origin,
    .read_origins = pm_postgres_read_origins,
    .add_coverage = pm_postgres_add_coverage,
    .read_coverage = pm_postgres_read_coverage,
    .count_games = pm_postgres_count_games,
    .find_game = pm_postgres_find_game,
    .list_games = pm_postgres_list_games,
    .list_scenes = pm_postgres_list_scenes,
    .read_bytes = pm_postgres_read_bytes,
};

bool pm_storage_postgres_is_url(const char *where)
{
    return strncmp(where, "postgresql://", 13) == 0 || strncmp(where, "postgres://", 11) == 0;
}

/* What messages call it. */
static char *name_of(const char *url)
{
    const char *host = strstr(url, "://") + 3, *at = strchr(host, '@');
    char *name = NULL;
    if (at)
        host = at + 1;
    return asprintf(&name, "postgresql://%.*s", (int)strcspn(host, "?"), host) < 0 ? NULL : name;
}

struct pm_storage *pm_storage_postgres_open(const char *url, pm_storage_merge merge,
                                            struct pm_error *error)
{
    struct pm_postgres *postgres = calloc(1, sizeof(*postgres));
    if (!postgres) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a storage");
        return NULL;
    }
    pthread_mutex_init(&postgres->readers_mutex, NULL);
    postgres->storage.operations = &operations;
    postgres->merge = merge;
    atomic_init(&postgres->hurry, INT64_MAX);
    atomic_init(&postgres->newest, 0);
    pm_buffer_init(&postgres->returned, PM_PG_RETURNED_CAP);
    postgres->url = strdup(url);
    postgres->name = name_of(url);
    if (!postgres->url || !postgres->name)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a storage");
    else if (pm_postgres_prepare_schema(postgres, error))
        return &postgres->storage;
    destroy(&postgres->storage);
    return NULL;
}
