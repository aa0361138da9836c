#include "tests/aggregator/storage/postgres.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

char *postgres_ask(const struct storage_place *place, const char *sql)
{
    PGconn *connection = PQconnectdb(place->path);
    PGresult *result = PQexec(connection, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(connection));
    char *answer = strdup(PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(connection);
    return answer;
}

void postgres_assert_answer(const struct storage_place *place, const char *sql, const char *wanted)
{
    char *answer = postgres_ask(place, sql);
    assert_string_equal(answer, wanted);
    free(answer);
}

struct pm_storage_upload postgres_upload_of(uint8_t number, uint32_t day)
{
    static uint8_t ids[256][PM_UPLOAD_ID_BYTES];
    ids[number][0] = number;
    return (struct pm_storage_upload){
        .game = "game", .id = ids[number], .day = day, .taken = 20000};
}

bool postgres_take(struct pm_storage *storage, struct pm_storage_upload upload)
{
    struct pm_error error;
    if (!storage->operations->begin_uploads(storage, &upload, 1, &error) ||
        !storage->operations->commit(storage, &error))
        fail_msg("%s", error.message);
    return upload.fresh;
}
