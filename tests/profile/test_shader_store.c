#include "base/buffer.h"
#include "base/file.h"
#include "profile/shader_store.h"
#include "tests/cmocka_includes.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/pm-shader-store-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

enum { WORDS = 500 };

/* A shader whose words are told by its number, and its raw digest. */
static struct pm_stored_shader numbered(uint32_t number, uint32_t *words,
                                        struct pm_shader_key *digest)
{
    static const struct pm_spec_value values[] = {{3, 4, 0x3f800000}, {7, 8, 0x1122334455667788}};
    for (uint32_t i = 0; i < 2 * WORDS; i++)
        words[i] = (i + 1) * 2654435761u ^ number * 40503u;
    *digest = pm_raw_digest_compute(words, WORDS, 1, "main", values, 2);
    return (struct pm_stored_shader){
        .key = pm_shader_key_compute("recipe 1", words + WORDS, WORDS),
        .recipe = "recipe 1",
        .stage = 1,
        .target = 0x1e02,
        .entry_point = "main",
        .spec_values = values,
        .spec_value_count = 2,
        .original = words,
        .original_count = WORDS,
        .canonical = words + WORDS,
        .canonical_count = WORDS,
    };
}

static void assert_same(const struct pm_stored_shader *a, const struct pm_stored_shader *b)
{
    assert_true(pm_shader_key_equal(&a->key, &b->key));
    assert_string_equal(a->recipe, b->recipe);
    assert_string_equal(a->entry_point, b->entry_point);
    assert_int_equal(a->stage, b->stage);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->spec_value_count, b->spec_value_count);
    for (size_t i = 0; i < a->spec_value_count; i++) {
        assert_int_equal(a->spec_values[i].spec_id, b->spec_values[i].spec_id);
        assert_int_equal(a->spec_values[i].size, b->spec_values[i].size);
        assert_int_equal(a->spec_values[i].bits, b->spec_values[i].bits);
    }
    assert_int_equal(a->original_count, b->original_count);
    assert_memory_equal(a->original, b->original, a->original_count * 4);
    assert_int_equal(a->canonical_count, b->canonical_count);
    assert_memory_equal(a->canonical, b->canonical, a->canonical_count * 4);
}

static void what_was_written_is_found_by_digest_and_read_by_key(void **state)
{
    (void)state;
    uint32_t words[2 * WORDS];
    struct pm_shader_key digest, key;
    const struct pm_stored_shader shader = numbered(1, words, &digest);
    struct pm_error error = {0};
    struct pm_shader_store *store = pm_shader_store_open(folder, 1 << 20);
    assert_false(pm_shader_store_find(store, "recipe 1", &digest, &key, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_true(pm_shader_store_write(store, &digest, &shader, &error));
    pm_shader_store_close(store);

    store = pm_shader_store_open(folder, 0);
    assert_true(pm_shader_store_find(store, "recipe 1", &digest, &key, &error));
    assert_true(pm_shader_key_equal(&key, &shader.key));
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_stored_shader read;
    assert_true(pm_shader_store_read(store, &key, arena, &read, &error));
    assert_same(&read, &shader);
    pm_arena_destroy(arena);
    pm_shader_store_close(store);
}

static void another_recipe_is_not_found_and_then_replaces(void **state)
{
    (void)state;
    uint32_t words[2 * WORDS];
    struct pm_shader_key digest, key;
    struct pm_stored_shader shader = numbered(1, words, &digest);
    struct pm_error error = {0};
    struct pm_shader_store *store = pm_shader_store_open(folder, 1 << 20);
    assert_true(pm_shader_store_write(store, &digest, &shader, &error));
    assert_false(pm_shader_store_find(store, "recipe 2", &digest, &key, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    shader.recipe = "recipe 2";
    shader.key = pm_shader_key_compute(shader.recipe, shader.canonical, shader.canonical_count);
    assert_true(pm_shader_store_write(store, &digest, &shader, &error));
    assert_true(pm_shader_store_find(store, "recipe 2", &digest, &key, &error));
    assert_true(pm_shader_key_equal(&key, &shader.key));
    assert_false(pm_shader_store_find(store, "recipe 1", &digest, &key, &error));
    pm_shader_store_close(store);
}

/* Reads the store's one shader file. */
static void read_file_of(const struct pm_shader_key *key, struct pm_buffer *file, char *path,
                         size_t size)
{
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(key, text);
    snprintf(path, size, "%s/%s.pmshader", folder, text);
    pm_buffer_init(file, 1 << 20);
    struct pm_error error;
    assert_true(pm_file_read(path, file, &error));
}

static void every_damaged_byte_and_length_is_refused(void **state)
{
    (void)state;
    uint32_t words[2 * WORDS];
    struct pm_shader_key digest;
    const struct pm_stored_shader shader = numbered(1, words, &digest);
    struct pm_error error = {0};
    struct pm_shader_store *store = pm_shader_store_open(folder, 1 << 20);
    assert_true(pm_shader_store_write(store, &digest, &shader, &error));
    pm_shader_store_close(store);
    struct pm_buffer file;
    char path[160];
    read_file_of(&shader.key, &file, path, sizeof path);
    struct pm_arena *arena = pm_arena_create(1 << 30);
    struct pm_stored_shader read;
    assert_true(pm_stored_shader_parse(file.data, file.size, &shader.key, arena, &read, &error));
    for (size_t size = 0; size < file.size; size += 7) {
        error.code = PM_OK;
        assert_false(pm_stored_shader_parse(file.data, size, &shader.key, arena, &read, &error));
        assert_int_not_equal(error.code, PM_OK);
    }
    for (size_t i = 0; i < file.size; i += 3) {
        file.data[i] ^= 0x41;
        assert_false(
            pm_stored_shader_parse(file.data, file.size, &shader.key, arena, &read, &error));
        file.data[i] ^= 0x41;
    }
    pm_arena_destroy(arena);
    pm_buffer_finish(&file);
}

static void a_damaged_file_is_written_again(void **state)
{
    (void)state;
    uint32_t words[2 * WORDS];
    struct pm_shader_key digest;
    const struct pm_stored_shader shader = numbered(1, words, &digest);
    struct pm_error error = {0};
    struct pm_shader_store *store = pm_shader_store_open(folder, 1 << 20);
    assert_true(pm_shader_store_write(store, &digest, &shader, &error));
    struct pm_buffer file;
    char path[160];
    read_file_of(&shader.key, &file, path, sizeof path);
    pm_buffer_finish(&file);
    assert_int_equal(truncate(path, 20), 0);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_stored_shader read;
    assert_false(pm_shader_store_read(store, &shader.key, arena, &read, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_true(pm_shader_store_write(store, &digest, &shader, &error));
    assert_true(pm_shader_store_read(store, &shader.key, arena, &read, &error));
    assert_same(&read, &shader);
    pm_arena_destroy(arena);
    pm_shader_store_close(store);
}

static uint64_t bytes_in(const char *path)
{
    uint64_t bytes = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char name[400];
        struct stat status;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (stat(name, &status) == 0 && S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_blocks * 512;
    }
    closedir(directory);
    return bytes;
}

static void the_cap_holds_and_what_was_used_stays(void **state)
{
    (void)state;
    enum { CAP = 256 << 10, SHADERS = 100 };
    struct pm_error error = {0};
    struct pm_shader_store *store = pm_shader_store_open(folder, CAP);
    struct pm_shader_key first = {{0}};
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_stored_shader read;
    for (uint32_t i = 0; i < SHADERS; i++) {
        uint32_t words[2 * WORDS];
        struct pm_shader_key digest;
        const struct pm_stored_shader shader = numbered(i, words, &digest);
        assert_true(pm_shader_store_write(store, &digest, &shader, &error));
        if (i == 0)
            first = shader.key;
        /* File times of some systems are coarse. */
        usleep(5000);
        assert_true(pm_shader_store_read(store, &first, arena, &read, &error));
        usleep(5000);
        char raw[128];
        snprintf(raw, sizeof raw, "%s/raw", folder);
        assert_true(bytes_in(folder) + bytes_in(raw) <= CAP);
    }
    pm_arena_destroy(arena);
    pm_shader_store_close(store);
}

/* Before the shader is there or after; the latest counts. */
static void names_are_kept_beside_shaders(void **state)
{
    (void)state;
    uint32_t words[2 * WORDS];
    struct pm_shader_key digest;
    struct pm_error error = {0};
    struct pm_stored_shader shader = numbered(1, words, &digest), read;
    struct pm_shader_store *store = pm_shader_store_open(folder, 1 << 20);
    struct pm_arena *arena = pm_arena_create(0);
    char longest[300];
    assert_true(pm_shader_store_name(store, &shader.key, "early", &error));
    assert_true(pm_shader_store_write(store, &digest, &shader, &error));
    assert_true(pm_shader_store_read(store, &shader.key, arena, &read, &error));
    assert_string_equal(read.name, "early");
    assert_true(pm_shader_store_name(store, &shader.key, "l\xc3\xa4ter\nand no more", &error));
    assert_true(pm_shader_store_name(store, &shader.key, "", &error));
    assert_true(pm_shader_store_read(store, &shader.key, arena, &read, &error));
    assert_string_equal(read.name, "l\xc3\xa4ter");
    memset(longest, 'n', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memcpy(&longest[PM_SHADER_NAME_BYTES - 1], "\xc3\xa4", 2); /* over the edge */
    assert_true(pm_shader_store_name(store, &shader.key, longest, &error));
    assert_true(pm_shader_store_read(store, &shader.key, arena, &read, &error));
    assert_int_equal(strlen(read.name), PM_SHADER_NAME_BYTES - 1);
    shader = numbered(2, words, &digest);
    assert_true(pm_shader_store_write(store, &digest, &shader, &error));
    assert_true(pm_shader_store_read(store, &shader.key, arena, &read, &error));
    assert_string_equal(read.name, "");
    pm_arena_destroy(arena);
    pm_shader_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_found_by_digest_and_read_by_key, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(another_recipe_is_not_found_and_then_replaces, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_damaged_byte_and_length_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_written_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_are_kept_beside_shaders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_cap_holds_and_what_was_used_stays, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
