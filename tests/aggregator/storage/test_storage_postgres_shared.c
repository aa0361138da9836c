/* Several processes on one PostgreSQL (with_postgres.sh): pieces that are held, keys of days, locks
 * that are waited for, publishing at once. */
#include "tests/aggregator/storage/postgres.h"
#include "tests/aggregator/storage/storage_place.h"
#include "tests/patience.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static bool gets(struct pm_storage *storage, int piece)
{
    struct pm_error error;
    bool taken;
    if (!storage->operations->take_lease(storage, "game", piece, &taken, &error))
        fail_msg("%s", error.message);
    return taken;
}

/* A piece is one process's, until that drops it or ends. */
static void test_leases(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *one = place->storage, *other = storage_place_open(place->path);
    assert_true(gets(one, 3));
    assert_false(gets(other, 3));
    assert_false(gets(one, 3));
    assert_true(gets(other, 4));
    assert_true(gets(other, PM_PIECE_CURATION));
    assert_false(gets(one, PM_PIECE_CURATION));
    one->operations->drop_lease(one, "game", 3);
    assert_true(gets(other, 3));
    /* Whose connections end has none. */
    free(postgres_ask(
        place, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name"
               " = 'piecemeal' AND state = 'idle in transaction'"));
    static const int dropped[] = {3, PM_PIECE_CURATION};
    for (size_t i = 0; i < 2; i++) {
        while (!gets(one, dropped[i])) {
        }
    }
    other->operations->drop_lease(other, "game", 3);
    assert_false(gets(other, 3));
    other->operations->destroy(other);
    assert_true(gets(one, 4));
}

#define TRANSACTIONS                                                                               \
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'piecemeal' AND state = 'idle" \
    " in transaction'"

static void begin_piece(struct pm_storage *storage, int piece)
{
    struct pm_error error;
    if (!storage->operations->begin_piece(storage, "game", piece, &error))
        fail_msg("%s", error.message);
}

/* The work on a piece is done in the transaction that holds it, and the piece is free with its end.
 */
static void test_a_piece_is_held_by_its_work(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *one = place->storage, *other = storage_place_open(place->path);
    struct pm_error error;
    add_blob(one, blob_key(1, 20000, ""), "1"); /* makes the day */
    assert_true(gets(one, 3));
    begin_piece(one, 3);
    add_blob(one, blob_key(1, 20000, ""), "1");
    assert_false(gets(other, 3));
    postgres_assert_answer(place, TRANSACTIONS, "1");
    assert_true(one->operations->commit(one, &error));
    postgres_assert_answer(place, TRANSACTIONS, "0");
    assert_blobs(other, "game", "b3/20000//0=2 ");
    assert_true(gets(other, 3));

    /* Who has none works all the same. */
    begin_piece(one, 3);
    add_blob(one, blob_key(1, 20000, ""), "1");
    assert_true(one->operations->commit(one, &error));
    assert_false(gets(one, 3));
    other->operations->drop_lease(other, "game", 3);

    assert_true(gets(one, 3));
    begin_piece(one, 3);
    add_blob(one, blob_key(1, 20000, ""), "1");
    one->operations->rollback(one);
    assert_true(gets(other, 3));
    one->operations->drop_lease(one, "game", 3);
    assert_false(gets(one, 3));
    other->operations->drop_lease(other, "game", 3);

    /* Who lost the connection has no lease any more; one that is lost later undoes the work. */
    assert_true(gets(one, 4));
    free(postgres_ask(place, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE"
                             " application_name = 'piecemeal' AND state = 'idle in transaction'"));
    begin_piece(one, 4);
    add_blob(one, blob_key(1, 20000, ""), "1");
    assert_true(one->operations->commit(one, &error));
    assert_true(gets(one, 4));
    begin_piece(one, 4);
    add_blob(one, blob_key(1, 20000, ""), "1");
    free(postgres_ask(place, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE"
                             " application_name = 'piecemeal' AND state = 'idle in transaction'"));
    assert_false(one->operations->commit(one, &error));
    assert_int_equal(error.code, PM_ERROR_NETWORK);
    add_blob(one, blob_key(1, 20000, ""), "1");
    assert_blobs(other, "game", "b3/20000//0=5 ");
    other->operations->destroy(other);
}

/* The first byte of the key that a process has, which would begin the day's epoch with its own. */
static uint8_t begins(struct pm_storage *storage, uint32_t day, uint8_t own)
{
    struct pm_error error;
    uint8_t key[PM_EPOCH_BYTES] = {own};
    if (!storage->operations->take_epoch(storage, day, key, &error))
        fail_msg("%s", error.message);
    return key[0];
}

/* All processes have one key, whoever comes first, and none that is behind brings an earlier one
 * back. */
static void test_epochs_go_forward(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *one = place->storage, *other = storage_place_open(place->path);
    assert_int_equal(begins(one, 5, 1), 1);
    assert_int_equal(begins(other, 5, 2), 1);
    assert_int_equal(begins(other, 4, 3), 1);
    assert_int_equal(begins(other, 6, 4), 4);
    assert_int_equal(begins(one, 5, 5), 4);
    assert_int_equal(begins(one, 6, 6), 4);
    char *kept = postgres_ask(place, "SELECT count(*) || ' of day ' || min(day) FROM epochs");
    assert_string_equal(kept, "1 of day 6");
    free(kept);
    other->operations->destroy(other);
}

/* Ends what waits for a lock, once something does, as its time would. */
static void *cancel_who_waits(void *user)
{
    bool done = false;
    for (uint64_t until = 0; !done && patience(&until);) {
        char *answer =
            postgres_ask(user, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE"
                               " application_name = 'piecemeal' AND wait_event_type = 'Lock'");
        done = strcmp(answer, "t") == 0;
        free(answer);
    }
    return NULL;
}

/* A statement of an upload that takes too long is to come again, also on a connection that was
 * made for it since the one before was lost. */
static void test_a_statement_that_takes_too_long(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_storage_upload upload = postgres_upload_of(2, 20000);
    struct pm_error error;
    pthread_t thread;
    if (getenv("PM_TEST_CITUS"))
        return; /* the wait is on another machine */
    assert_true(postgres_take(storage, postgres_upload_of(1, 20000)));
    free(postgres_ask(place, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                             " WHERE application_name = 'piecemeal'"));
    PGconn *other = PQconnectdb(place->path);
    PQclear(PQexec(other, "BEGIN; INSERT INTO upload_ids (game, day, id, taken) VALUES ('game',"
                          " 20000, '\\x02000000000000000000000000000000', 20000)"));
    assert_int_equal(PQtransactionStatus(other), PQTRANS_INTRANS);
    assert_int_equal(pthread_create(&thread, NULL, cancel_who_waits, place), 0);
    assert_false(storage->operations->begin_uploads(storage, &upload, 1, &error));
    pthread_join(thread, NULL);
    assert_int_equal(error.code, PM_ERROR_TIMEOUT);
    assert_non_null(strstr(error.message, "took longer than 10 s"));
    PQfinish(other);
    assert_true(postgres_take(storage, upload));
}

struct publishing {
    struct pm_storage *storage;
    atomic_bool done;
};

static void *publish_cave(void *user)
{
    struct publishing *publishing = user;
    put_database(publishing->storage, "cave", "other", "def", 3);
    atomic_store(&publishing->done, true);
    return NULL;
}

/* What one publishes is not dropped by another that does not see yet that it is named. */
static void test_two_publish_at_once(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *one = place->storage;
    struct publishing other = {.storage = storage_place_open(place->path)};
    struct pm_buffer body;
    struct pm_error error;
    char etag[PM_ETAG_TEXT];
    pthread_t thread;
    bool waits = false;
    assert_true(pm_storage_add_game(one, "game", 1, &error));
    assert_true(one->operations->put_part(one, "one", 0, "abc", 3, &error));
    assert_true(one->operations->begin(one, &error));
    assert_true(one->operations->put_database(one, "game", "", "one", 3, &error));
    assert_int_equal(pthread_create(&thread, NULL, publish_cave, &other), 0);
    for (uint64_t until = 0; !waits && !atomic_load(&other.done) && patience(&until);) {
        char *answer =
            postgres_ask(place, "SELECT true FROM pg_stat_activity WHERE application_name ="
                                " 'piecemeal' AND wait_event_type = 'Lock'");
        waits = strcmp(answer, "t") == 0;
        free(answer);
    }
    assert_true(one->operations->commit(one, &error));
    pthread_join(thread, NULL);
    static const char *const scenes[] = {"", "cave"}, *const bodies[] = {"abc", "def"};
    for (unsigned i = 0; i < 2; i++) {
        pm_buffer_init(&body, 100);
        if (!one->operations->get_database(one, "game", scenes[i], false, etag, &body, &error))
            fail_msg("%s", error.message);
        assert_memory_equal(body.data, bodies[i], 3);
        pm_buffer_finish(&body);
    }
    other.storage->operations->destroy(other.storage);
}

/* Whoever publishes has the schema, for as long as it takes; days that are there are not waited for
 * after a transaction that was undone. */
static void test_days_while_another_publishes(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    assert_true(postgres_take(storage, postgres_upload_of(1, 20000)));
    assert_true(storage->operations->begin(storage, &error));
    storage->operations->rollback(storage);
    PGconn *other = PQconnectdb(place->path);
    PQclear(PQexec(other, "BEGIN; SELECT version FROM piecemeal_schema WHERE one = 1 FOR UPDATE"));
    assert_int_equal(PQtransactionStatus(other), PQTRANS_INTRANS);
    assert_true(postgres_take(storage, postgres_upload_of(2, 20000)));
    PQfinish(other);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, storage_place_create, storage_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_leases),
        TEST(test_a_piece_is_held_by_its_work),
        TEST(test_epochs_go_forward),
        TEST(test_a_statement_that_takes_too_long),
        TEST(test_two_publish_at_once),
        TEST(test_days_while_another_publishes),
    };
    if (!on_postgres()) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
