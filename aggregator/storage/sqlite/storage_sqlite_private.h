/*
 * What the files of the SQLite storage share. Connections: one writer, and as many readers as read
 * at the same time, kept for the next. SQLite's own locks are off (SQLITE_OPEN_NOMUTEX): a
 * connection has one user at a time.
 */
#pragma once

#include "aggregator/storage/spaces.h"
#include "aggregator/storage/storage.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#define PM_SQLITE_IDLE_READERS 4
#define PM_SQLITE_ENVIRONMENT_BYTES 20

enum pm_sqlite_statement {
    PM_SQLITE_BEGIN,
    PM_SQLITE_COMMIT,
    PM_SQLITE_ROLLBACK,
    PM_SQLITE_ADD_UPLOAD_ID,
    PM_SQLITE_DROP_UPLOAD_ID,
    PM_SQLITE_RAISE_CAP,
    PM_SQLITE_LOWER_CAP,
    PM_SQLITE_ADD_UPLOADS,
    PM_SQLITE_COUNT_SCENE,
    PM_SQLITE_ADD_SCENE,
    PM_SQLITE_FIND_SCENE,
    PM_SQLITE_FIND_SPACE,
    PM_SQLITE_PUT_SPACE,
    PM_SQLITE_ADD_BLOB,
    PM_SQLITE_ADD_SAMPLES,
    PM_SQLITE_DELETE_SAMPLES,
    PM_SQLITE_DATA_VERSION,
    PM_SQLITE_FIND_BODY,
    PM_SQLITE_PUT_PART,
    PM_SQLITE_PUT_DATABASE,
    PM_SQLITE_SWEEP_BODIES,
    PM_SQLITE_ADD_COVERAGE,
    PM_SQLITE_THIN_COVERAGE,
    PM_SQLITE_ADD_ORIGIN,
    /* Those of storage_sqlite_upkeep.c. */
    PM_SQLITE_FIND_CLAIMS,
    PM_SQLITE_ADD_MARK,
    PM_SQLITE_PUT_CLAIM,
    PM_SQLITE_DROP_CLAIM,
    PM_SQLITE_DROP_MARKS,
    PM_SQLITE_COUNT_MARKS,
    PM_SQLITE_END_MARKS,
    PM_SQLITE_END_CAPS,
    PM_SQLITE_FORGET_BLOBS,
    PM_SQLITE_REPLACE_SPACE,
    PM_SQLITE_PUT_ORIGINAL,
    PM_SQLITE_PUT_NAME,
    PM_SQLITE_ADD_QUARANTINED,
    PM_SQLITE_QUARANTINE_SIZE,
    PM_SQLITE_DROP_QUARANTINED,
    PM_SQLITE_PRUNE_BLOBS,
    PM_SQLITE_PRUNE_IDS,
    PM_SQLITE_PRUNE_SPACES,
    PM_SQLITE_PRUNE_CLAIMS,
    PM_SQLITE_PRUNE_ORIGINALS,
    PM_SQLITE_PRUNE_SCENES,
    PM_SQLITE_PRUNE_QUARANTINE,
    PM_SQLITE_PRUNE_COVERAGE,
    PM_SQLITE_EMPTY_SPACES,
    PM_SQLITE_EMPTY_CLAIMS,
    PM_SQLITE_EMPTY_MARKS,
    PM_SQLITE_EMPTY_ORIGINALS,
    PM_SQLITE_EMPTY_NAMES,
    PM_SQLITE_EMPTY_SCENES,
    PM_SQLITE_EMPTY_COVERAGE,
    PM_SQLITE_EMPTY_DATABASES,
    PM_SQLITE_EMPTY_ORIGINS,
    PM_SQLITE_EMPTY_GAMES,
    PM_SQLITE_EMPTY_BODIES,
    PM_SQLITE_STATEMENTS
};
struct pm_sqlite {
    struct pm_storage storage; /* first */
    char *path;
    pm_storage_merge merge;
    bool has_marks; /* pm_sqlite_has_marks */
    bool has_names; /* pm_sqlite_has_names */
    sqlite3 *writer;
    sqlite3_stmt *statements[PM_SQLITE_STATEMENTS]; /* the writer's */
    struct pm_error merge_error; /* why the merge function failed; code PM_OK: it did not */
    bool lazy;                   /* the writer's commits do not wait for the disk */
    int64_t data_version;        /* changes when another connection writes */
    struct pm_spaces spaces;
    atomic_int_fast64_t hurry; /* pm_now(): when nobody waits for another process any more */
    uint32_t patience;         /* milliseconds that the writer waits for one */
    bool full;                 /* a write of this transaction found no space */
    bool dropped; /* this transaction deletes what shall not be left in the log either */
    pthread_mutex_t readers_mutex;
    sqlite3 *readers[PM_SQLITE_IDLE_READERS]; /* under readers_mutex: idle connections */
    size_t reader_count;
};

/* Fills *error from the connection's last error and returns false. what: what was being done. */
bool pm_sqlite_fail(const char *path, sqlite3 *db, const char *what, struct pm_error *error);

/* ---- storage_sqlite_seal.c ---- */

/* Statements of the connection have seal(…), an integer that goes by its arguments; SQLite's code
 * is at the connection when it returns false. */
bool pm_sqlite_let_seal(sqlite3 *db);
/* A sentence on every row that is not what was written, or of a table that cannot be read. Returns
 * how many there were. */
unsigned pm_sqlite_check_seals(const char *path, sqlite3 *db,
                               void (*say)(void *user, const char *sentence), void *user);

/* ---- storage_sqlite_statements.c ---- */

/* The writer's statement; NULL on failure. */
sqlite3_stmt *pm_sqlite_prepared(struct pm_sqlite *sqlite, enum pm_sqlite_statement which,
                                 struct pm_error *error);

/* Bind without a copy: the statement must have run before these go. SQLite's code. */
int pm_sqlite_bind_text(sqlite3_stmt *statement, int at, const char *text);
int pm_sqlite_bind_blob(sqlite3_stmt *statement, int at, const void *data, size_t size);
int pm_sqlite_bind_key(sqlite3_stmt *statement, int at, const struct pm_shader_key *key);
/* SQLite's integers are signed; counts beyond are not reached by counting. */
int pm_sqlite_bind_count(sqlite3_stmt *statement, int at, uint64_t count);
/* SQLITE_OK when all are; they are few, so one after the other has been done by then. */
#define PM_SQLITE_BOUND(...)                                                                       \
    pm_sqlite_bound((const int[]){__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int))
int pm_sqlite_bound(const int *codes, size_t count);

/* Runs the statement, which can be used again then. bound: SQLITE_OK, or why it could not be bound.
 * row: shown each row, false to stop; NULL: there are none to see. */
typedef bool (*pm_sqlite_row)(void *user, sqlite3_stmt *statement, struct pm_error *error);
bool pm_sqlite_visit(struct pm_sqlite *sqlite, sqlite3_stmt *statement, int bound,
                     pm_sqlite_row row, void *user, struct pm_error *error);
/* The same where one number is wanted at most: the row's first column goes to *value, if it is not
 * NULL; without a row *value stays. */
bool pm_sqlite_run(struct pm_sqlite *sqlite, sqlite3_stmt *statement, int bound, int64_t *value,
                   struct pm_error *error);

/* ---- storage_sqlite_log.c ---- */

#define PM_SQLITE_PAGE_BYTES 8192 /* of files that this program makes */

/* From now on the writer's log is written back when it is large, or space is short. */
void pm_sqlite_log_init(struct pm_sqlite *sqlite);
/* Writes back what can be, and gives the log's space back. */
void pm_sqlite_log_shrink(struct pm_sqlite *sqlite);
/* After something was deleted: the log holds pages as they were before. Waits only a moment for who
 * reads the log, since nobody else can write meanwhile; if that is not enough, the last connection
 * to close removes the log, or what is written next takes its place. */
void pm_sqlite_log_empty(struct pm_sqlite *sqlite);

/* ---- storage_sqlite_readers.c ---- */

/* A connection that reads; give it back. NULL on failure. */
sqlite3 *pm_sqlite_take_reader(struct pm_sqlite *sqlite, struct pm_error *error);
void pm_sqlite_give_reader(struct pm_sqlite *sqlite, sqlite3 *db);
/* Those that are kept; nobody may read any more. */
void pm_sqlite_close_readers(struct pm_sqlite *sqlite);

/* ---- storage_sqlite_wait.c: for another process, no longer than the storage lets it ---- */

void pm_sqlite_let_writer_wait(struct pm_sqlite *sqlite);
void pm_sqlite_let_reader_wait(struct pm_sqlite *sqlite, sqlite3 *db);
void pm_sqlite_hurry(struct pm_storage *storage, int64_t until);

/* ---- storage_sqlite_write.c ---- */

void pm_sqlite_rollback(struct pm_storage *storage);
bool pm_sqlite_begin(struct pm_storage *storage, struct pm_error *error);
bool pm_sqlite_begin_lazily(struct pm_storage *storage, struct pm_error *error);
bool pm_sqlite_commit(struct pm_storage *storage, struct pm_error *error);
bool pm_sqlite_begin_uploads(struct pm_storage *storage, struct pm_storage_upload *uploads,
                             size_t count, struct pm_error *error);
bool pm_sqlite_return_uploads(struct pm_storage *storage, const struct pm_storage_upload *uploads,
                              size_t count, struct pm_error *error);
bool pm_sqlite_commit_uploads(struct pm_storage *storage, struct pm_storage_batch *batch,
                              struct pm_error *error);
bool pm_sqlite_add_games(struct pm_storage *storage, const struct pm_storage_game *games,
                         size_t count, struct pm_error *error);
bool pm_sqlite_add_scenes(struct pm_storage *storage, struct pm_storage_scene *scenes, size_t count,
                          struct pm_error *error);
bool pm_sqlite_find_scenes(struct pm_storage *storage, struct pm_storage_scene *scenes,
                           size_t count, struct pm_error *error);
bool pm_sqlite_find_spaces(struct pm_storage *storage, struct pm_storage_space *spaces,
                           size_t count, struct pm_error *error);
bool pm_sqlite_put_spaces(struct pm_storage *storage, const struct pm_storage_space *spaces,
                          size_t count, struct pm_error *error);
bool pm_sqlite_add_blobs(struct pm_storage *storage, const struct pm_storage_blob *blobs,
                         size_t count, struct pm_error *error);
bool pm_sqlite_add_origin(struct pm_storage *storage, const char *game, const void *origin,
                          size_t size, struct pm_error *error);
bool pm_sqlite_add_coverage(struct pm_storage *storage, const char *game, int64_t time,
                            uint64_t uploads, uint64_t points_covered, uint64_t points,
                            struct pm_error *error);

/* Samples that wait (storage_sqlite_samples.c). */
bool pm_sqlite_add_samples(struct pm_storage *storage, const struct pm_storage_samples *rows,
                           size_t count, struct pm_error *error);
bool pm_sqlite_delete_samples(struct pm_storage *storage, const char *game, unsigned part,
                              const uint64_t *rows, size_t count, uint64_t *deleted,
                              struct pm_error *error);
bool pm_sqlite_read_samples(struct pm_storage *storage, const char *game, unsigned part,
                            size_t bytes, pm_storage_visit_samples visit, void *user,
                            struct pm_error *error);
bool pm_sqlite_list_samples(struct pm_storage *storage, const char *game,
                            pm_storage_visit_part visit, void *user, struct pm_error *error);

/* How long another process may hold what is needed. */
#define PM_SQLITE_BUSY_MILLISECONDS 10000

/* NULL on failure. Waits as long for another process. */
sqlite3 *pm_sqlite_connect(const char *path, int flags, struct pm_error *error);

/* Creates or checks the schema of a fresh connection. */
bool pm_sqlite_prepare_schema(const char *path, sqlite3 *db, struct pm_error *error);

/* The schema of the file; 0: it is empty. Refuses a file that is not ours or newer. */
bool pm_sqlite_read_version(const char *path, sqlite3 *db, int64_t *version,
                            struct pm_error *error);

/* The schema that this program writes. */
int64_t pm_sqlite_newest_version(void);
/* The oldest one that it can read as it is, without bringing it to the newest first. */
int64_t pm_sqlite_oldest_readable_version(void);
/* Are marks rows? Before, claims counted them, too. */
bool pm_sqlite_has_marks(int64_t version);
/* Or shaders' names? */
bool pm_sqlite_has_names(int64_t version);

/* Big-endian, so that SQLite sorts environments as their fields sort. */
void pm_sqlite_pack_environment(const struct pm_environment *environment,
                                uint8_t out[static PM_SQLITE_ENVIRONMENT_BYTES]);
bool pm_sqlite_unpack_environment(const void *data, int size, struct pm_environment *environment);

/* Deletes bodies that no database names. */
#define PM_SQLITE_SWEEP                                                                            \
    "DELETE FROM bodies WHERE etag NOT IN (SELECT etag FROM databases"                             \
    " UNION ALL SELECT previous_etag FROM databases WHERE previous_etag IS NOT NULL)"

/* Publishing (storage_sqlite_databases.c). */
bool pm_sqlite_put_part(struct pm_storage *storage, const char *etag, uint32_t part,
                        const void *data, size_t size, struct pm_error *error);
bool pm_sqlite_put_database(struct pm_storage *storage, const char *game, const char *scene,
                            const char *etag, size_t size, struct pm_error *error);

/* Deletes (storage_sqlite_drop.c). */
bool pm_sqlite_drop(struct pm_storage *storage, const char *game, const struct pm_shader_key *key,
                    uint64_t *blobs, struct pm_error *error);

/* The read functions (storage_sqlite_read.c). */
bool pm_sqlite_read_shader(struct pm_storage *storage, const char *game,
                           const struct pm_shader_key *key, pm_storage_visit_blob visit, void *user,
                           struct pm_error *error);
bool pm_sqlite_read_bytes(struct pm_storage *storage, uint64_t *bytes, struct pm_error *error);
bool pm_sqlite_read_game(struct pm_storage *storage, const char *game, const char *scene,
                         pm_storage_visit_blob visit, void *user, struct pm_error *error);
bool pm_sqlite_count_games(struct pm_storage *storage, uint64_t *games, struct pm_error *error);
bool pm_sqlite_list_scenes(struct pm_storage *storage, const char *game, uint32_t most,
                           pm_storage_visit_scene visit, void *user, struct pm_error *error);
bool pm_sqlite_read_origins(struct pm_storage *storage, const char *game,
                            pm_storage_visit_origin visit, void *user, struct pm_error *error);
bool pm_sqlite_find_game(struct pm_storage *storage, const char *game, bool *known,
                         uint64_t *uploads, struct pm_error *error);
bool pm_sqlite_list_games(struct pm_storage *storage, pm_storage_visit_game visit, void *user,
                          struct pm_error *error);
bool pm_sqlite_get_database(struct pm_storage *storage, const char *game, const char *scene,
                            bool previous, char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                            struct pm_error *error);
bool pm_sqlite_read_coverage(struct pm_storage *storage, const char *game,
                             pm_storage_visit_coverage visit, void *user, struct pm_error *error);
bool pm_sqlite_read_claims(struct pm_storage *storage, const char *game,
                           pm_storage_visit_claim visit, void *user, struct pm_error *error);
bool pm_sqlite_read_originals(struct pm_storage *storage, const char *game,
                              pm_storage_visit_original visit, void *user, struct pm_error *error);
bool pm_sqlite_read_names(struct pm_storage *storage, const char *game, pm_storage_visit_name visit,
                          void *user, struct pm_error *error);
bool pm_sqlite_read_quarantine(struct pm_storage *storage, const char *game,
                               pm_visit_quarantined visit, void *user, struct pm_error *error);

/* Claims, quarantine and retention (storage_sqlite_upkeep.c). */
struct pm_sqlite_claim_visit {
    struct pm_sqlite *sqlite;
    const char *game;
    pm_storage_visit_claim visit;
    void *user;
};
/* A row of key, kind, scope, space, day, tokens, mark. user: struct pm_sqlite_claim_visit. */
bool pm_sqlite_claim_row(void *user, sqlite3_stmt *statement, struct pm_error *error);
bool pm_sqlite_find_claims(struct pm_storage *storage, const struct pm_storage_claim *subjects,
                           size_t count, pm_storage_visit_claim visit, void *user,
                           struct pm_error *error);
bool pm_sqlite_add_marks(struct pm_storage *storage, const struct pm_storage_claim *marks,
                         size_t count, struct pm_error *error);
bool pm_sqlite_put_claims(struct pm_storage *storage, const struct pm_storage_claim *claims,
                          size_t count, struct pm_error *error);
bool pm_sqlite_drop_claim(struct pm_storage *storage, const struct pm_storage_claim *claim,
                          struct pm_error *error);
bool pm_sqlite_settle_marks(struct pm_storage *storage, uint32_t today, uint32_t first,
                            uint32_t rows, uint64_t *settled, bool *left, struct pm_error *error);
bool pm_sqlite_replace_space(struct pm_storage *storage, const char *game,
                             const struct pm_shader_key *key, enum pm_kind kind, uint32_t space,
                             struct pm_error *error);
bool pm_sqlite_put_originals(struct pm_storage *storage,
                             const struct pm_storage_original *originals, size_t count,
                             struct pm_error *error);
bool pm_sqlite_put_name(struct pm_storage *storage, const char *game,
                        const struct pm_shader_key *key, const char *name, struct pm_error *error);
bool pm_sqlite_add_quarantined(struct pm_storage *storage, const struct pm_quarantined *entry,
                               uint32_t most, uint64_t most_bytes, struct pm_error *error);
bool pm_sqlite_prune(struct pm_storage *storage, uint32_t first, uint32_t rows, uint64_t *deleted,
                     bool *left, struct pm_error *error);
