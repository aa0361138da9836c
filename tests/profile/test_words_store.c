#include "base/clock.h"
#include "base/file.h"
#include "profile/words_store.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

enum { WORDS = 5000 };

static char folder[96];
static uint32_t words[WORDS], read_words[WORDS];

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

static struct pm_words_hash fill(uint32_t seed)
{
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = seed * WORDS + i;
    return pm_words_hash_compute(words, WORDS);
}

static void path_of(const struct pm_words_hash *hash, char path[160])
{
    snprintf(path, 160, "%s/%016" PRIx64 "%016" PRIx64, folder, hash->high, hash->low);
}

static void what_is_kept_is_read(void **state)
{
    (void)state;
    struct pm_error error = {0};
    bool tidy;
    const struct pm_words_hash hash = fill(1);
    struct pm_words_store *store = pm_words_store_open(folder, 1 << 20);
    assert_false(pm_words_store_read(store, &hash, read_words, WORDS, &error));
    assert_int_equal(error.code, PM_ERROR_IO);
    assert_true(pm_words_store_keep(store, &hash, words, WORDS, &tidy, &error));
    assert_true(tidy); /* what earlier sessions left may be much */
    assert_true(pm_words_store_keep(store, &hash, words, WORDS, &tidy, &error));
    assert_false(tidy);
    pm_words_store_close(store);
    /* The next session. */
    store = pm_words_store_open(folder, 1 << 20);
    assert_true(pm_words_store_keep(store, &hash, words, WORDS, &tidy, &error));
    assert_true(pm_words_store_read(store, &hash, read_words, WORDS, &error));
    assert_memory_equal(words, read_words, sizeof words);
    pm_words_store_close(store);
}

static void what_is_damaged_is_not_read(void **state)
{
    (void)state;
    struct pm_error error = {0};
    bool tidy;
    char path[160];
    const struct pm_words_hash hash = fill(1);
    struct pm_words_store *store = pm_words_store_open(folder, 1 << 20);
    path_of(&hash, path);
    for (int damage = 0; damage < 3; damage++) {
        assert_true(pm_words_store_keep(store, &hash, words, WORDS, &tidy, &error));
        if (damage == 0)
            assert_int_equal(truncate(path, sizeof words - 4), 0);
        words[7] ^= damage == 1;
        assert_true(damage == 0 || pm_file_put(path, words, sizeof words - (damage == 2), &error));
        words[7] ^= damage == 1;
        assert_false(pm_words_store_read(store, &hash, read_words, WORDS, &error));
        assert_int_equal(error.code, PM_ERROR_INPUT);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    pm_words_store_close(store);
}

/* A session adds half of the cap; what was used longest ago goes. */
static void the_disk_is_bounded(void **state)
{
    (void)state;
    struct pm_error error = {0};
    const uint64_t cap = 16 * 20480; /* a file takes 20,480 bytes */
    bool tidy;
    char path[160];
    for (uint32_t session = 0; session < 4; session++) {
        struct pm_words_store *store = pm_words_store_open(folder, cap);
        for (uint32_t i = 0; i < 9; i++) {
            const struct pm_words_hash hash = fill(session * 9 + i);
            const bool kept = pm_words_store_keep(store, &hash, words, WORDS, &tidy, &error);
            assert_int_equal(kept, i < 8);
            path_of(&hash, path);
            const struct timespec used[2] = {pm_timespec((session * 9 + i + 1) * PM_SECOND),
                                             pm_timespec((session * 9 + i + 1) * PM_SECOND)};
            assert_true(!kept || utimensat(AT_FDCWD, path, used, 0) == 0);
        }
        assert_int_equal(error.code, PM_ERROR_LIMIT);
        pm_words_store_tidy(store);
        pm_words_store_close(store);
    }
    const struct pm_words_hash oldest = fill(0), latest = fill(3 * 9 + 7);
    struct pm_words_store *store = pm_words_store_open(folder, cap);
    assert_false(pm_words_store_read(store, &oldest, read_words, WORDS, &error));
    assert_true(pm_words_store_read(store, &latest, read_words, WORDS, &error));
    pm_words_store_close(store);
    store = pm_words_store_open(folder, 0);
    assert_false(pm_words_store_keep(store, &oldest, words, WORDS, &tidy, &error));
    pm_words_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_kept_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_disk_is_bounded, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
