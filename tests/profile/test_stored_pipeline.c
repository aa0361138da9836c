#include "profile/stored_pipeline.h"

#include "profile/fossilize.h"
#include "profile/profile.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <string.h>

static const uint32_t vertex[] = {1, 2, 3, 4, 5}, fragment[] = {6, 7, 8};

struct kept {
    char folder[64];
    struct pm_shader_store *store;
    struct pm_shader_key key;
    struct pm_arena *arena;
};

static int set_up(void **state)
{
    static struct kept kept;
    temporary_make(kept.folder, sizeof kept.folder);
    kept.store = pm_shader_store_open(kept.folder, 1 << 20);
    kept.key = pm_shader_key_compute("recipe", fragment, 3);
    kept.arena = pm_arena_create(0);
    *state = &kept;
    return 0;
}

static int tear_down(void **state)
{
    struct kept *kept = *state;
    pm_arena_destroy(kept->arena);
    pm_shader_store_close(kept->store);
    temporary_remove(kept->folder);
    return 0;
}

static bool write_it(const struct kept *kept, const char *document)
{
    struct pm_buffer modules;
    struct pm_error error = {0};
    pm_buffer_init(&modules, 1 << 20);
    assert_true(
        pm_stored_pipeline_append(&modules, pm_fossilize_hash_module(vertex, 5), vertex, 5));
    assert_true(
        pm_stored_pipeline_append(&modules, pm_fossilize_hash_module(fragment, 3), fragment, 3));
    const bool written =
        pm_stored_pipeline_write(kept->store, &kept->key, document, &modules, &error);
    pm_buffer_finish(&modules);
    return written;
}

static void what_was_written_is_read(void **state)
{
    struct kept *kept = *state;
    struct pm_stored_pipeline read;
    struct pm_error error = {0};
    assert_false(pm_stored_pipeline_is_there(kept->store, &kept->key));
    assert_false(pm_stored_pipeline_read(kept->store, &kept->key, kept->arena, &read, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    assert_true(write_it(kept, "{\"first\": 1}"));
    /* The first stays. */
    assert_true(write_it(kept, "{}"));
    assert_true(pm_stored_pipeline_is_there(kept->store, &kept->key));
    assert_true(pm_stored_pipeline_read(kept->store, &kept->key, kept->arena, &read, &error));
    assert_string_equal(read.document, "{\"first\": 1}");
    assert_int_equal(read.module_count, 2);
    assert_int_equal(read.modules[0].count, 5);
    assert_memory_equal(read.modules[0].words, vertex, sizeof vertex);
    assert_int_equal(read.modules[1].hash, pm_fossilize_hash_module(fragment, 3));
    assert_memory_equal(read.modules[1].words, fragment, sizeof fragment);
}

/* Packs what pm_stored_pipeline_write would have. */
static void is_damaged(const struct kept *kept, const void *contents, size_t size)
{
    struct pm_buffer file;
    struct pm_stored_pipeline read;
    struct pm_error error = {0};
    pm_buffer_init(&file, 1 << 20);
    assert_true(pm_buffer_append(&file, "PMPIPE01", 8) &&
                pm_compress(contents, size, &file, &error) &&
                pm_shader_store_put(kept->store, &kept->key, ".pipeline", &file, &error));
    pm_buffer_finish(&file);
    assert_false(pm_stored_pipeline_read(kept->store, &kept->key, kept->arena, &read, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
}

static void what_is_damaged_is_told(void **state)
{
    struct kept *kept = *state;
    /* No end of the document; half a head; more words than there are; words of another hash. */
    is_damaged(kept, "{}", 2);
    is_damaged(kept, "{}\0\0half", 8);
    is_damaged(kept,
               "{}\0\0"
               "\1\0\0\0\0\0\0\0"
               "\2\0\0\0\0\0\0\0"
               "word",
               24);
    is_damaged(kept,
               "{}\0\0"
               "\1\0\0\0\0\0\0\0"
               "\1\0\0\0\0\0\0\0"
               "word",
               24);
    is_damaged(kept,
               "{}\0\0"
               "\1\0\0\0\0\0\0\0"
               "\377\377\377\377\377\377\377\377"
               "word",
               24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_told, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
