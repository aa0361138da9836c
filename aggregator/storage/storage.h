/*
 * Where the aggregator keeps its statistics: an interface (DESIGN, Storage). Each folder beside
 * this file implements it (sqlite/storage_sqlite.h); nothing here knows which.
 *
 * A blob is one shader's counters (statistics.h encodes them); the storage merges blobs by the
 * function it is given and never looks inside. What uploads say is put down in rows of samples
 * (samples.h) first, which costs little however many shaders they speak of, and later folded into
 * the blobs, many uploads at a time. Each of both is one transaction, so every sample is in a row
 * or in a blob, and in one of them only.
 *
 * What is written comes in sets: one call takes many of a kind, so that an engine on another
 * machine is asked seldom. Several processes may write to one storage, on several machines. What
 * one of them looked at may be another's by the time it writes: nothing here relies on rows that
 * were not read.
 *
 * Every failure names the storage (the file). PM_ERROR_LIMIT: it is full, nothing of the
 * transaction was kept, and a later one may succeed. PM_ERROR_CONFLICT, of any writer function:
 * another writer came between, nothing of the transaction is kept, and whoever began it does it all
 * again (pm_world_transact).
 *
 * Thread safety: writer functions by one thread at a time (the aggregator serializes them); read
 * functions from any thread, at any time; they see what was committed.
 */
#pragma once

#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"

#define PM_SCOPE_BYTES 16
#define PM_MARK_BYTES 8
#define PM_CAP_BYTES 16
#define PM_EPOCH_BYTES 32
#define PM_ETAG_TEXT 65 /* 64 hexadecimal digits and a terminator */

struct pm_storage;

#define PM_PIECE_CURATION (-1)

/* What a blob belongs to. */
struct pm_storage_key {
    const char *game;
    const char *scene;
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_kind kind;
    uint32_t flags;
    uint32_t day; /* days since the epoch, UTC */
};

/* What is added to one blob. */
struct pm_storage_blob {
    struct pm_storage_key key;
    const void *data;
    size_t size; /* bytes */
};

/* What a token may send in the epoch `day`, by its marks (sources.h): an upload counts where there
 * are fewer than `most_of_game` of the first and `most` of the second before it. */
struct pm_storage_cap {
    uint8_t of_game[PM_CAP_BYTES], of_all[PM_CAP_BYTES];
    /* The upload's marks beside these: a retry has the same, and counts no more. */
    uint8_t id_of_game[PM_CAP_BYTES], id_of_all[PM_CAP_BYTES];
    uint32_t day, most_of_game, most;
};

/* An upload's id, which is of a game and of a day: its own, so that a retry has the same. */
struct pm_storage_upload {
    const char *game;
    const uint8_t *id; /* PM_UPLOAD_ID_BYTES */
    uint32_t day;      /* of the upload; 0: it says none */
    uint32_t taken;    /* today; what says no day of its own is kept as long as that of this one */
    const struct pm_storage_cap *caps; /* what it counts against; NULL: nothing */
    bool fresh;                        /* answered: it was not there before, and is now */
    bool over; /* answered, of a fresh one: it is beyond its caps, and counts against none */
};

/* How many points a shader has. */
struct pm_storage_space {
    const char *game;
    struct pm_shader_key key;
    enum pm_kind kind;
    uint32_t space; /* 0: it is not known */
};

/* Uploads that a game gets. */
struct pm_storage_game {
    const char *name;
    uint64_t uploads;
};

/* Uploads, of `day` at the latest, that named a scene. One that is not known becomes so where its
 * game then knows `most` at the most. */
struct pm_storage_scene {
    const char *game, *name;
    uint64_t uploads;
    uint32_t day, most;
    bool known; /* answered: whether it is */
};

/* The game's shader `original` is what the timed one of `key` was specialized from; day: the last
 * on which enough said so. */
struct pm_storage_original {
    const char *game;
    struct pm_shader_key key, original;
    uint32_t day;
};

/* Appends merge(old, added) to *out. Must be commutative and associative. */
typedef bool (*pm_storage_merge)(const void *old, size_t old_size, const void *added,
                                 size_t added_size, struct pm_buffer *out, struct pm_error *error);

/* One row of samples that wait to be folded into blobs (samples.h). */
struct pm_storage_samples {
    const char *game;
    unsigned part;
    uint64_t row; /* names it within its game; not in order of arrival */
    uint32_t day; /* as in struct pm_storage_key */
    const void *data;
    size_t size;  /* bytes */
    bool damaged; /* read: they are not what was written; not read by add_samples */
};

/* Visitors return false to stop, with *error filled; what they get lives until they return. A blob
 * that is NULL is not what was written (seal.h). */
typedef bool (*pm_storage_visit_blob)(void *user, const struct pm_storage_key *key,
                                      const void *blob, size_t size, struct pm_error *error);
typedef bool (*pm_storage_visit_game)(void *user, const char *game, uint64_t uploads,
                                      struct pm_error *error);
/* uploads: that named it; day: of the last of them. */
typedef bool (*pm_storage_visit_scene)(void *user, const char *scene, uint64_t uploads,
                                       uint32_t day, struct pm_error *error);
typedef bool (*pm_storage_visit_origin)(void *user, const void *origin, size_t size,
                                        struct pm_error *error);

/* What uploads said of a (shader, kind) in a scope (claims.h): how many points it has, with the
 * facts of them where the scope is all zeros, and of whom that is known, as one of two: how many
 * distinct tokens said so in the epoch `day`, or the mark of one that did (sources.h). Marks are a
 * set: one more of them is one more token. */
struct pm_storage_claim {
    const char *game;
    struct pm_shader_key key;
    enum pm_kind kind;
    uint8_t scope[PM_SCOPE_BYTES];
    uint32_t space;
    uint32_t facts; /* PM_STORAGE_FACTS at most (facts.h); 0: none are known */
    uint32_t day;
    uint32_t tokens;     /* not read of a mark */
    const uint8_t *mark; /* PM_MARK_BYTES; NULL: it is a count */
};
#define PM_STORAGE_FACTS INT32_MAX
/* Both as one number, as they are stored. */
static inline uint64_t pm_storage_claim_number(const struct pm_storage_claim *claim)
{
    return (uint64_t)claim->facts << 32 | claim->space;
}
typedef bool (*pm_storage_visit_claim)(void *user, const struct pm_storage_claim *claim,
                                       struct pm_error *error);

/* name: UTF-8, what people call the shader. */
typedef bool (*pm_storage_visit_name)(void *user, const struct pm_shader_key *key, const char *name,
                                      struct pm_error *error);

/* original: of the game's shader that the timed one of `key` was specialized from; day: the last on
 * which enough said so. Both keys are NULL: the row is not what was written. */
typedef bool (*pm_storage_visit_original)(void *user, const struct pm_shader_key *key,
                                          const struct pm_shader_key *original, uint32_t day,
                                          struct pm_error *error);

/* An upload that cannot be. Nothing in it is about who sent it. */
struct pm_quarantined {
    int64_t time;       /* seconds since the epoch, to the hour */
    const char *game;   /* "" when it could not be read */
    const char *reason; /* names the shader, point and field */
    const void *body;   /* the upload without its id, zstd-compressed; NULL: it is not kept */
    size_t body_size;   /* bytes */
};
typedef bool (*pm_visit_quarantined)(void *user, const struct pm_quarantined *entry,
                                     struct pm_error *error);

typedef bool (*pm_storage_visit_samples)(void *user, const struct pm_storage_samples *row,
                                         struct pm_error *error);
/* Rows and bytes that wait in one part of a game. */
typedef bool (*pm_storage_visit_part)(void *user, const char *game, unsigned part, uint64_t rows,
                                      uint64_t bytes, struct pm_error *error);
typedef bool (*pm_storage_visit_coverage)(void *user, int64_t time, uint64_t uploads,
                                          uint64_t points_covered, uint64_t points);

/* What a batch of uploads says, without those that are refused, were there before or do not count.
 */
struct pm_storage_batch {
    const struct pm_storage_game *games;
    size_t game_count;
    struct pm_storage_scene *scenes;
    size_t scene_count;
    const struct pm_storage_space *spaces; /* as for put_spaces */
    size_t space_count;
    const struct pm_storage_claim *marks;
    size_t mark_count;
    const struct pm_storage_original *originals;
    size_t original_count;
    const struct pm_storage_samples *samples;
    size_t sample_count;
};

struct pm_storage_operations {
    void (*destroy)(struct pm_storage *storage);
    /* Whoever has to wait for another process, now or later, waits no longer than until then
     * (pm_now()), and fails with PM_ERROR_STATE as after the ten seconds that are usual; INT64_MAX:
     * as usual again. Any thread. */
    void (*hurry)(struct pm_storage *storage, int64_t until);

    /* Epochs of marks (sources.h) that several processes share: if the running one is of this day
     * or of a later one, key becomes its key; else a new one begins with this key, and the one
     * before is overwritten. NULL: the storage is no place for keys. As a writer function, outside
     * of transactions. */
    bool (*take_epoch)(struct pm_storage *storage, uint32_t day, uint8_t key[static PM_EPOCH_BYTES],
                       struct pm_error *error);

    /* Of a piece of work on a game (a part that is folded, or PM_PIECE_CURATION), by one of several
     * processes: *taken says whether this one has it until drop_lease; else another has. It saves
     * work, and nothing relies on it: whoever ends has none any more. NULL: it is one process's
     * storage. Any thread. */
    bool (*take_lease)(struct pm_storage *storage, const char *game, int piece, bool *taken,
                       struct pm_error *error);
    void (*drop_lease)(struct pm_storage *storage, const char *game, int piece);

    /* ---- writer functions; a change outside of begin and commit is a transaction of its own ----
     */

    bool (*begin)(struct pm_storage *storage, struct pm_error *error);
    /* Begins one that need not be durable when commit returns, but as soon as a later one is; a
     * failure of the machine before that undoes it whole. */
    bool (*begin_lazily)(struct pm_storage *storage, struct pm_error *error);
    /* As begin_lazily; where this process has the lease of the piece, the transaction is the one
     * that holds it, and the lease ends with it. NULL: as take_lease. */
    bool (*begin_piece)(struct pm_storage *storage, const char *game, int piece,
                        struct pm_error *error);
    /* Durable when it returns true; undone when it returns false. */
    bool (*commit)(struct pm_storage *storage, struct pm_error *error);
    void (*rollback)(struct pm_storage *storage);
    /* Begins a durable one with these ids, and answers for each. The same id twice in a set is
     * fresh once. */
    bool (*begin_uploads)(struct pm_storage *storage, struct pm_storage_upload *uploads,
                          size_t count, struct pm_error *error);
    /* Of uploads that are refused after all: they are as if they had never come. */
    bool (*return_uploads)(struct pm_storage *storage, const struct pm_storage_upload *uploads,
                           size_t count, struct pm_error *error);
    /* What became of a batch of uploads, all at once, and commits what begin_uploads began. Answers
     * which scenes are known then. */
    bool (*commit_uploads)(struct pm_storage *storage, struct pm_storage_batch *batch,
                           struct pm_error *error);
    /* Makes games known and adds to their numbers of uploads. */
    bool (*add_games)(struct pm_storage *storage, const struct pm_storage_game *games, size_t count,
                      struct pm_error *error);
    bool (*add_scenes)(struct pm_storage *storage, struct pm_storage_scene *scenes, size_t count,
                       struct pm_error *error);
    /* Answers which are known. These two see this transaction. */
    bool (*find_scenes)(struct pm_storage *storage, struct pm_storage_scene *scenes, size_t count,
                        struct pm_error *error);
    /* Answers how many points each shader has. */
    bool (*find_spaces)(struct pm_storage *storage, struct pm_storage_space *spaces, size_t count,
                        struct pm_error *error);
    /* Of shaders of which it is not known. */
    bool (*put_spaces)(struct pm_storage *storage, const struct pm_storage_space *spaces,
                       size_t count, struct pm_error *error);
    /* Every blob of a (key, kind) is deleted, and its number of points is this from now on: the one
     * known before was a lie. */
    bool (*replace_space)(struct pm_storage *storage, const char *game,
                          const struct pm_shader_key *key, enum pm_kind kind, uint32_t space,
                          struct pm_error *error);
    /* All that is known of these subjects (game, key, kind and scope of each are read), whatever
     * the space: each one's sorted by space, day and mark; sees this transaction. */
    bool (*find_claims)(struct pm_storage *storage, const struct pm_storage_claim *subjects,
                        size_t count, pm_storage_visit_claim visit, void *user,
                        struct pm_error *error);
    /* Marks that are there stay. */
    bool (*add_marks)(struct pm_storage *storage, const struct pm_storage_claim *marks,
                      size_t count, struct pm_error *error);
    /* Counts, each in the place of the one before. */
    bool (*put_claims)(struct pm_storage *storage, const struct pm_storage_claim *claims,
                       size_t count, struct pm_error *error);
    /* Counts and marks of a subject's space. */
    bool (*drop_claim)(struct pm_storage *storage, const struct pm_storage_claim *claim,
                       struct pm_error *error);
    /* What is known already stays until enough have not said so for the retention. */
    bool (*put_originals)(struct pm_storage *storage, const struct pm_storage_original *originals,
                          size_t count, struct pm_error *error);
    /* What people call a shader, in the place of what they called it before. */
    bool (*put_name)(struct pm_storage *storage, const char *game, const struct pm_shader_key *key,
                     const char *name, struct pm_error *error);
    /* Keeps no more than `most` entries and `most_bytes` of bodies: the oldest go. */
    bool (*add_quarantined)(struct pm_storage *storage, const struct pm_quarantined *entry,
                            uint32_t most, uint64_t most_bytes, struct pm_error *error);
    /* Deletes what is of days before `first`: blobs, upload ids, claims that nobody made since,
     * originals, scenes, quarantine, coverage, and then, with all that is known of them, games that
     * have neither blobs nor samples (none where `first` is 0); at most `rows` of them at once, of
     * which a game's last ones count as one, and of a few games where each takes statements of its
     * own. *deleted: how many rows it was. *left: more may be to do; the next call goes on. */
    bool (*prune)(struct pm_storage *storage, uint32_t first, uint32_t rows, uint64_t *deleted,
                  bool *left, struct pm_error *error);
    /* Ends epochs: of at most `rows` claims, marks that are not of this day become counts, which
     * take the place of those before where they are no less or those are of before `first`; caps of
     * other days are deleted. *settled: of how many claims; *left as above. */
    bool (*settle_marks)(struct pm_storage *storage, uint32_t today, uint32_t first, uint32_t rows,
                         uint64_t *settled, bool *left, struct pm_error *error);
    /* Adds rows of samples to their games' parts; what names a row is not read. */
    bool (*add_samples)(struct pm_storage *storage, const struct pm_storage_samples *rows,
                        size_t count, struct pm_error *error);
    /* Deletes exactly these rows of a game's part; *deleted: how many of them were there. */
    bool (*delete_samples)(struct pm_storage *storage, const char *game, unsigned part,
                           const uint64_t *rows, size_t count, uint64_t *deleted,
                           struct pm_error *error);
    /* Merges into the blobs that are there. The same key may be there twice. */
    bool (*add_blobs)(struct pm_storage *storage, const struct pm_storage_blob *blobs, size_t count,
                      struct pm_error *error);
    /* A body is put down in parts, numbered from 0, each a transaction of its own where it is
     * large, so that nobody waits for long, and is there for good once put_database named it. A
     * part that is there already stays as it is: the ETag tells its content. */
    bool (*put_part)(struct pm_storage *storage, const char *etag, uint32_t part, const void *data,
                     size_t size, struct pm_error *error);
    /* The game's current database becomes its previous one, and the body of this ETag, of `size`
     * bytes in all, its current one. scene: "" for that of all scenes. Bodies that no database
     * names are deleted. Nothing happens when the game is not known: it may have been dropped since
     * it was read. PM_ERROR_STATE: not all of the body is there. */
    bool (*put_database)(struct pm_storage *storage, const char *game, const char *scene,
                         const char *etag, size_t size, struct pm_error *error);
    /* Forgets all of a game, or with a key all of one shader of it, but for what was published
     * then; upload ids stay, so that no retry counts again. What is deleted is overwritten in the
     * file, and with the commit the log is emptied, unless somebody reads it for long; what was
     * deleted or moved before may be left in free space. *blobs: how many went. */
    bool (*drop)(struct pm_storage *storage, const char *game, const struct pm_shader_key *key,
                 uint64_t *blobs, struct pm_error *error);
    /* Origins say where a game's sums come from, so that none is added twice: a game gets a random
     * one when it becomes known, and takes on those of what it imports. Known ones are kept. */
    bool (*add_origin)(struct pm_storage *storage, const char *game, const void *origin,
                       size_t size, struct pm_error *error);
    /* One sample of a game's coverage over time (the report's and the dashboard's curve). time:
     * seconds since the epoch. Of samples more than two days older than this one, the first of each
     * hour is kept. Nothing happens when the game is not known, as with put_database. */
    bool (*add_coverage)(struct pm_storage *storage, const char *game, int64_t time,
                         uint64_t uploads, uint64_t points_covered, uint64_t points,
                         struct pm_error *error);

    /* ---- read functions ---- */

    /* Every blob of a game, or of one of its scenes where scene is not NULL, as of one moment,
     * sorted by key, environment, kind, flags, day, scene: all days and scenes of one (key,
     * environment, kind, flags) are adjacent. Nothing for a game that is not known. */
    bool (*read_game)(struct pm_storage *storage, const char *game, const char *scene,
                      pm_storage_visit_blob visit, void *user, struct pm_error *error);
    /* Those of one key, in the same order; costs by how much there is of the key, not of the game.
     */
    bool (*read_shader)(struct pm_storage *storage, const char *game,
                        const struct pm_shader_key *key, pm_storage_visit_blob visit, void *user,
                        struct pm_error *error);
    /* The rows of samples that wait in a game's part, the oldest first, until `bytes` of them were
     * visited (one at least), as of one moment. */
    bool (*read_samples)(struct pm_storage *storage, const char *game, unsigned part, size_t bytes,
                         pm_storage_visit_samples visit, void *user, struct pm_error *error);
    bool (*count_games)(struct pm_storage *storage, uint64_t *games, struct pm_error *error);
    /* *uploads is 0 when it is not known. */
    bool (*find_game)(struct pm_storage *storage, const char *game, bool *known, uint64_t *uploads,
                      struct pm_error *error);
    /* The parts in which something waits; game NULL: of all games. */
    bool (*list_samples)(struct pm_storage *storage, const char *game, pm_storage_visit_part visit,
                         void *user, struct pm_error *error);
    /* Bytes that the storage takes. */
    bool (*read_bytes)(struct pm_storage *storage, uint64_t *bytes, struct pm_error *error);
    /* The scenes that are known of a game, those that most uploads named first, at most so many. */
    bool (*list_scenes)(struct pm_storage *storage, const char *game, uint32_t most,
                        pm_storage_visit_scene visit, void *user, struct pm_error *error);
    bool (*read_origins)(struct pm_storage *storage, const char *game,
                         pm_storage_visit_origin visit, void *user, struct pm_error *error);
    /* Sorted by name. */
    bool (*list_games)(struct pm_storage *storage, pm_storage_visit_game visit, void *user,
                       struct pm_error *error);
    /* PM_ERROR_STATE when there is none, and only then. scene: "" for that of all scenes; previous: the one before
     * the current. Appends to *body; body NULL: only the ETag. */
    bool (*get_database)(struct pm_storage *storage, const char *game, const char *scene,
                         bool previous, char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                         struct pm_error *error);
    /* As counts, marks counted too; sorted by key, kind, scope, space and day. */
    bool (*read_claims)(struct pm_storage *storage, const char *game, pm_storage_visit_claim visit,
                        void *user, struct pm_error *error);
    /* Sorted by key. */
    bool (*read_originals)(struct pm_storage *storage, const char *game,
                           pm_storage_visit_original visit, void *user, struct pm_error *error);
    /* Those that are known, sorted by key. */
    bool (*read_names)(struct pm_storage *storage, const char *game, pm_storage_visit_name visit,
                       void *user, struct pm_error *error);
    /* The newest first; game NULL: of all games. */
    bool (*read_quarantine)(struct pm_storage *storage, const char *game,
                            pm_visit_quarantined visit, void *user, struct pm_error *error);
    /* In order of time. */
    bool (*read_coverage)(struct pm_storage *storage, const char *game,
                          pm_storage_visit_coverage visit, void *user, struct pm_error *error);
};

struct pm_storage {
    const struct pm_storage_operations *operations;
};

/* Ends what begin began: commits when it is done, else undoes it. false: nothing of it was kept. */
bool pm_storage_end(struct pm_storage *storage, bool done, struct pm_error *error);

/* What is known of a game's shaders is another from now on: it takes on a new origin, and what was
 * refused before may be taken. */
bool pm_storage_note_change(struct pm_storage *storage, const char *game, struct pm_error *error);

/* Leases of storages that have some; of the others every one is taken. */
bool pm_storage_take_lease(struct pm_storage *storage, const char *game, int piece, bool *taken,
                           struct pm_error *error);
void pm_storage_drop_lease(struct pm_storage *storage, const char *game, int piece);
bool pm_storage_begin_piece(struct pm_storage *storage, const char *game, int piece,
                            struct pm_error *error);

/* ---- sets of one ---- */

bool pm_storage_find_space(struct pm_storage *storage, const char *game,
                           const struct pm_shader_key *key, enum pm_kind kind, uint32_t *space,
                           struct pm_error *error);
bool pm_storage_put_space(struct pm_storage *storage, const char *game,
                          const struct pm_shader_key *key, enum pm_kind kind, uint32_t space,
                          struct pm_error *error);
bool pm_storage_add_blob(struct pm_storage *storage, const struct pm_storage_key *key,
                         const void *blob, size_t size, struct pm_error *error);
bool pm_storage_add_game(struct pm_storage *storage, const char *game, uint64_t uploads,
                         struct pm_error *error);
bool pm_storage_find_scene(struct pm_storage *storage, const char *game, const char *scene,
                           bool *known, struct pm_error *error);
