/* What the SQLite storage keeps of what is published: databases, their bodies, coverage. */
#include "tests/aggregator/storage/storage_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* What is published of the game's scene, or was before, is this body. */
static void assert_published(struct pm_storage *storage, const char *scene, bool previous,
                             const char *etag, const char *body, size_t size)
{
    char found_etag[PM_ETAG_TEXT];
    struct pm_buffer found;
    struct pm_error error;
    pm_buffer_init(&found, 1000);
    assert_true(storage->operations->get_database(storage, "game", scene, previous, found_etag,
                                                  &found, &error));
    assert_string_equal(found_etag, etag);
    assert_int_equal(found.size, size);
    assert_memory_equal(found.data, body, size);
    pm_buffer_finish(&found);
}

/* Nothing is; the reason says what. */
static void assert_unpublished(struct pm_storage *storage, const char *scene, bool previous,
                               const char *what)
{
    char etag[PM_ETAG_TEXT];
    struct pm_error error;
    assert_false(
        storage->operations->get_database(storage, "game", scene, previous, etag, NULL, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_non_null(strstr(error.message, what));
}

/* A body of which something is missing is never published, and one that nobody names goes. */
static void test_bodies_are_whole(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    assert_true(pm_storage_add_game(storage, "game", 1, &error));
    put_database(storage, "", "one", "abc", 3);
    assert_true(storage->operations->put_part(storage, "two", 0, "de", 2, &error));
    assert_true(storage->operations->put_part(storage, "two", 2, "h", 1, &error));
    assert_false(storage->operations->put_database(storage, "game", "", "two", 5, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_published(storage, "", false, "one", "abc", 3);
    put_database(storage, "cave", "one", "abc", 3);
    assert_false(storage->operations->put_database(storage, "game", "", "two", 3, &error));
    put_database(storage, "", "two", "defgh", 5);
    put_database(storage, "", "three", "i", 1);
    /* "one" is the cave's still. */
    assert_published(storage, "cave", false, "one", "abc", 3);
    assert_published(storage, "", true, "two", "defgh", 5);
    put_database(storage, "", "four", "j", 1);
    assert_false(storage->operations->put_database(storage, "game", "", "two", 5, &error));
}

static bool count_sample(void *user, int64_t time, uint64_t uploads, uint64_t points_covered,
                         uint64_t points)
{
    (void)time, (void)uploads, (void)points_covered, (void)points;
    ++*(uint64_t *)user;
    return true;
}

static void test_databases(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    assert_unpublished(storage, "", false, "game");
    /* Of a game that is not known, as one that was just dropped: nothing. */
    put_database(storage, "", "one", "a", 1);
    uint64_t samples = 0;
    assert_true(storage->operations->add_coverage(storage, "game", 1000, 5, 2, 4, &error));
    assert_true(
        storage->operations->read_coverage(storage, "game", count_sample, &samples, &error));
    assert_int_equal(samples, 0);
    assert_unpublished(storage, "", false, "game");

    assert_true(pm_storage_add_game(storage, "game", 1, &error));
    put_database(storage, "", "one", "abc\0d", 5);
    assert_unpublished(storage, "", true, "game");
    put_database(storage, "", "two", "x\0yz", 4);
    put_database(storage, "cave", "c", "!", 1);
    storage_place_reopen(place);
    storage = place->storage;
    assert_published(storage, "", false, "two", "x\0yz", 4);
    char etag[PM_ETAG_TEXT];
    assert_true(storage->operations->get_database(storage, "game", "", false, etag, NULL, &error));
    assert_string_equal(etag, "two"); /* without its body */
    assert_published(storage, "", true, "one", "abc\0d", 5);
    assert_published(storage, "cave", false, "c", "!", 1);
    assert_unpublished(storage, "cave", true, "cave");
}

static void test_coverage(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_buffer all;
    struct pm_error error;
    assert_true(pm_storage_add_game(storage, "game", 1, &error));
    assert_true(pm_storage_add_game(storage, "other", 1, &error));
    assert_true(storage->operations->add_coverage(storage, "game", 20, 3, 7, 9, &error));
    assert_true(storage->operations->add_coverage(storage, "game", 10, 1, 2, 9, &error));
    assert_true(storage->operations->add_coverage(storage, "other", 15, 1, 1, 1, &error));
    pm_buffer_init(&all, 1000);
    assert_true(storage->operations->read_coverage(storage, "game", append_coverage, &all, &error));
    assert_string_equal(all.data, "10:1:2/9 20:3:7/9 ");
    pm_buffer_finish(&all);
}

static bool count_coverage(void *user, int64_t time, uint64_t uploads, uint64_t covered,
                           uint64_t points)
{
    unsigned *count = user; /* [0]: older than two days; [1]: of the last two; [2]: the newest */
    (void)covered;
    (void)points;
    count[time < (int64_t)uploads + 1000000 ? 0 : 1]++;
    count[2] = (unsigned)time;
    return true;
}

/* A sample every ten minutes for ten days: hourly ones remain of what is older than two. */
static void test_old_coverage_is_thinned(void **state)
{
    struct storage_place *place = *state;
    struct pm_storage *storage = place->storage;
    struct pm_error error;
    unsigned count[3] = {0}, other[3] = {0};
    const int64_t end = 1000000 + 10 * 86400;
    assert_true(pm_storage_add_game(storage, "game", 1, &error));
    assert_true(pm_storage_add_game(storage, "other", 1, &error));
    assert_true(storage->operations->add_coverage(storage, "other", 1000001, 0, 1, 1, &error));
    assert_true(storage->operations->add_coverage(storage, "other", 1000002, 0, 1, 1, &error));
    assert_true(storage->operations->begin(storage, &error));
    for (int64_t time = 1000000; time <= end; time += 600)
        assert_true(
            storage->operations->add_coverage(storage, "game", time, 8 * 86400, 1, 1, &error));
    assert_true(storage->operations->commit(storage, &error));
    assert_true(storage->operations->read_coverage(storage, "game", count_coverage, count, &error));
    assert_in_range(count[0], 8 * 24, 8 * 24 + 1);
    assert_int_equal(count[1], 2 * 144 + 1);
    assert_int_equal(count[2], end);
    assert_true(
        storage->operations->read_coverage(storage, "other", count_coverage, other, &error));
    assert_int_equal(other[0] + other[1], 2);
}

#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, storage_place_create, storage_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_databases),
        TEST(test_bodies_are_whole),
        TEST(test_coverage),
        TEST(test_old_coverage_is_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
