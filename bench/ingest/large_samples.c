/*
 * At what size rows of samples are written faster as arrays, of which the engine makes rows, than
 * as values, each with parameters of its own (postgres_samples.c: LARGE_BYTES).
 *
 *   large_samples URL [ROUNDS]
 *
 * Writes ROWS rows of a game in a transaction, both ways in turn, after a small one that goes as
 * values, as a batch of uploads has them: on Citus the arrays then make it a commit in two phases.
 * The table is the program's own, distributed where the engine is Citus, and dropped. Prints, for
 * each size, milliseconds a transaction of both (medians) and their ratio.
 *
 *   tests/aggregator/with_postgres.sh [--citus] 'build/release/bench/large_samples
 * "$PM_TEST_STORAGE"'
 */
#include "base/buffer.h"
#include "base/clock.h"
#include <endian.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE "piecemeal_large_samples"
enum { ROWS = 8, FIELDS = 3, TEXT = 25, BYTEA = 17, BIGINT = 20, BYTEAS = 1001, BIGINTS = 1016 };

struct statement {
    struct pm_buffer sql;
    Oid types[1 + ROWS * FIELDS];
    const char *values[1 + ROWS * FIELDS];
    int lengths[1 + ROWS * FIELDS], formats[1 + ROWS * FIELDS], count;
};

static void run(PGconn *connection, const char *sql)
{
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fprintf(stderr, "%s: %s", sql, PQerrorMessage(connection));
        exit(1);
    }
    PQclear(result);
}

static void add(struct statement *statement, Oid type, const void *value, size_t size)
{
    statement->types[statement->count] = type;
    statement->values[statement->count] = value;
    statement->lengths[statement->count] = (int)size;
    statement->formats[statement->count++] = 1;
}

static void execute(PGconn *connection, struct statement *statement)
{
    pm_buffer_append(&statement->sql, "", 1);
    run(connection, "BEGIN");
    run(connection, "INSERT INTO " TABLE " VALUES ('game', -1, '') ON CONFLICT (game, row)"
                    " DO UPDATE SET d = EXCLUDED.d");
    PGresult *result = PQexecParams(connection, (const char *)statement->sql.data, statement->count,
                                    statement->types, statement->values, statement->lengths,
                                    statement->formats, 1);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        fprintf(stderr, "large_samples: %s", PQerrorMessage(connection));
        exit(1);
    }
    PQclear(result);
    run(connection, "COMMIT");
    pm_buffer_finish(&statement->sql);
}

static void write_values(PGconn *connection, const uint8_t *data, size_t size, uint64_t first)
{
    struct statement statement = {0};
    uint64_t rows[ROWS];
    pm_buffer_init(&statement.sql, 1 << 16);
    pm_buffer_printf(&statement.sql, "INSERT INTO " TABLE " (game, row, d) VALUES ");
    for (int i = 0; i < ROWS; i++) {
        rows[i] = htobe64(first + (uint64_t)i);
        pm_buffer_printf(&statement.sql, "%s($%d, $%d, $%d)", i > 0 ? ", " : "", i * 3 + 1,
                         i * 3 + 2, i * 3 + 3);
        add(&statement, TEXT, "game", 4);
        add(&statement, BIGINT, &rows[i], sizeof(rows[i]));
        add(&statement, BYTEA, data, size);
    }
    execute(connection, &statement);
}

static void begin_array(struct pm_buffer *array, uint32_t type)
{
    const uint32_t header[] = {htobe32(1), 0, htobe32(type), htobe32(ROWS), htobe32(1)};
    pm_buffer_init(array, (size_t)1 << 30);
    pm_buffer_append(array, header, sizeof(header));
}

static void put(struct pm_buffer *array, const void *data, size_t size)
{
    const uint32_t length = htobe32((uint32_t)size);
    pm_buffer_append(array, &length, sizeof(length));
    pm_buffer_append(array, data, size);
}

static void write_arrays(PGconn *connection, const uint8_t *data, size_t size, uint64_t first)
{
    struct statement statement = {0};
    struct pm_buffer rows, blobs;
    pm_buffer_init(&statement.sql, 1 << 16);
    pm_buffer_printf(&statement.sql, "INSERT INTO " TABLE " (game, row, d) SELECT $1, row, d"
                                     " FROM unnest($2, $3) AS large (row, d)");
    begin_array(&rows, BIGINT);
    begin_array(&blobs, BYTEA);
    for (int i = 0; i < ROWS; i++) {
        const uint64_t row = htobe64(first + (uint64_t)i);
        put(&rows, &row, sizeof(row));
        put(&blobs, data, size);
    }
    add(&statement, TEXT, "game", 4);
    add(&statement, BIGINTS, rows.data, rows.size);
    add(&statement, BYTEAS, blobs.data, blobs.size);
    execute(connection, &statement);
    pm_buffer_finish(&rows);
    pm_buffer_finish(&blobs);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(PGconn *connection, size_t size, size_t rounds, uint64_t *first)
{
    uint8_t *data = malloc(size);
    double *times[2] = {calloc(rounds, sizeof(double)), calloc(rounds, sizeof(double))};
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)rand();
    for (size_t i = 0; i < rounds; i++) {
        for (int way = 0; way < 2; way++, *first += ROWS) {
            const int64_t start = pm_now();
            (way ? write_arrays : write_values)(connection, data, size, *first);
            times[way][i] = (double)(pm_now() - start) / PM_MILLISECOND;
        }
    }
    for (int way = 0; way < 2; way++)
        qsort(times[way], rounds, sizeof(double), compare);
    const double values = times[0][rounds / 2], arrays = times[1][rounds / 2];
    printf("| %zu | %.2f | %.2f | %.2f |\n", size, values, arrays, arrays / values);
    free(times[0]);
    free(times[1]);
    free(data);
}

int main(int argc, char **argv)
{
    const size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 200;
    uint64_t first = 0;
    if (argc < 2 || rounds == 0) {
        fprintf(stderr, "usage: large_samples URL [ROUNDS]\n");
        return 2;
    }
    PGconn *connection = PQconnectdb(argv[1]);
    run(connection, "DROP TABLE IF EXISTS " TABLE);
    run(connection, "CREATE TABLE " TABLE
                    " (game text, row bigint, d bytea NOT NULL, PRIMARY KEY (game, row))");
    run(connection, "ALTER TABLE " TABLE " ALTER COLUMN d SET STORAGE EXTERNAL");
    run(connection,
        "DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'citus') THEN"
        " PERFORM create_distributed_table('" TABLE "', 'game'); END IF; END $$");
    printf(
        "| bytes a row | ms, values | ms, arrays | arrays / values |\n| --- | --- | --- | --- |\n");
    for (size_t size = 256; size <= 1 << 20; size *= 4)
        measure(connection, size, rounds, &first);
    run(connection, "DROP TABLE " TABLE);
    PQfinish(connection);
    return 0;
}
