/* Copies of a storage that is being written to. */
#include "aggregator/aggregator.h"
#include "aggregator/check.h"
#include "aggregator/storage/sqlite/storage_sqlite.h"
#include "tests/aggregator/service/server.h"
#include <curl/curl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

struct place {
    char *folder, *path, *copy;
};

static struct place make_place(void)
{
    struct place place = {.folder = make_folder()};
    place.path = join(place.folder, "test.db");
    place.copy = join(place.folder, "copy.db");
    return place;
}

static void remove_place(struct place *place)
{
    free(place->path);
    free(place->copy);
    remove_folder(place->folder);
}

static void count_errors(void *user, enum pm_finding finding, const char *sentence)
{
    if (finding == PM_FINDING_OK)
        return;
    printf("%s\n", sentence);
    ++*(unsigned *)user;
}

static unsigned findings(const char *path)
{
    unsigned count = 0;
    pm_aggregator_check(path, count_errors, &count);
    return count;
}

/* It is what was committed at some moment between the beginning and the end of the copying: the
 * upload ids and the sums of the same uploads. */
static void test_under_load(void **state)
{
    (void)state;
    struct place place = make_place();
    struct pm_error error = {0};
    struct load_sum sum = {0};
    struct server server = server_start(place.path);
    struct load *load = load_start(&server, (uint64_t)time(NULL));
    load_wait(load, 204, 50);
    const unsigned before = load_answers(load, 204);
    for (unsigned i = 0; i < 3; i++) /* the later ones replace the first */
        assert_true(pm_storage_sqlite_backup(place.path, place.copy, &error));
    const unsigned after = load_begun(load);
    load_wait(load, 204, 50);
    load_stop(load, false);
    server_end(&server, SIGTERM);
    assert_int_equal(findings(place.copy), 0);
    assert_int_equal(findings(place.path), 0);

    server = server_start(place.copy);
    load_check_copy(load, &server, &sum);
    server_end(&server, SIGTERM);
    printf("%u acknowledged before, %u begun after; %u in the copy, %u not\n", before, after,
           sum.confirmed, sum.missing);
    assert_in_range(sum.confirmed + sum.kept, before, after);
    assert_true(sum.missing > 0);
    load_check_stored(place.copy, &sum);
    remove_place(&place);
}

static void test_refuses(void **state)
{
    (void)state;
    struct place place = make_place();
    struct pm_error error = {0};
    assert_false(pm_storage_sqlite_backup(place.path, place.copy, &error));
    assert_non_null(strstr(error.message, "test.db"));
    struct server server = server_start(place.path);
    assert_false(pm_storage_sqlite_backup(place.path, place.path, &error));
    assert_non_null(strstr(error.message, "itself"));
    /* Another server's file, which has a log beside it. */
    struct load_sum sum = {0};
    struct server other = server_start(place.copy);
    struct load *load = load_start(&other, 1);
    load_wait(load, 204, 1);
    load_stop(load, false);
    load_check(load, &other, &sum);
    assert_false(pm_storage_sqlite_backup(place.path, place.copy, &error));
    assert_non_null(strstr(error.message, "copy.db-wal is there"));
    server_end(&other, SIGTERM);
    char *nowhere = join(place.folder, "nowhere/copy.db");
    assert_false(pm_storage_sqlite_backup(place.path, nowhere, &error));
    assert_non_null(strstr(error.message, "nowhere"));
    free(nowhere);
    server_end(&server, SIGTERM);

    FILE *file = fopen(place.path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 68, SEEK_SET), 0); /* the application's id */
    assert_true(fwrite("else", 1, 4, file) == 4 && fclose(file) == 0);
    assert_false(pm_storage_sqlite_backup(place.path, place.copy, &error));
    assert_non_null(strstr(error.message, "another program"));
    assert_int_equal(findings(place.path), 1);
    remove_place(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_under_load),
                                       cmocka_unit_test(test_refuses)};
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
