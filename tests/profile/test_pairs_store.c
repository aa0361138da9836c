/* Pairs of trials on the disk: what comes back, whose they are, what is damaged or old. */
#include "base/file.h"
#include "profile/pairs_store.h"
#include "tests/temporary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/cmocka_includes.h"

enum { PAIRS = 1000, MOST = 4096, NOW = 1700000000, DAY = 86400 };

static char folder[96];
static float times[PAIRS][2];
static struct pm_kept_pairs pairs = {PM_TIMED_PASSES, PAIRS, times};
static const struct pm_environment environment = {.subgroup_size = 8, .vendor_id = 5};

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof folder);
    for (int i = 0; i < PAIRS; i++) {
        times[i][0] = 1000.5f + (float)i;
        times[i][1] = 3e9f / (float)(1 + i);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

static struct pm_shader_key key_of(uint32_t number)
{
    return pm_shader_key_compute("pairs", &number, 1);
}

static struct pm_pairs_store *open_store(const char *game, const char *layer)
{
    struct pm_pairs_store *store = pm_pairs_store_open(folder, game, layer);
    assert_non_null(store);
    return store;
}

static void keep(struct pm_pairs_store *store, uint32_t number, int64_t now)
{
    struct pm_error error = {0};
    const struct pm_shader_key key = key_of(number), original = key_of(99);
    assert_true(pm_pairs_store_keep(store, &key, &original, &environment, now, &pairs, &error));
}

static bool is_there(const struct pm_pairs_store *store, uint32_t number,
                     const struct pm_environment *of, int64_t now, uint32_t most)
{
    struct pm_kept_pairs found;
    const struct pm_shader_key key = key_of(number), original = key_of(99);
    const bool there = pm_pairs_store_read(store, &key, &original, of, now, most, &found);
    assert_int_equal(there, found.time != NULL);
    if (there) {
        assert_int_equal(found.kind, PM_TIMED_PASSES);
        assert_int_equal(found.count, PAIRS);
        assert_memory_equal(found.time, times, sizeof times);
    }
    free(found.time);
    return there;
}

static void what_is_kept_is_there(void **state)
{
    (void)state;
    struct pm_pairs_store *store = open_store("a game", "build");
    assert_false(is_there(store, 1, &environment, NOW, MOST));
    keep(store, 1, NOW);
    pm_pairs_store_close(store);
    store = open_store("a game", "build");
    assert_true(is_there(store, 1, &environment, NOW + DAY, MOST));
    const struct pm_shader_key key = key_of(1), original = key_of(99);
    pm_pairs_store_forget(store, &key, &original, &environment);
    assert_false(is_there(store, 1, &environment, NOW + DAY, MOST));
    pm_pairs_store_close(store);
}

static void it_is_of_one_thing(void **state)
{
    (void)state;
    struct pm_pairs_store *store = open_store("a game", "build");
    const struct pm_environment other = {.subgroup_size = 8, .vendor_id = 5, .driver_version = 1};
    keep(store, 1, NOW);
    assert_false(is_there(store, 2, &environment, NOW, MOST));
    assert_false(is_there(store, 1, &other, NOW, MOST));
    /* The same words, made of another shader. */
    const struct pm_shader_key key = key_of(1), another = key_of(98);
    struct pm_kept_pairs found;
    assert_false(pm_pairs_store_read(store, &key, &another, &environment, NOW, MOST, &found));
    pm_pairs_store_close(store);
    store = open_store("another game", "build");
    assert_false(is_there(store, 1, &environment, NOW, MOST));
    pm_pairs_store_close(store);
    store = open_store("a game", "another build");
    assert_false(is_there(store, 1, &environment, NOW, MOST));
    pm_pairs_store_close(store);
}

static void what_is_old_or_of_another_clock_is_not(void **state)
{
    (void)state;
    struct pm_pairs_store *store = open_store("a game", "build");
    keep(store, 1, NOW);
    assert_true(is_there(store, 1, &environment, NOW + PM_DAYS_UNDECIDED * DAY, MOST));
    assert_false(is_there(store, 1, &environment, NOW + PM_DAYS_UNDECIDED * DAY + 1, MOST));
    assert_false(is_there(store, 1, &environment, NOW - 1, MOST));
    assert_false(is_there(store, 1, &environment, NOW, PAIRS - 1));
    pm_pairs_store_close(store);
}

static char the_file[300];

static void look(void *user, const char *path)
{
    (void)user;
    snprintf(the_file, sizeof the_file, "%s", path);
}

/* Every byte of the head and every fourth behind it; and cut anywhere. */
static void what_is_damaged_is_not(void **state)
{
    (void)state;
    struct pm_pairs_store *store = open_store("a game", "build");
    struct pm_buffer file;
    pm_buffer_init(&file, 1 << 20);
    keep(store, 1, NOW);
    pm_folder_each(folder, "", look, NULL);
    assert_true(pm_file_read(the_file, &file, NULL));
    unsigned char *bytes = (unsigned char *)file.data;
    for (size_t i = 0; i < file.size; i += i < 64 ? 1 : 4) {
        bytes[i] ^= 0x10;
        assert_true(pm_file_put(the_file, bytes, file.size, NULL));
        assert_false(is_there(store, 1, &environment, NOW, MOST));
        bytes[i] ^= 0x10;
    }
    for (size_t size = 0; size < file.size; size += 5) {
        assert_true(pm_file_put(the_file, bytes, size, NULL));
        assert_false(is_there(store, 1, &environment, NOW, MOST));
    }
    assert_true(pm_file_put(the_file, bytes, file.size, NULL));
    assert_true(is_there(store, 1, &environment, NOW, MOST));
    pm_buffer_finish(&file);
    pm_pairs_store_close(store);
}

/* Whoever may write there cannot bring what is no time into a mean. */
static void what_is_no_time_is_not(void **state)
{
    (void)state;
    struct pm_pairs_store *store = open_store("a game", "build");
    const float no_times[] = {0, -1, INFINITY, NAN};
    for (size_t i = 0; i < sizeof no_times / sizeof *no_times; i++) {
        const float was = times[7][1];
        times[7][1] = no_times[i];
        keep(store, 1, NOW);
        assert_false(is_there(store, 1, &environment, NOW, MOST));
        times[7][1] = was;
    }
    pm_pairs_store_close(store);
}

static void the_folder_is_bounded(void **state)
{
    (void)state;
    struct pm_pairs_store *store = open_store("a game", "build");
    for (uint32_t i = 0; i < 600; i++)
        keep(store, i, NOW);
    pm_pairs_store_close(store);
    store = open_store("a game", "build");
    keep(store, 1000, NOW);
    uint32_t left = 0;
    for (uint32_t i = 0; i <= 1000; i++)
        left += is_there(store, i, &environment, NOW, MOST);
    assert_in_range(left, 100, (4 << 20) / sizeof times);
    assert_true(is_there(store, 1000, &environment, NOW, MOST));
    pm_pairs_store_close(store);
}

static void without_a_place_nothing_is_kept(void **state)
{
    (void)state;
    struct pm_error error = {0};
    const struct pm_shader_key key = key_of(1), original = key_of(99);
    struct pm_pairs_store *store = pm_pairs_store_open("/dev/null/there", "a game", "build");
    assert_false(pm_pairs_store_keep(store, &key, &original, &environment, NOW, &pairs, &error));
    assert_non_null(strstr(error.message, "/dev/null"));
    assert_false(is_there(store, 1, &environment, NOW, MOST));
    pm_pairs_store_close(store);
    assert_true(pm_pairs_store_keep(NULL, &key, &original, &environment, NOW, &pairs, &error));
    assert_false(is_there(NULL, 1, &environment, NOW, MOST));
    pm_pairs_store_forget(NULL, &key, &original, &environment);
}

/* What is owed is a game's, of whatever build; what is damaged or old is nothing. */
static void what_is_owed_is_of_a_game(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_pairs_store *store = open_store("game", "build"), *next = open_store("game", "next"),
                          *other = open_store("other", "build");
    assert_int_equal(pm_pairs_store_owed(store, PM_OWED_IN_TURN, NOW), 0);
    assert_true(pm_pairs_store_owe(store, PM_OWED_IN_TURN, NOW, 123456789, 0, &error));
    assert_int_equal(pm_pairs_store_owed(next, PM_OWED_IN_TURN, NOW + DAY), 123456789);
    assert_int_equal(pm_pairs_store_owed(other, PM_OWED_IN_TURN, NOW), 0);
    assert_int_equal(pm_pairs_store_owed(store, PM_OWED_IN_TURN, NOW - 1), 0);
    assert_int_equal(pm_pairs_store_owed(store, PM_OWED_IN_TURN, NOW + 8 * DAY), 0);
    assert_true(pm_pairs_store_owe(next, PM_OWED_IN_TURN, NOW, 2 * PM_MOST_OWED, 0, &error));
    assert_int_equal(pm_pairs_store_owed(store, PM_OWED_IN_TURN, NOW), PM_MOST_OWED);
    assert_true(pm_pairs_store_owe(store, PM_OWED_IN_TURN, NOW, -1000, 0, &error));
    assert_int_equal(pm_pairs_store_owed(next, PM_OWED_IN_TURN, NOW), PM_MOST_OWED - 1000);
    assert_true(pm_pairs_store_owe(store, PM_OWED_IN_TURN, NOW, -PM_MOST_OWED, 0, &error));
    assert_int_equal(pm_pairs_store_owed(next, PM_OWED_IN_TURN, NOW), 0);
    assert_int_equal(pm_pairs_store_owed(NULL, PM_OWED_IN_TURN, NOW), 0);

    struct pm_buffer file;
    pm_buffer_init(&file, 1 << 20);
    assert_true(pm_pairs_store_owe(store, PM_OWED_IN_TURN, NOW, 5000, 0, &error));
    pm_folder_each(folder, "", look, NULL);
    assert_true(pm_file_read(the_file, &file, NULL));
    for (size_t i = 0; i < file.size; i++) {
        unsigned char *bytes = (unsigned char *)file.data;
        bytes[i] ^= 0x10;
        assert_true(pm_file_put(the_file, bytes, file.size, NULL));
        assert_int_equal(pm_pairs_store_owed(store, PM_OWED_IN_TURN, NOW), 0);
        bytes[i] ^= 0x10;
        assert_true(pm_file_put(the_file, bytes, i, NULL));
        assert_int_equal(pm_pairs_store_owed(store, PM_OWED_IN_TURN, NOW), 0);
    }
    pm_buffer_finish(&file);
    pm_pairs_store_close(store);
    pm_pairs_store_close(next);
    pm_pairs_store_close(other);
}

/* That of sessions is another one, which may be below zero; what is paid goes no further. */
static void what_sessions_owe_is_kept_apart(void **state)
{
    (void)state;
    struct pm_error error = {0};
    const enum pm_owed_by by = PM_OWED_OVER_SESSIONS;
    struct pm_pairs_store *store = open_store("game", "build");
    assert_true(pm_pairs_store_owe(store, by, NOW, 5000, 2000, &error));
    assert_int_equal(pm_pairs_store_owed(store, by, NOW), 3000);
    assert_int_equal(pm_pairs_store_owed(store, PM_OWED_IN_TURN, NOW), 0);
    assert_true(pm_pairs_store_owe(store, by, NOW, 0, 9000, &error));
    assert_int_equal(pm_pairs_store_owed(store, by, NOW), 0);
    assert_true(pm_pairs_store_owe(store, by, NOW, -7000, 0, &error));
    assert_true(pm_pairs_store_owe(store, by, NOW, 2000, 1000, &error));
    assert_int_equal(pm_pairs_store_owed(store, by, NOW), -5000);
    for (int sign = -1; sign <= 1; sign += 2) {
        const int64_t most = sign * PM_MOST_OWED_OVER_SESSIONS;
        assert_true(pm_pairs_store_owe(store, by, NOW, 3 * most, 0, &error));
        assert_int_equal(pm_pairs_store_owed(store, by, NOW), most);
    }
    pm_pairs_store_close(store);
}

/* Whoever plays each day pays, and does not owe it for longer than who does not. */
static void what_is_owed_is_as_old_as_it_is(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_pairs_store *store = open_store("game", "build");
    for (int by = 0; by < PM_OWED_BY; by++) {
        assert_true(pm_pairs_store_owe(store, by, NOW, 5000000, 0, &error));
        for (int day = 1; day <= 7; day++) {
            assert_true(pm_pairs_store_owe(store, by, NOW + day * DAY, by == 0 ? -100 : 0,
                                           by == 0 ? 0 : 100, &error));
            assert_int_equal(pm_pairs_store_owed(store, by, NOW + day * DAY), 5000000 - day * 100);
        }
        assert_int_equal(pm_pairs_store_owed(store, by, NOW + 8 * DAY), 0);
        /* More of it does. */
        assert_true(pm_pairs_store_owe(store, by, NOW + 6 * DAY, 50, 0, &error));
        assert_true(pm_pairs_store_owed(store, by, NOW + 12 * DAY) > 0);
    }
    pm_pairs_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_kept_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_is_of_one_thing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_old_or_of_another_clock_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_time_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_owed_is_of_a_game, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_sessions_owe_is_kept_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_owed_is_as_old_as_it_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_folder_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_place_nothing_is_kept, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
