/* The tables of the PostgreSQL storage, and how they come to be. */
#include "aggregator/storage/postgres/storage_postgres_private.h"

#include <stdio.h>

#define SCHEMA_VERSION 8

/* Each step leads from the schema before it to the next. A step that was released is never edited.
 * Every key begins with what rows are distributed by where an engine has several machines: the
 * game; of a token's caps, their mark; of what is published, its ETag. */
static const char *const steps[SCHEMA_VERSION] = {
    /* 1. A game's number of uploads and a scene's are spread over slots, which are added when they
     * are read: who takes in uploads of the same game does not wait for the others. */
    "CREATE TABLE games (game text COLLATE \"C\", slot bigint, uploads bigint NOT NULL,"
    " origin bytea NOT NULL, PRIMARY KEY (game, slot));"
    "CREATE TABLE origins (game text COLLATE \"C\", origin bytea, PRIMARY KEY (game, origin));"
    "CREATE TABLE scenes (game text COLLATE \"C\", scene text COLLATE \"C\", slot bigint,"
    " uploads bigint NOT NULL, day bigint NOT NULL, PRIMARY KEY (game, scene, slot));"
    "CREATE TABLE upload_ids (game text COLLATE \"C\", id bytea, day bigint NOT NULL,"
    " PRIMARY KEY (game, id));"
    "CREATE INDEX upload_ids_by_day ON upload_ids (game, day);"
    "CREATE TABLE epochs (one bigint PRIMARY KEY, day bigint NOT NULL, key bytea NOT NULL);"
    "CREATE TABLE caps (mark bytea, day bigint, n bigint NOT NULL, PRIMARY KEY (mark, day));"
    "CREATE INDEX caps_by_day ON caps (day);"
    "CREATE TABLE samples (game text COLLATE \"C\", part bigint, row bigint GENERATED ALWAYS AS"
    " IDENTITY, day bigint NOT NULL, size bigint NOT NULL, hash bigint NOT NULL, d bytea NOT NULL,"
    " PRIMARY KEY (game, part, row));"
    "ALTER TABLE samples ALTER COLUMN d SET STORAGE EXTERNAL;"
    "CREATE TABLE spaces (game text COLLATE \"C\", key bytea, kind bigint, space bigint NOT NULL,"
    " PRIMARY KEY (game, key, kind));"
    "CREATE TABLE claims (game text COLLATE \"C\", key bytea, kind bigint, scope bytea,"
    " space bigint, tokens bigint NOT NULL, day bigint NOT NULL, last_day bigint NOT NULL,"
    " PRIMARY KEY (game, key, kind, scope, space));"
    "CREATE INDEX claims_by_day ON claims (game, last_day);"
    "CREATE TABLE claim_marks (game text COLLATE \"C\", key bytea, kind bigint, scope bytea,"
    " space bigint, day bigint, mark bytea, PRIMARY KEY (game, key, kind, scope, space, day, "
    "mark));"
    "CREATE INDEX claim_marks_by_day ON claim_marks (game, day);"
    "CREATE TABLE originals (game text COLLATE \"C\", key bytea, original bytea NOT NULL,"
    " day bigint NOT NULL, PRIMARY KEY (game, key));"
    "CREATE TABLE statistics (game text COLLATE \"C\", key bytea, environment bytea, kind bigint,"
    " flags bigint, day bigint, scene text COLLATE \"C\", d bytea NOT NULL,"
    " PRIMARY KEY (game, key, environment, kind, flags, day, scene));"
    "ALTER TABLE statistics ALTER COLUMN d SET STORAGE EXTERNAL;"
    "CREATE INDEX statistics_by_day ON statistics (game, day);"
    "CREATE TABLE databases (game text COLLATE \"C\", scene text COLLATE \"C\", etag text NOT NULL,"
    " previous_etag text, PRIMARY KEY (game, scene));"
    "CREATE TABLE bodies (etag text COLLATE \"C\", part bigint, d bytea NOT NULL,"
    " PRIMARY KEY (etag, part));"
    "ALTER TABLE bodies ALTER COLUMN d SET STORAGE EXTERNAL;"
    "CREATE TABLE coverage (game text COLLATE \"C\", time bigint, row bigint GENERATED ALWAYS AS"
    " IDENTITY, uploads bigint NOT NULL, points_covered bigint NOT NULL, points bigint NOT NULL,"
    " PRIMARY KEY (game, time, row));"
    "CREATE TABLE quarantine (game text COLLATE \"C\", row bigint GENERATED ALWAYS AS IDENTITY,"
    " time bigint NOT NULL, reason text NOT NULL, body_size bigint NOT NULL, body bytea,"
    " PRIMARY KEY (game, row));",
    /* 2. Days have partitions (postgres_days.c), so that forgetting one is dropping them. An upload
     * has a day of its own; those that say none are in the partition of day 0, as all that were
     * taken before are. Rows of samples have numbers that whoever adds them makes. Who does a piece
     * of work holds its lease (postgres_leases.c). */
    "ALTER TABLE upload_ids RENAME TO old_upload_ids;"
    "ALTER TABLE samples RENAME TO old_samples;"
    "ALTER TABLE statistics RENAME TO old_statistics;"
    "ALTER TABLE claim_marks RENAME TO old_claim_marks;"
    "ALTER TABLE caps RENAME TO old_caps;"
    "CREATE TABLE upload_ids (game text COLLATE \"C\", day bigint, id bytea, taken bigint NOT NULL,"
    " PRIMARY KEY (game, day, id)) PARTITION BY LIST (day);"
    "CREATE TABLE samples (game text COLLATE \"C\", part bigint, row bigint, day bigint,"
    " size bigint NOT NULL, hash bigint NOT NULL, d bytea NOT NULL,"
    " PRIMARY KEY (game, part, row, day)) PARTITION BY LIST (day);"
    "ALTER TABLE samples ALTER COLUMN d SET STORAGE EXTERNAL;"
    "CREATE TABLE statistics (game text COLLATE \"C\", key bytea, environment bytea, kind bigint,"
    " flags bigint, day bigint, scene text COLLATE \"C\", d bytea NOT NULL,"
    " PRIMARY KEY (game, key, environment, kind, flags, day, scene)) PARTITION BY LIST (day);"
    "ALTER TABLE statistics ALTER COLUMN d SET STORAGE EXTERNAL;"
    "CREATE TABLE claim_marks (game text COLLATE \"C\", key bytea, kind bigint, scope bytea,"
    " space bigint, day bigint, mark bytea,"
    " PRIMARY KEY (game, key, kind, scope, space, day, mark)) PARTITION BY LIST (day);"
    "CREATE TABLE caps (mark bytea, day bigint, n bigint NOT NULL, PRIMARY KEY (mark, day))"
    " PARTITION BY LIST (day);"
    "CREATE TABLE cap_uploads (mark bytea, day bigint, id bytea, attempt bigint NOT NULL,"
    " counts bigint NOT NULL, PRIMARY KEY (mark, day, id)) PARTITION BY LIST (day);"
    "CREATE TABLE leases (game text COLLATE \"C\", piece bigint, PRIMARY KEY (game, piece));"
    "CREATE TABLE upload_ids_d0 PARTITION OF upload_ids FOR VALUES IN (0);"
    "CREATE INDEX upload_ids_d0_taken ON upload_ids_d0 (game, taken);"
    "DO $$ DECLARE t text; d bigint; BEGIN"
    " FOREACH t IN ARRAY ARRAY['samples', 'statistics', 'claim_marks', 'caps'] LOOP"
    " FOR d IN EXECUTE 'SELECT DISTINCT day FROM old_' || t LOOP"
    " EXECUTE format('CREATE TABLE %s_d%s PARTITION OF %s FOR VALUES IN (%s)', t, d, t, d);"
    " END LOOP; END LOOP; END $$;"
    "INSERT INTO upload_ids SELECT game, 0, id, day FROM old_upload_ids;"
    "INSERT INTO samples SELECT game, part, row, day, size, hash, d FROM old_samples;"
    "INSERT INTO statistics SELECT * FROM old_statistics;"
    "INSERT INTO claim_marks SELECT * FROM old_claim_marks;"
    "INSERT INTO caps SELECT * FROM old_caps;"
    "DROP TABLE old_upload_ids, old_samples, old_statistics, old_claim_marks, old_caps;",
    /* 3. Blobs are sealed (seal.h), which nobody before can read; the tables are the same. */
    "SELECT 1",
    /* 4. Samples may wait under marks, and claims of numbers of points have facts with them, which
     * nobody before can read; the tables are the same. */
    "SELECT 1",
    /* 5. Samples and statistics may be of variants (races.h), and those of timings may have
     * spreads, which nobody before can read; the tables are the same. */
    "SELECT 1",
    /* 6. What people call shaders. */
    ("CREATE TABLE shader_names (game text COLLATE \"C\", key bytea, name text NOT NULL,"
     " PRIMARY KEY (game, key))"),
    /* 7. Samples and statistics may be of turns, which nobody before can read; the tables are the
     * same. */
    "SELECT 1",
    /* 8. Samples may say that lanes were counted alone, which nobody before can read; the tables
     * are the same. */
    "SELECT 1",
};

/* Where the engine is Citus, tables are distributed: by their games, those of one game on one shard
 * each; caps by their marks, over no more shards than there are machines, since a batch has marks
 * of many; what is published by its ETag. The tables of one row stay where they are. Nothing else
 * knows. After an upgrade most tables are distributed already, which is refused a second time; a
 * NULL count of shards is the engine's own. */
static const char distribute[] =
    "DO $$ DECLARE t record; machines int; BEGIN"
    " IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN"
    " SELECT greatest(count(*), 1) INTO machines FROM citus_get_active_worker_nodes();"
    " FOR t IN SELECT * FROM (VALUES ('games', 'game', 'none', NULL),"
    " ('origins', 'game', 'games', NULL), ('scenes', 'game', 'games', NULL),"
    " ('upload_ids', 'game', 'games', NULL), ('samples', 'game', 'games', NULL),"
    " ('spaces', 'game', 'games', NULL), ('claims', 'game', 'games', NULL),"
    " ('claim_marks', 'game', 'games', NULL), ('originals', 'game', 'games', NULL),"
    " ('shader_names', 'game', 'games', NULL),"
    " ('statistics', 'game', 'games', NULL), ('databases', 'game', 'games', NULL),"
    " ('coverage', 'game', 'games', NULL), ('quarantine', 'game', 'games', NULL),"
    " ('leases', 'game', 'games', NULL), ('caps', 'mark', 'none', machines),"
    " ('cap_uploads', 'mark', 'caps', NULL), ('bodies', 'etag', 'none', NULL))"
    " AS every (name, field, beside, shards) LOOP"
    " CONTINUE WHEN EXISTS (SELECT 1 FROM pg_dist_partition"
    " WHERE logicalrelid = t.name::regclass);"
    " PERFORM create_distributed_table(t.name, t.field, colocate_with => t.beside,"
    " shard_count => t.shards);"
    " END LOOP; END IF; END $$";

static bool run(struct pm_postgres *postgres, const char *sql, struct pm_error *error)
{
    return pm_pg_plain(postgres, pm_pg_writer(postgres, error), sql, error);
}

bool pm_pg_check_version(struct pm_postgres *postgres, int64_t version, struct pm_error *error)
{
    return version <= SCHEMA_VERSION ||
           pm_fail(error, PM_ERROR_UNSUPPORTED,
                   "%s: written by a newer Piecemeal (schema %d; this one knows up to %d)",
                   postgres->name, (int)version, SCHEMA_VERSION);
}

/* The table is locked: who has it upgrades, and all others wait for the end of its transaction. */
static bool upgrade(struct pm_postgres *postgres, struct pm_error *error)
{
    int64_t version;
    char sql[64];
    if (!pm_pg_plain_number(postgres, postgres->writer, PM_PG_SCHEMA_VERSION, &version, error) ||
        !pm_pg_check_version(postgres, version, error))
        return false;
    if (version == SCHEMA_VERSION)
        return true;
    for (; version < SCHEMA_VERSION; version++) {
        if (!run(postgres, steps[version], error))
            return false;
    }
    if (!run(postgres, distribute, error))
        return false;
    snprintf(sql, sizeof(sql), "UPDATE piecemeal_schema SET version = %d WHERE one = 1",
             SCHEMA_VERSION);
    return run(postgres, sql, error);
}

static bool prepare(struct pm_postgres *postgres, struct pm_error *error)
{
    int64_t version;
    if (!run(postgres,
             "CREATE TABLE IF NOT EXISTS piecemeal_schema (one bigint PRIMARY KEY,"
             " version bigint NOT NULL);"
             "INSERT INTO piecemeal_schema VALUES (1, 0) ON CONFLICT DO NOTHING",
             error) ||
        !pm_pg_plain_number(postgres, postgres->writer, PM_PG_SCHEMA_VERSION, &version, error) ||
        !pm_pg_check_version(postgres, version, error))
        return false;
    return version == SCHEMA_VERSION ||
           (pm_pg_begin_upgrade(postgres, error) &&
            pm_storage_end(&postgres->storage, upgrade(postgres, error), error));
}

bool pm_postgres_prepare_schema(struct pm_postgres *postgres, struct pm_error *error)
{
    struct pm_error reason = {0};
    bool done = false;
    /* Two that make the first table at once meet in the engine's catalog. */
    for (int tries = 0; !done && tries < 3; tries++) {
        done = prepare(postgres, &reason);
        if (!done && reason.code != PM_ERROR_CONFLICT)
            break;
    }
    if (!done && error)
        *error = reason;
    return done;
}
