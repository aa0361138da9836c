/* A machine's own values on the disk: what comes back, what several processes write, what is
 * damaged, and the bound. */
#include "base/file.h"
#include "profile/values_store.h"
#include "tests/temporary.h"

#include <string.h>
#include <sys/stat.h>

#include "tests/cmocka_includes.h"

static char folder[96];

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

static struct pm_values_store *open_store(const char *recipe)
{
    struct pm_values_store *store = pm_values_store_open(folder, "a game", recipe);
    assert_non_null(store);
    return store;
}

static struct pm_shader_key key_of(uint32_t number)
{
    return pm_shader_key_compute("values", &number, 1);
}

/* A session in which word 1 of 3 of the shader had the value. */
static void session(uint32_t shader, uint32_t value, uint64_t loads)
{
    struct pm_values_store *store = open_store("r");
    struct pm_word_values words[3] = {{0}};
    const struct pm_shader_key key = key_of(shader);
    struct pm_error error = {0};
    pm_word_values_add(&words[1], value, loads);
    assert_true(pm_values_store_put(store, &key, 3, words));
    if (!pm_values_store_save(store, &error))
        fail_msg("%s", error.message);
    /* Once more: what this session has seen counts once. */
    assert_true(pm_values_store_put(store, &key, 3, words));
    assert_true(pm_values_store_save(store, &error));
    pm_values_store_close(store);
}

static void sessions_add_up(void **state)
{
    (void)state;
    struct pm_values_store *store = open_store("r");
    const struct pm_shader_key key = key_of(1);
    assert_false(pm_values_store_has_any(store));
    assert_null(pm_values_store_find(store, &key, 3));
    pm_values_store_close(store);
    session(1, 0xdeadbeef, 10);
    session(1, 0xdeadbeef, 20);
    session(1, 0, 5);
    session(2, 7, 1);
    store = open_store("r");
    assert_true(pm_values_store_has_any(store));
    const struct pm_word_values *words = pm_values_store_find(store, &key, 3);
    assert_non_null(words);
    assert_int_equal(words[0].loads, 0);
    assert_int_equal(words[1].loads, 35);
    assert_int_equal(words[1].zeros, 5);
    assert_int_equal(pm_word_values_most(&words[1])->value, 0xdeadbeef);
    assert_int_equal(pm_word_values_most(&words[1])->count, 30);
    assert_null(pm_values_store_find(store, &key, 4));
    pm_values_store_close(store);
    /* Another build numbers the words otherwise. */
    store = open_store("s");
    assert_false(pm_values_store_has_any(store));
    pm_values_store_close(store);
}

/* Two sessions at once, of different shaders. */
static void what_others_wrote_stays(void **state)
{
    (void)state;
    struct pm_values_store *store = open_store("r");
    session(1, 5, 5);
    struct pm_word_values words[3] = {{0}};
    const struct pm_shader_key one = key_of(1), two = key_of(2);
    pm_word_values_add(&words[2], 6, 6);
    assert_true(pm_values_store_put(store, &two, 3, words));
    assert_true(pm_values_store_save(store, NULL));
    pm_values_store_close(store);
    store = open_store("r");
    assert_non_null(pm_values_store_find(store, &one, 3));
    assert_non_null(pm_values_store_find(store, &two, 3));
    pm_values_store_close(store);
}

static void nonsense_is_left_out(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "x",
        "KEY",
        "KEY 3 3 9 0 1:9",
        "KEY 0 0",
        "KEY 3 1 9 0 1:10",
        "KEY 3 1",
        "KEY 3 1 9 10 1:9",
        "KEY 4000000000 1 9 0 1:9",
        "KEY 3 1 18446744073709551615 0 1:18446744073709551615 2:18446744073709551615",
    };
    const struct pm_shader_key key = key_of(1);
    char text[PM_SHADER_KEY_TEXT], path[128];
    pm_shader_key_format(&key, text);
    snprintf(path, sizeof path, "%s/a%%20game", folder);
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        char file[512];
        const bool keyed = strncmp(lines[i], "KEY", 3) == 0;
        snprintf(file, sizeof file, "piecemeal values 1 r\n%s%s\n%s 2 1 9 0 1:9\n",
                 keyed ? text : "", lines[i] + (keyed ? 3 : 0), text);
        assert_true(pm_file_write(path, file, strlen(file), NULL));
        struct pm_values_store *store = open_store("r");
        const struct pm_word_values *words = pm_values_store_find(store, &key, 3);
        assert_true(words == NULL || words[1].loads == 0);
        assert_non_null(pm_values_store_find(store, &key, 2));
        pm_values_store_close(store);
    }
}

static void the_file_is_bounded(void **state)
{
    (void)state;
    struct pm_values_store *store = open_store("r");
    struct pm_word_values words[8] = {{0}};
    for (uint32_t i = 0; i < 64; i++)
        pm_word_values_add(&words[i / 8], 0xfff00000u + i, 1000000);
    for (uint32_t i = 0; i < 3000; i++) {
        const struct pm_shader_key key = key_of(i);
        assert_true(pm_values_store_put(store, &key, 8, words));
    }
    assert_true(pm_values_store_save(store, NULL));
    pm_values_store_close(store);
    char path[128];
    struct stat status;
    snprintf(path, sizeof path, "%s/a%%20game", folder);
    assert_int_equal(stat(path, &status), 0);
    assert_in_range(status.st_size, 1 << 19, 1 << 20);
    /* What a later session sees comes before what was there. */
    session(5000, 1, 1);
    store = open_store("r");
    const struct pm_shader_key late = key_of(5000), first = key_of(0);
    assert_non_null(pm_values_store_find(store, &late, 3));
    assert_non_null(pm_values_store_find(store, &first, 8));
    pm_values_store_close(store);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(sessions_add_up),
        TEST(what_others_wrote_stays),
        TEST(nonsense_is_left_out),
        TEST(the_file_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
