/*
 * Any damage to a file that is imported (`piecemeal db import`). The input is a list of edits to a
 * storage as an aggregator makes it, with every kind of profile, scenes, published databases and
 * samples that wait: bytes of the file written over, the file cut short, and, since a fuzzer does
 * not find its way through SQLite's pages, values of its tables put in the place of others.
 *
 * Whatever it is, an import says what is wrong and leaves nothing behind, or adds what can be read,
 * estimated and curated, and does not add it twice.
 */
#include "aggregator/aggregator.h"
#include "base/file.h"
#include "tests/fuzz/fuzz.h"
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, SHADERS = 4, DAY = 20000 };

/* The edits: a letter and what it takes, numbers in one byte unless told otherwise. */
enum edit {
    EDIT_FILE = 'F',    /* page, offset in 16ths, count, bytes: written over */
    EDIT_CUT = 'C',     /* pages that stay */
    EDIT_BLOB = 'B',    /* row of `statistics`, count, bytes */
    EDIT_SAMPLES = 'S', /* row of `samples`, count, bytes */
    EDIT_NUMBER = 'N',  /* row of `statistics`, column, four bytes */
    EDIT_TEXT = 'T',    /* table and column, count, bytes: of all rows */
    EDIT_KEY = 'K',     /* row of `statistics`, column, count, bytes */
    EDIT_DELETE = 'D',  /* table: all rows go */
};

static const char *const tables[] = {"games",  "origins", "spaces",   "statistics",
                                     "claims", "samples", "originals"};
static const char *const numbers[] = {"kind", "flags", "day"};
static const char *const texts[][2] = {
    {"games", "name"}, {"statistics", "game"}, {"statistics", "scene"}, {"samples", "game"}};
static const char *const blobs[] = {"key", "environment"};

#define SAMPLE                                                                                     \
    "\x2e"                                                                                         \
    "0123456789abcdef01234567"                                                                     \
    "\x00\x01\x00\x08\x00\x00\x00\x00\x00\x04\x01\x01\x02\x00\x2c\x01\x20\x04\x01\x11\x10\x02"
#define STATISTICS "PMst\x01\x01\xff\xff\x3f\x00\x00\xff\xff\x3f"

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT("-"), /* as it is */
    PM_FUZZ_TEXT("F\x00\x00\x10SQLite format 4\0"),
    PM_FUZZ_TEXT("F\x02\x01\x04\x00\x00\xff\xff"),
    PM_FUZZ_TEXT("C\x03"),
    PM_FUZZ_TEXT("B\x00\x0c" STATISTICS),
    PM_FUZZ_TEXT("S\x00\x2f" SAMPLE),
    PM_FUZZ_TEXT("N\x01\x00\x03\x00\x00\x00N\x02\x02\xff\xff\xff\xff"),
    PM_FUZZ_TEXT("T\x00\x03g/xT\x01\x03g/xT\x03\x03g/x"),
    PM_FUZZ_TEXT("T\x02\x02\xff\xfeK\x00\x01\x03"
                 "abc"
                 "K\x01\x00\x18"
                 "0123456789abcdef01234567"),
    PM_FUZZ_TEXT("D\x01"),
    PM_FUZZ_TEXT("D\x02"
                 "D\x04"),
    {NULL, 0},
};

/* ---- the storage that is damaged, and the aggregator that imports ---- */

static char folder[256], source_path[300], target_path[300];
static struct pm_buffer original; /* the undamaged file */
static struct pm_aggregator *target;

static int64_t clock_now(void *user)
{
    (void)user;
    return (int64_t)DAY * 86400;
}

static const struct pm_aggregator_info info = {
    .publish_all = true, .scenes = 2, .clock = clock_now};

static void remove_files(void)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    pm_aggregator_destroy(target);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char path[320];
        snprintf(path, sizeof(path), "%s%s", source_path, ends[i]);
        unlink(path);
        snprintf(path, sizeof(path), "%s%s", target_path, ends[i]);
        unlink(path);
    }
    rmdir(folder);
    pm_buffer_finish(&original);
}

/* Of every kind, in two scenes. */
static void upload(struct pm_aggregator *aggregator, uint8_t number)
{
    static const uint8_t once[] = {1};
    const struct pm_point_counts points[SHADERS][2] = {
        {{0, 1, 64, 8, {64, 32, 8}}, {1, 1, 64, 8, {24, 8, 4}}},
        {{0, 1, 64, 8, {16, 4}}, {1, 1, 64, 8, {8, 8}}},
        {{0, 9, 9, 9, {900, 700}}},
        {{2, 1, 32, 4, {96, 32, 12}}},
    };
    struct pm_shader_profile shaders[SHADERS] = {
        {.kind = PM_KIND_BLOCK, .space = 3, .at_most_once = once, .point_count = 2},
        {.kind = PM_KIND_ZERO,
         .space = 2,
         .candidates = 9,
         .flags = PM_PROFILE_NO_QUADS,
         .point_count = 2},
        {.kind = PM_KIND_TIMING, .space = 1, .environment = {8, 2, 3, 4, 5}, .point_count = 1},
        {.kind = PM_KIND_BLOCK, .space = 3, .point_count = 1},
    };
    struct pm_profile profile = {.game = "g",
                                 .scene = number % 2 ? "cave" : "",
                                 .layer_version = "",
                                 .shaders = shaders,
                                 .shader_count = SHADERS};
    const struct pm_profile *profiles = &profile;
    struct pm_ingest_outcome outcome;
    memset(profile.upload_id, number, sizeof(profile.upload_id));
    for (uint8_t i = 0; i < SHADERS; i++) {
        memset(shaders[i].key.bytes, 'a' + i, sizeof(shaders[i].key.bytes));
        shaders[i].environment.subgroup_size = 8;
        shaders[i].points = points[i];
    }
    PM_FUZZ_CHECK(pm_aggregator_ingest(aggregator, &profiles, 1, &outcome, NULL) &&
                  outcome.result == PM_INGEST_STORED);
}

static void prepare(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/pm-fuzz-import-XXXXXX", base ? base : "/tmp");
    PM_FUZZ_CHECK(mkdtemp(folder));
    snprintf(source_path, sizeof(source_path), "%s/source", folder);
    snprintf(target_path, sizeof(target_path), "%s/target", folder);
    atexit(remove_files);
    struct pm_aggregator *source = pm_aggregator_open(source_path, &info, NULL);
    PM_FUZZ_CHECK(source);
    for (uint8_t i = 0; i < 4; i++)
        upload(source, i);
    PM_FUZZ_CHECK(pm_aggregator_curate(source, "g", NULL));
    upload(source, 4);
    pm_aggregator_destroy(source);
    pm_buffer_init(&original, (size_t)1 << 24);
    PM_FUZZ_CHECK(pm_file_read(source_path, &original, NULL));
    target = pm_aggregator_open(target_path, &info, NULL);
    PM_FUZZ_CHECK(target);
}

/* ---- edits ---- */

struct edits {
    const uint8_t *at, *end;
};

static uint8_t take(struct edits *edits)
{
    return edits->at < edits->end ? *edits->at++ : 0;
}

/* So many bytes, or what is left. */
static const uint8_t *take_bytes(struct edits *edits, size_t *count)
{
    const uint8_t *bytes = edits->at;
    const size_t left = (size_t)(edits->end - edits->at);
    *count = *count < left ? *count : left;
    edits->at += *count;
    return bytes;
}

static void write_source(const void *data, size_t size)
{
    char path[320];
    snprintf(path, sizeof(path), "%s-wal", source_path);
    unlink(path);
    snprintf(path, sizeof(path), "%s-shm", source_path);
    unlink(path);
    PM_FUZZ_CHECK(pm_file_write(source_path, data, size, NULL));
}

/* ?1: the row, counted from the first; ?2: the value. What breaks a constraint does not happen. */
static void run_sql(sqlite3 *db, const char *sql, int row, const void *bytes, size_t size, int type)
{
    sqlite3_stmt *statement = NULL;
    PM_FUZZ_CHECK(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK);
    if (row >= 0)
        sqlite3_bind_int(statement, 1, row);
    if (type == SQLITE_TEXT)
        sqlite3_bind_text(statement, 2, bytes, (int)size, SQLITE_STATIC);
    else if (type == SQLITE_BLOB)
        sqlite3_bind_blob(statement, 2, bytes, (int)size, SQLITE_STATIC);
    else if (type == SQLITE_INTEGER)
        sqlite3_bind_int64(statement, 2, *(const int32_t *)bytes);
    sqlite3_step(statement);
    sqlite3_finalize(statement);
}

/* Edits to values. false: it is one to the file. */
static bool edit_tables(sqlite3 *db, char what, struct edits *edits)
{
    char sql[256];
    size_t count;
    const uint8_t *bytes;
    int32_t number;
    if (what != EDIT_BLOB && what != EDIT_SAMPLES && what != EDIT_NUMBER && what != EDIT_TEXT &&
        what != EDIT_KEY && what != EDIT_DELETE)
        return false;
    const uint8_t first = take(edits);
    const uint8_t second = what == EDIT_NUMBER || what == EDIT_KEY ? take(edits) : 0;
    if (what == EDIT_DELETE) {
        snprintf(sql, sizeof(sql), "DELETE FROM %s",
                 tables[first % (sizeof(tables) / sizeof(tables[0]))]);
        run_sql(db, sql, -1, NULL, 0, SQLITE_NULL);
        return true;
    }
    count = what == EDIT_NUMBER ? sizeof(number) : take(edits);
    bytes = take_bytes(edits, &count);
    if (what == EDIT_TEXT) {
        const char *const *text = texts[first % (sizeof(texts) / sizeof(texts[0]))];
        snprintf(sql, sizeof(sql), "UPDATE %s SET %s = ?2", text[0], text[1]);
        run_sql(db, sql, -1, bytes, count, SQLITE_TEXT);
        return true;
    }
    const char *column = what == EDIT_NUMBER
                             ? numbers[second % (sizeof(numbers) / sizeof(numbers[0]))]
                         : what == EDIT_KEY ? blobs[second % (sizeof(blobs) / sizeof(blobs[0]))]
                                            : "d";
    const char *table = what == EDIT_SAMPLES ? "samples" : "statistics";
    snprintf(sql, sizeof(sql),
             "UPDATE %s SET %s = ?2 WHERE rowid = "
             "(SELECT rowid FROM %s ORDER BY rowid LIMIT 1 OFFSET ?1)",
             table, column, table);
    number = 0;
    if (what == EDIT_NUMBER)
        memcpy(&number, bytes, count);
    run_sql(db, sql, first, what == EDIT_NUMBER ? (const void *)&number : bytes, count,
            what == EDIT_NUMBER ? SQLITE_INTEGER : SQLITE_BLOB);
    return true;
}

static void edit_file(struct pm_buffer *file, char what, struct edits *edits)
{
    const size_t page = take(edits);
    if (what == EDIT_CUT) {
        file->size = page * PAGE < file->size ? page * PAGE : file->size;
        return;
    }
    const size_t offset = page * PAGE + (size_t)take(edits) * 16;
    size_t count = take(edits);
    const uint8_t *bytes = take_bytes(edits, &count);
    if (offset < file->size)
        memcpy((uint8_t *)file->data + offset, bytes,
               count < file->size - offset ? count : file->size - offset);
}

/* First the values, then the file that holds them. */
static void damage(const uint8_t *data, size_t size)
{
    sqlite3 *db = NULL;
    struct pm_buffer file;
    write_source(original.data, original.size);
    PM_FUZZ_CHECK(sqlite3_open_v2(source_path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    PM_FUZZ_CHECK(sqlite3_exec(db, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; BEGIN",
                               NULL, NULL, NULL) == SQLITE_OK);
    for (struct edits edits = {data, data + size}; edits.at < edits.end;)
        edit_tables(db, (char)take(&edits), &edits);
    PM_FUZZ_CHECK(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    pm_buffer_init(&file, (size_t)1 << 24);
    PM_FUZZ_CHECK(pm_file_read(source_path, &file, NULL));
    for (struct edits edits = {data, data + size}; edits.at < edits.end;) {
        const char what = (char)take(&edits);
        if (what == EDIT_FILE || what == EDIT_CUT)
            edit_file(&file, what, &edits);
    }
    write_source(file.data, file.size);
    pm_buffer_finish(&file);
}

/* ---- what must hold ---- */

static bool is_known(void)
{
    struct pm_storage *storage = pm_aggregator_storage(target);
    uint64_t uploads;
    bool known;
    PM_FUZZ_CHECK(storage->operations->find_game(storage, "g", &known, &uploads, NULL));
    return known;
}

static void check_imported(struct pm_aggregator *source)
{
    struct pm_arena *arena = pm_arena_create((size_t)256 << 20);
    struct pm_database database;
    struct pm_imported imported;
    struct pm_error error = {0};
    uint64_t dropped;
    PM_FUZZ_CHECK(is_known());
    PM_FUZZ_CHECK(!pm_aggregator_import(target, source, "g", &imported, &error));
    PM_FUZZ_CHECK(error.code == PM_ERROR_STATE);
    PM_FUZZ_CHECK(arena && pm_aggregator_estimates(target, "g", NULL, arena, &database, &error));
    for (size_t i = 0; i < database.shader_count; i++)
        for (uint32_t j = 0; j < database.shaders[i].space; j++)
            PM_FUZZ_CHECK(isfinite(database.shaders[i].points[j].measures[0].mean));
    PM_FUZZ_CHECK(pm_aggregator_curate(target, "g", &error));
    PM_FUZZ_CHECK(pm_aggregator_drop(target, "g", NULL, &dropped, &error));
    pm_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_imported imported;
    struct pm_error error = {0};
    if (!target)
        prepare();
    damage(data, size);
    struct pm_aggregator *source = pm_aggregator_open(source_path, &info, &error);
    if (!source) {
        PM_FUZZ_CHECK(error.message[0] != '\0');
        return 0;
    }
    if (pm_aggregator_import(target, source, "g", &imported, &error)) {
        check_imported(source);
    } else {
        PM_FUZZ_CHECK(error.message[0] != '\0');
    }
    PM_FUZZ_CHECK(!is_known());
    pm_aggregator_destroy(source);
    return 0;
}
