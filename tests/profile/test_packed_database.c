/* A database, packed: the same is found in it, opening it costs nearly nothing however large it is,
 * and damage does no harm. */
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "base/stop.h"
#include "profile/packed_database.h"
#include "tests/cmocka_includes.h"
#include "tests/resident.h"
#include "tests/temporary.h"
#include <string.h>

static const struct pm_packed_source source = {1, 2, 3, 4};
static char folder[96], path[128];

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/game.pmpack", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, PM_SHADER_KEY_BYTES);
}

static void fill_points(struct pm_shader_estimates *shader, struct pm_arena *arena,
                        struct pm_random *random)
{
    struct pm_point_estimate *points = pm_arena_zalloc(arena, shader->space, sizeof *points);
    for (uint32_t i = 0; i < shader->space; i++) {
        points[i].calls = pm_random_below(random, 1000);
        points[i].sessions = pm_random_below(random, 100);
        for (unsigned m = 0; m < pm_measure_count(shader->kind); m++) {
            /* What a 32-bit float holds exactly. */
            points[i].measures[m] = (struct pm_ratio){.mean = (float)pm_random_unit(random),
                                                      .ratio_high = (float)pm_random_unit(random),
                                                      .clusters = pm_random_below(random, 500)};
        }
    }
    shader->points = points;
    shader->published = true;
}

static struct pm_database make(struct pm_arena *arena, uint32_t count)
{
    struct pm_random random;
    pm_random_init(&random, count);
    struct pm_shader_estimates *shaders = pm_arena_zalloc(arena, count, sizeof *shaders);
    for (uint32_t s = 0; s < count; s++) {
        struct pm_shader_estimates *shader = &shaders[s];
        shader->key = pm_shader_key_compute("db", &s, 1);
        shader->environment.subgroup_size = 32;
        shader->kind = s % 7 == 0 ? PM_KIND_TIMING : s % 3 == 0 ? PM_KIND_ZERO : PM_KIND_BLOCK;
        shader->space = shader->kind == PM_KIND_TIMING ? 1 : 1 + pm_random_below(&random, 100);
        if (shader->kind == PM_KIND_TIMING)
            shader->original = pm_shader_key_compute("original", &s, 1);
        if (shader->kind == PM_KIND_ZERO && s % 2 != 0)
            shader->candidates = shader->space + s;
        shader->entry_lanes = pm_random_next(&random);
        if (s % 4 != 0)
            fill_points(shader, arena, &random);
        if (s % 8 == 0) {
            uint8_t *levels = pm_arena_zalloc(arena, shader->space, 1);
            for (uint32_t i = 0; i < shader->space; i++)
                levels[i] = (uint8_t)(i % 3);
            shader->provisional = levels;
        }
        if (s % 5 != 0) {
            uint8_t *deficit = pm_arena_zalloc(arena, (shader->space + 7) / 8, 1);
            deficit[0] = 1;
            shader->deficit = deficit;
        }
    }
    qsort(shaders, count, sizeof *shaders, by_key);
    return (struct pm_database){"a game", 1763600000, shaders, count};
}

static void pack(const struct pm_database *database, struct pm_buffer *bytes)
{
    struct pm_error error = {0};
    pm_buffer_init(bytes, (size_t)256 << 20);
    if (!pm_database_pack(database, &source, bytes, &error) ||
        !pm_file_put(path, bytes->data, bytes->size, &error))
        fail_msg("%s", error.message);
}

static void assert_finds(const struct pm_packed_database *packed,
                         const struct pm_shader_estimates *shader)
{
    struct pm_shader_estimates found;
    assert_true(
        pm_packed_database_find(packed, &shader->key, &shader->environment, shader->kind, &found));
    assert_memory_equal(&found.key, &shader->key, sizeof found.key);
    assert_memory_equal(&found.original, &shader->original, sizeof found.original);
    assert_int_equal(found.space, shader->space);
    assert_int_equal(found.candidates, shader->candidates);
    assert_int_equal(found.published, shader->published);
    assert_true(found.entry_lanes == shader->entry_lanes);
    assert_int_equal(found.points != NULL, shader->points != NULL);
    if (found.points)
        assert_memory_equal(found.points, shader->points, shader->space * sizeof *found.points);
    assert_int_equal(found.provisional != NULL, shader->provisional != NULL);
    if (found.provisional)
        assert_memory_equal(found.provisional, shader->provisional, shader->space);
    assert_int_equal(
        pm_packed_database_is_provisional(packed, &shader->key, &shader->environment, shader->kind),
        shader->provisional != NULL);
    assert_int_equal(found.deficit != NULL, shader->deficit != NULL);
    if (found.deficit)
        assert_memory_equal(found.deficit, shader->deficit, (shader->space + 7) / 8);
    pm_shader_estimates_finish(&found);
}

static void it_stops_when_asked(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_database database = make(arena, 7);
    struct pm_buffer bytes;
    struct pm_error error = {0};
    const _Atomic bool asked = true;
    pm_buffer_init(&bytes, (size_t)256 << 20);
    pm_stop_watch(&asked);
    const bool packed = pm_database_pack(&database, &source, &bytes, &error);
    pm_stop_watch(NULL);
    assert_false(packed);
    assert_int_equal(error.code, PM_ERROR_STOPPED);
    pm_buffer_finish(&bytes);
    pm_arena_destroy(arena);
}

static void what_is_packed_is_found(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_buffer bytes;
    struct pm_error error = {0};
    for (uint32_t count = 0; count < 60; count += 7) {
        const struct pm_database database = make(arena, count);
        pack(&database, &bytes);
        for (int in_memory = 0; in_memory < 2; in_memory++) {
            struct pm_packed_database *packed =
                in_memory ? pm_packed_database_take(&bytes, &source, &error)
                          : pm_packed_database_map(path, &source, &error);
            assert_non_null(packed);
            for (uint32_t i = 0; i < count; i++)
                assert_finds(packed, &database.shaders[i]);
            struct pm_shader_estimates found;
            const struct pm_shader_key absent = {{0}};
            assert_false(pm_packed_database_find(packed, &absent, &(struct pm_environment){32},
                                                 PM_KIND_BLOCK, &found));
            pm_packed_database_close(packed);
        }
        pm_buffer_finish(&bytes);
    }
    struct pm_packed_source other = source;
    other.nanoseconds++;
    assert_null(pm_packed_database_map(path, &other, &error));
    assert_int_equal(error.code, PM_ERROR_STATE);
    pm_arena_destroy(arena);
}

/* Whatever bytes are flipped or lost, something is found or nothing. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_database database = make(arena, 12);
    struct pm_buffer bytes, damaged;
    struct pm_random random;
    pm_random_init(&random, 5);
    pack(&database, &bytes);
    for (int round = 0; round < 4000; round++) {
        pm_buffer_init(&damaged, (size_t)256 << 20);
        const uint32_t size =
            round % 4 == 0 ? pm_random_below(&random, (uint32_t)bytes.size) : (uint32_t)bytes.size;
        assert_true(pm_buffer_append(&damaged, bytes.data, size));
        for (int flips = 0; size > 0 && flips < 3; flips++)
            damaged.data[pm_random_below(&random, size < 1500 ? size : 1500)] ^=
                (unsigned char)(1u << pm_random_below(&random, 8));
        struct pm_packed_database *packed = pm_packed_database_take(&damaged, &source, NULL);
        for (uint32_t i = 0; packed && i < database.shader_count; i++) {
            const struct pm_shader_estimates *shader = &database.shaders[i];
            struct pm_shader_estimates found;
            (void)pm_packed_database_find(packed, &shader->key, &shader->environment, shader->kind,
                                          &found);
            pm_shader_estimates_finish(&found);
        }
        pm_packed_database_close(packed);
        pm_buffer_finish(&damaged);
    }
    pm_buffer_finish(&bytes);
    pm_arena_destroy(arena);
}

static void opening_costs_nearly_nothing(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_database database = make(arena, 4500);
    struct pm_buffer bytes;
    struct pm_error error = {0};
    pack(&database, &bytes);
    print_message("%zu bytes\n", bytes.size);
    pm_buffer_finish(&bytes);
    const int64_t before = resident_bytes();
    const int64_t began = pm_used_by_thread();
    struct pm_packed_database *packed = pm_packed_database_map(path, &source, &error);
    const int64_t took = pm_used_by_thread() - began;
    assert_non_null(packed);
    assert_true(pm_packed_database_has(packed, PM_KIND_ZERO));
    assert_true(took < 2 * PM_SECOND / 1000);
    const int64_t opened = resident_bytes() - before;
    print_message("%ld KiB, %ld us\n", (long)(opened / 1024), (long)(took / 1000));
    assert_true(opened < 1 << 20);
    assert_finds(packed, &database.shaders[1234]);
    pm_packed_database_close(packed);
    pm_arena_destroy(arena);
}

/* Who has the file mapped still finds what it had: a smaller one takes its place by rename. A file
 * cut short instead would end the process with SIGBUS. */
static void one_that_is_mapped_is_replaced(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_database large = make(arena, 4500), small = make(arena, 1);
    struct pm_buffer bytes;
    struct pm_error error = {0};
    pack(&large, &bytes);
    pm_buffer_finish(&bytes);
    struct pm_packed_database *before = pm_packed_database_map(path, &source, &error);
    assert_non_null(before);
    pack(&small, &bytes);
    pm_buffer_finish(&bytes);
    struct pm_packed_database *after = pm_packed_database_map(path, &source, &error);
    assert_non_null(after);
    for (uint32_t i = 0; i < large.shader_count; i++)
        assert_finds(before, &large.shaders[i]);
    assert_finds(after, &small.shaders[0]);
    assert_false(pm_packed_database_has_of(after, &large.shaders[4499].key,
                                           &large.shaders[4499].environment,
                                           large.shaders[4499].kind));
    pm_packed_database_close(before);
    pm_packed_database_close(after);
    pm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stops_when_asked),
        cmocka_unit_test_setup_teardown(what_is_packed_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_does_no_harm, set_up, tear_down),
        cmocka_unit_test_setup_teardown(opening_costs_nearly_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_mapped_is_replaced, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
