/*
 * What the files of the PostgreSQL storage share. Connections: one writer, and as many readers as
 * read at the same time, kept for the next. All that is sent and answered is binary: text, bytea,
 * and bigint for every number.
 */
#pragma once

#include "aggregator/storage/spaces.h"
#include "aggregator/storage/storage.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/names.h"
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>

#define PM_POSTGRES_IDLE_READERS 4
#define PM_POSTGRES_SLOTS 16 /* of a game's number of uploads, so that nodes do not meet */
#define PM_POSTGRES_ENVIRONMENT_BYTES 20
#define PM_POSTGRES_ROWS 2000 /* of one statement */
#define PM_PG_RETURNED_CAP ((size_t)1 << 24)

/* A connection that reads. */
struct pm_pg_reader {
    PGconn *connection; /* NULL: none */
    int64_t timeline;   /* of its engine, when it was connected (postgres_timeline.c) */
};

/* Of which each day has a partition (postgres_days.c). */
enum pm_pg_table {
    PM_PG_UPLOAD_IDS,
    PM_PG_SAMPLES,
    PM_PG_STATISTICS,
    PM_PG_CLAIM_MARKS,
    PM_PG_CAPS,
    PM_PG_CAP_UPLOADS,
    PM_PG_TABLES
};

/* Days of which a table has its partition, as far as is known; malloc'ed. */
struct pm_pg_days {
    uint32_t *days;
    size_t count;
};

/* The games that upkeep goes over, in several transactions. */
struct pm_pg_round {
    struct pm_names games; /* as they were at its beginning */
    uint32_t day;   /* on which it was begun, or the first that is kept: another begins anew */
    size_t ended;   /* of how many of them it is committed that nothing is left to do */
    size_t reached; /* the same with the transaction that is open */
};

struct pm_postgres {
    struct pm_storage storage; /* first */
    char *url, *name;          /* the name is without a password */
    pm_storage_merge merge;
    PGconn *writer;
    struct pm_pg_lease *piece;  /* whose connection is the writer until the transaction ends */
    PGconn *own_writer;         /* meanwhile */
    bool begun;                 /* a transaction */
    bool lazy;                  /* it need not be durable at once: it folds */
    _Atomic(PGconn *) brief;    /* the writer, while it takes uploads and may wait but briefly */
    bool committing;            /* just now */
    bool unsure;                /* the engine said that a commit may not be where it has to be */
    unsigned slot;              /* of the writer */
    int64_t timeline;           /* of the writer's engine (postgres_timeline.c) */
    atomic_int_fast64_t newest; /* that any connection has seen; 0: none yet */
    atomic_int_fast64_t hurry;  /* pm_now(): when nobody waits any more */
    atomic_uint_fast64_t statements; /* that were sent, for measurements */
    struct pm_spaces spaces;         /* as they were at spaces_since, pm_now(), or later */
    int64_t spaces_since;
    struct pm_pg_days days[PM_PG_TABLES];
    /* Of which transactions wrote or wanted to, since the last that was committed. */
    struct pm_pg_days wanted_days[PM_PG_TABLES];
    struct pm_pg_round pruning, settling;
    bool lacks_day;            /* the transaction does, and cannot be committed */
    struct pm_buffer returned; /* struct pm_storage_cap of uploads that the transaction refuses */
    pthread_mutex_t readers_mutex;
    struct pm_pg_lease *leases;                            /* under readers_mutex: that are held */
    struct pm_pg_reader readers[PM_POSTGRES_IDLE_READERS]; /* under readers_mutex: idle ones */
    size_t reader_count;
    int64_t away_until; /* under readers_mutex, pm_now(): no reader connects; 0: it is not away */
};

/* ---- postgres_query.c: one statement with its parameters ---- */

struct pm_pg_query {
    struct pm_buffer sql;
    struct pm_arena *arena;
    struct pm_buffer types, values, lengths, formats; /* of the parameters, as libpq takes them */
    int count;
    bool failed; /* out of memory */
};

void pm_pg_begin(struct pm_pg_query *query, const char *sql);
void pm_pg_finish(struct pm_pg_query *query);
void pm_pg_sql(struct pm_pg_query *query, const char *sql);
/* Each appends $n, and the parameter, which must live as long as the query but for numbers. */
void pm_pg_text(struct pm_pg_query *query, const char *text);
void pm_pg_bytes(struct pm_pg_query *query, const void *data, size_t size); /* NULL: NULL */
void pm_pg_number(struct pm_pg_query *query, int64_t number);
void pm_pg_count(struct pm_pg_query *query, uint64_t count);
/* Arrays, of which the engine makes rows (unnest); what they are made of is copied. */
struct pm_pg_blob {
    const void *data;
    size_t size; /* bytes */
};
void pm_pg_numbers(struct pm_pg_query *query, const int64_t *numbers, size_t count);
void pm_pg_blobs(struct pm_pg_query *query, const struct pm_pg_blob *blobs, size_t count);
/* Appends "(", ", (" or ", " as a row of VALUES needs it; `first` of it. */
void pm_pg_row(struct pm_pg_query *query, bool first);
void pm_pg_comma(struct pm_pg_query *query);

/* Fields of an answer. */
int64_t pm_pg_get_number(const PGresult *result, int row, int column);
/* Ends in a terminator, which is not counted in *size; "" and 0 for NULL. */
const char *pm_pg_get(const PGresult *result, int row, int column, size_t *size);

/* Sends it and finishes the query. NULL: it failed. The caller clears the result. */
PGresult *pm_pg_run(struct pm_postgres *postgres, PGconn *connection, struct pm_pg_query *query,
                    struct pm_error *error);
/* Where nobody asks for rows; *changed: how many rows it was, or NULL. */
bool pm_pg_do(struct pm_postgres *postgres, struct pm_pg_query *query, uint64_t *changed,
              struct pm_error *error);
/* On a connection of a reader, row by row as they come. */
typedef bool (*pm_pg_visit)(void *user, const PGresult *result, int row, struct pm_error *error);
bool pm_pg_select(struct pm_postgres *postgres, struct pm_pg_query *query, pm_pg_visit visit,
                  void *user, struct pm_error *error);
/* In the writer's transaction, all rows at once. */
bool pm_pg_select_here(struct pm_postgres *postgres, struct pm_pg_query *query, pm_pg_visit visit,
                       void *user, struct pm_error *error);

/* On this connection, all rows at once; visit NULL: nobody asks for them. */
bool pm_pg_select_on(struct pm_postgres *postgres, PGconn *connection, struct pm_pg_query *query,
                     pm_pg_visit visit, void *user, struct pm_error *error);
/* Statements without parameters, which one round trip takes. */
bool pm_pg_plain(struct pm_postgres *postgres, PGconn *connection, const char *sql,
                 struct pm_error *error);
/* One statement, which is cancelled at this time (pm_now()) and then has as long again as it had.
 * Without an answer by then the connection is lost. */
bool pm_pg_plain_until(struct pm_postgres *postgres, PGconn *connection, const char *sql,
                       int64_t until, struct pm_error *error);
/* *number: what the last of them answers; 0 without a row. */
bool pm_pg_plain_number(struct pm_postgres *postgres, PGconn *connection, const char *sql,
                        int64_t *number, struct pm_error *error);

/* ---- postgres_connect.c ---- */

/* One of those that the URL names; malloc'ed. NULL: as the URL has it. */
struct pm_pg_host {
    char *host, *address, *port;
};
/* For at most so many seconds, if the URL does not say how many. */
PGconn *pm_pg_connect_to(struct pm_postgres *postgres, const struct pm_pg_host *host,
                         unsigned seconds, struct pm_error *error);
void pm_pg_close_writer(struct pm_postgres *postgres);
/* The writer's, connected again if need be. NULL on failure. */
PGconn *pm_pg_writer(struct pm_postgres *postgres, struct pm_error *error);
/* Hears as the writer whether commits are where they have to be. */
void pm_pg_hear_notices(struct pm_postgres *postgres, PGconn *connection);
/* Without a connection on failure; giving back none is nothing. Once an engine did not answer at
 * all, that fails at once for some seconds: others wait for whoever reads. */
struct pm_pg_reader pm_pg_take_reader(struct pm_postgres *postgres, struct pm_error *error);
/* Is an engine of which nothing is heard there at all? That is asked on a connection of its own,
 * for as long as a reader's is tried. Fills *error where it is not. */
bool pm_pg_is_there(struct pm_postgres *postgres, struct pm_error *error);
void pm_pg_give_reader(struct pm_postgres *postgres, struct pm_pg_reader reader);
/* Has no other engine taken the place of the reader's since, as far as is known? */
bool pm_pg_is_current(struct pm_postgres *postgres, struct pm_pg_reader reader);
void pm_pg_close_readers(struct pm_postgres *postgres);
/* Fills *error from an answer (NULL: from the connection) and returns false. */
bool pm_pg_fail(struct pm_postgres *postgres, PGconn *connection, const PGresult *result,
                struct pm_error *error);

/* ---- postgres_timeline.c ---- */

/* To the first host that takes writes, where that is on no lower timeline than was seen; else as
 * the next. */
PGconn *pm_pg_connect(struct pm_postgres *postgres, unsigned seconds, int64_t *timeline,
                      struct pm_error *error);
/* To the host of the highest timeline. PM_ERROR_NETWORK also when a higher one was seen. */
PGconn *pm_pg_connect_newest(struct pm_postgres *postgres, unsigned seconds, int64_t *timeline,
                             struct pm_error *error);
/* Did another take the place of the writer's engine, as far as is known? */
bool pm_pg_is_replaced(struct pm_postgres *postgres);
/* Fills *error (PM_ERROR_NETWORK) and returns false. */
bool pm_pg_fail_replaced(struct pm_postgres *postgres, int64_t timeline, struct pm_error *error);

/* ---- postgres_transaction.c ---- */

bool pm_postgres_begin(struct pm_storage *storage, struct pm_error *error);
bool pm_postgres_begin_lazily(struct pm_storage *storage, struct pm_error *error);
bool pm_postgres_begin_piece(struct pm_storage *storage, const char *game, int piece,
                             struct pm_error *error);
bool pm_postgres_commit(struct pm_storage *storage, struct pm_error *error);
void pm_postgres_rollback(struct pm_storage *storage);
/* Begins one that waits for all others, and for which they wait: it changes the schema. */
bool pm_pg_begin_upgrade(struct pm_postgres *postgres, struct pm_error *error);
/* Begin one that takes uploads: it waits for a moment for what another holds, since all uploads
 * behind it wait too. The first is lazy. The second is durable; where another is open, it commits
 * that first, in the same round trip. */
bool pm_pg_begin_caps(struct pm_postgres *postgres, struct pm_error *error);
bool pm_pg_begin_ids(struct pm_postgres *postgres, struct pm_error *error);
/* What takes several statements and was not begun by the caller is begun and ended here. */
bool pm_pg_enter(struct pm_postgres *postgres, bool *entered, struct pm_error *error);
bool pm_pg_leave(struct pm_postgres *postgres, bool entered, bool done, struct pm_error *error);

/* ---- postgres_days.c ---- */

/* Makes the day's partition of the table where it is not there, in a transaction of its own; inside
 * of one that has begun it is not made: lacks_day then, and what the transaction would write need
 * not be written, since its commit is a conflict, and whoever tries again has all days that it
 * asked for. */
bool pm_pg_have_day(struct pm_postgres *postgres, enum pm_pg_table table, uint32_t day,
                    struct pm_error *error);
/* In the writer's transaction: drops the partitions of the days before `first`; of those that are
 * read or written just now, none. only_empty: of those that have rows, none either. *dropped: how
 * many more it were. */
bool pm_pg_drop_days(struct pm_postgres *postgres, enum pm_pg_table table, uint32_t first,
                     bool only_empty, uint64_t *dropped, struct pm_error *error);
void pm_pg_forget_days(struct pm_postgres *postgres);
/* Outside of a transaction. */
bool pm_pg_make_wanted_days(struct pm_postgres *postgres, struct pm_error *error);
void pm_pg_forget_wanted_days(struct pm_postgres *postgres);

/* ---- postgres_rounds.c ---- */

/* Outside of a transaction. Goes on with the round that is not over, if it is of the same day. */
bool pm_pg_enter_round(struct pm_storage *storage, struct pm_pg_round *round, uint32_t day,
                       struct pm_error *error);
/* What the transaction did for these games is committed; or is not, and they come again. */
void pm_pg_end_rounds(struct pm_postgres *postgres, bool committed);
void pm_pg_forget_rounds(struct pm_postgres *postgres);

/* ---- postgres_leases.c ---- */

bool pm_postgres_take_lease(struct pm_storage *storage, const char *game, int piece, bool *taken,
                            struct pm_error *error);
void pm_postgres_drop_lease(struct pm_storage *storage, const char *game, int piece);
void pm_pg_close_leases(struct pm_postgres *postgres);
/* The transaction that holds the piece's row becomes the writer's, until that ends. false: the
 * piece is not held, or its connection cannot be written to. */
bool pm_pg_enter_piece(struct pm_postgres *postgres, const char *game, int piece);
/* The writer is its own again, where it was a piece's. */
void pm_pg_leave_piece(struct pm_postgres *postgres);
/* Whoever changes the schema, or which bodies there are, holds the version's row; this waits for
 * it. It is the connection's until its transaction ends, and what that reads next is what all
 * before it have committed. The engine ends that where it hears nothing for 10 s: the machine that
 * has it may be gone. */
bool pm_pg_hold_schema(struct pm_postgres *postgres, PGconn *connection, struct pm_error *error);

/* ---- postgres_caps.c ---- */

/* Counts the uploads against their caps, in a transaction of its own that stays open where there is
 * something to count, and says which are over; not those that are known. */
bool pm_pg_count_uploads(struct pm_postgres *postgres, struct pm_storage_upload *uploads,
                         const bool *known, size_t count, struct pm_error *error);
/* Uploads that were counted by these are not to be. */
bool pm_pg_return_caps(struct pm_postgres *postgres, const struct pm_storage_cap *caps,
                       size_t count, struct pm_error *error);

/* ---- schema ---- */

/* Whoever reads it keeps the schema as it is until its transaction ends. */
#define PM_PG_SCHEMA_VERSION "SELECT version FROM piecemeal_schema WHERE one = 1"

/* Is it one that this program may write to? */
bool pm_pg_check_version(struct pm_postgres *postgres, int64_t version, struct pm_error *error);

bool pm_postgres_prepare_schema(struct pm_postgres *postgres, struct pm_error *error);

/* ---- shaders' keys and environments ---- */

void pm_pg_key(struct pm_pg_query *query, const struct pm_shader_key *key);
bool pm_pg_get_key(struct pm_postgres *postgres, const PGresult *result, int row, int column,
                   struct pm_shader_key *key, struct pm_error *error);

/* ---- the operations, as storage.h has them ---- */

bool pm_postgres_begin_uploads(struct pm_storage *storage, struct pm_storage_upload *uploads,
                               size_t count, struct pm_error *error);
bool pm_postgres_return_uploads(struct pm_storage *storage, const struct pm_storage_upload *uploads,
                                size_t count, struct pm_error *error);
bool pm_postgres_commit_uploads(struct pm_storage *storage, struct pm_storage_batch *batch,
                                struct pm_error *error);
bool pm_postgres_add_games(struct pm_storage *storage, const struct pm_storage_game *games,
                           size_t count, struct pm_error *error);
bool pm_postgres_add_scenes(struct pm_storage *storage, struct pm_storage_scene *scenes,
                            size_t count, struct pm_error *error);
bool pm_postgres_find_scenes(struct pm_storage *storage, struct pm_storage_scene *scenes,
                             size_t count, struct pm_error *error);
bool pm_postgres_find_spaces(struct pm_storage *storage, struct pm_storage_space *spaces,
                             size_t count, struct pm_error *error);
bool pm_postgres_put_spaces(struct pm_storage *storage, const struct pm_storage_space *spaces,
                            size_t count, struct pm_error *error);
bool pm_postgres_replace_space(struct pm_storage *storage, const char *game,
                               const struct pm_shader_key *key, enum pm_kind kind, uint32_t space,
                               struct pm_error *error);
bool pm_postgres_find_claims(struct pm_storage *storage, const struct pm_storage_claim *subjects,
                             size_t count, pm_storage_visit_claim visit, void *user,
                             struct pm_error *error);
bool pm_postgres_add_marks(struct pm_storage *storage, const struct pm_storage_claim *marks,
                           size_t count, struct pm_error *error);
bool pm_postgres_put_claims(struct pm_storage *storage, const struct pm_storage_claim *claims,
                            size_t count, struct pm_error *error);
bool pm_postgres_drop_claim(struct pm_storage *storage, const struct pm_storage_claim *claim,
                            struct pm_error *error);
bool pm_postgres_take_epoch(struct pm_storage *storage, uint32_t day,
                            uint8_t key[static PM_EPOCH_BYTES], struct pm_error *error);
bool pm_postgres_settle_marks(struct pm_storage *storage, uint32_t today, uint32_t first,
                              uint32_t rows, uint64_t *settled, bool *left, struct pm_error *error);
bool pm_postgres_read_claims(struct pm_storage *storage, const char *game,
                             pm_storage_visit_claim visit, void *user, struct pm_error *error);
bool pm_postgres_put_originals(struct pm_storage *storage,
                               const struct pm_storage_original *originals, size_t count,
                               struct pm_error *error);
bool pm_postgres_read_originals(struct pm_storage *storage, const char *game,
                                pm_storage_visit_original visit, void *user,
                                struct pm_error *error);
bool pm_postgres_put_name(struct pm_storage *storage, const char *game,
                          const struct pm_shader_key *key, const char *name,
                          struct pm_error *error);
bool pm_postgres_read_names(struct pm_storage *storage, const char *game,
                            pm_storage_visit_name visit, void *user, struct pm_error *error);
bool pm_postgres_add_quarantined(struct pm_storage *storage, const struct pm_quarantined *entry,
                                 uint32_t most, uint64_t most_bytes, struct pm_error *error);
bool pm_postgres_read_quarantine(struct pm_storage *storage, const char *game,
                                 pm_visit_quarantined visit, void *user, struct pm_error *error);
bool pm_postgres_prune(struct pm_storage *storage, uint32_t first, uint32_t rows, uint64_t *deleted,
                       bool *left, struct pm_error *error);
bool pm_postgres_drop(struct pm_storage *storage, const char *game, const struct pm_shader_key *key,
                      uint64_t *blobs, struct pm_error *error);
bool pm_postgres_add_samples(struct pm_storage *storage, const struct pm_storage_samples *rows,
                             size_t count, struct pm_error *error);
bool pm_postgres_delete_samples(struct pm_storage *storage, const char *game, unsigned part,
                                const uint64_t *rows, size_t count, uint64_t *deleted,
                                struct pm_error *error);
bool pm_postgres_read_samples(struct pm_storage *storage, const char *game, unsigned part,
                              size_t bytes, pm_storage_visit_samples visit, void *user,
                              struct pm_error *error);
bool pm_postgres_list_samples(struct pm_storage *storage, const char *game,
                              pm_storage_visit_part visit, void *user, struct pm_error *error);
bool pm_postgres_add_blobs(struct pm_storage *storage, const struct pm_storage_blob *blobs,
                           size_t count, struct pm_error *error);
bool pm_postgres_read_game(struct pm_storage *storage, const char *game, const char *scene,
                           pm_storage_visit_blob visit, void *user, struct pm_error *error);
bool pm_postgres_read_shader(struct pm_storage *storage, const char *game,
                             const struct pm_shader_key *key, pm_storage_visit_blob visit,
                             void *user, struct pm_error *error);
bool pm_postgres_put_part(struct pm_storage *storage, const char *etag, uint32_t part,
                          const void *data, size_t size, struct pm_error *error);
bool pm_postgres_put_database(struct pm_storage *storage, const char *game, const char *scene,
                              const char *etag, size_t size, struct pm_error *error);
bool pm_postgres_get_database(struct pm_storage *storage, const char *game, const char *scene,
                              bool previous, char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                              struct pm_error *error);
/* Deletes bodies that no database names. */
bool pm_postgres_sweep(struct pm_postgres *postgres, struct pm_error *error);
bool pm_postgres_add_origin(struct pm_storage *storage, const char *game, const void *origin,
                            size_t size, struct pm_error *error);
bool pm_postgres_read_origins(struct pm_storage *storage, const char *game,
                              pm_storage_visit_origin visit, void *user, struct pm_error *error);
bool pm_postgres_add_coverage(struct pm_storage *storage, const char *game, int64_t time,
                              uint64_t uploads, uint64_t points_covered, uint64_t points,
                              struct pm_error *error);
bool pm_postgres_read_coverage(struct pm_storage *storage, const char *game,
                               pm_storage_visit_coverage visit, void *user, struct pm_error *error);
bool pm_postgres_count_games(struct pm_storage *storage, uint64_t *games, struct pm_error *error);
bool pm_postgres_find_game(struct pm_storage *storage, const char *game, bool *known,
                           uint64_t *uploads, struct pm_error *error);
bool pm_postgres_list_games(struct pm_storage *storage, pm_storage_visit_game visit, void *user,
                            struct pm_error *error);
bool pm_postgres_list_scenes(struct pm_storage *storage, const char *game, uint32_t most,
                             pm_storage_visit_scene visit, void *user, struct pm_error *error);
bool pm_postgres_read_bytes(struct pm_storage *storage, uint64_t *bytes, struct pm_error *error);
