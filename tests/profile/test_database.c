#include "base/random.h"
#include "base/stop.h"
#include "piecemeal.pb-c.h"
#include "profile/database.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHADERS = 50 };

static int by_key(const void *a, const void *b)
{
    return memcmp(((const struct pm_shader_estimates *)a)->key.bytes,
                  ((const struct pm_shader_estimates *)b)->key.bytes, PM_SHADER_KEY_BYTES);
}

static struct pm_database make(struct pm_arena *arena, uint64_t seed)
{
    struct pm_random random;
    pm_random_init(&random, seed);
    struct pm_shader_estimates *shaders = pm_arena_zalloc(arena, SHADERS, sizeof(*shaders));
    for (uint32_t s = 0; s < SHADERS; s++) {
        struct pm_shader_estimates *shader = &shaders[s];
        shader->key = pm_shader_key_compute("db", &s, 1);
        shader->environment.subgroup_size = 1u << pm_random_below(&random, 8);
        shader->kind = s % 7 == 0   ? PM_KIND_TIMING
                       : s % 3 == 0 ? PM_KIND_ZERO
                       : s % 5 == 0 ? PM_KIND_CONSTANT
                                    : PM_KIND_BLOCK;
        shader->space = shader->kind == PM_KIND_TIMING ? 1 : 1 + pm_random_below(&random, 70);
        if (shader->kind == PM_KIND_TIMING) {
            shader->environment.driver_version = pm_random_below(&random, UINT32_MAX);
            if (s % 2)
                shader->original = pm_shader_key_compute("original", &s, 1);
        } else if (shader->kind == PM_KIND_ZERO && s % 2) {
            shader->flags = PM_PROFILE_NO_QUADS;
            shader->candidates = shader->space + s;
        }
        shader->entry_lanes = pm_random_next(&random);
        shader->published = s % 4 != 0;
        if (shader->published) {
            struct pm_point_estimate *points =
                pm_arena_zalloc(arena, shader->space, sizeof(*points));
            for (uint32_t i = 0; i < shader->space; i++) {
                points[i].calls = pm_random_below(&random, 1000);
                points[i].sessions = pm_random_below(&random, 100);
                for (unsigned m = 0; m < pm_measure_count(shader->kind); m++) {
                    struct pm_ratio *ratio = &points[i].measures[m];
                    /* What a 32-bit float holds exactly. */
                    ratio->mean = (float)pm_random_unit(&random);
                    ratio->mean_low = -(float)(pm_random_unit(&random) * 1e38);
                    ratio->mean_high = (float)(pm_random_unit(&random) * 1e-30);
                    ratio->ratio = (float)pm_random_unit(&random);
                    ratio->ratio_low = (float)(1 / 3.0);
                    ratio->ratio_high = (double)m;
                    ratio->clusters = pm_random_below(&random, 500);
                }
            }
            shader->points = points;
            shader->lying = (struct pm_lying){s, s % 2 ? 0.25 : 0};
        }
        if (!shader->published && s % 8 == 0) {
            uint8_t *levels = pm_arena_zalloc(arena, shader->space, 1);
            for (uint32_t i = 0; i < shader->space; i++)
                levels[i] = (uint8_t)(i % 3);
            shader->provisional = levels;
        }
        if (s % 5) {
            uint8_t *deficit = pm_arena_zalloc(arena, (shader->space + 7) / 8, 1);
            for (uint32_t i = 0; i < shader->space; i += 3)
                deficit[i / 8] = (uint8_t)(deficit[i / 8] | 1u << (i % 8));
            shader->deficit = deficit;
        }
    }
    qsort(shaders, SHADERS, sizeof(*shaders), by_key);
    return (struct pm_database){"a game", 1763600000, shaders, SHADERS};
}

static void it_stops_when_asked(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_database database = make(arena, 1);
    struct pm_database back;
    struct pm_buffer wire;
    struct pm_error error = {0};
    const _Atomic bool asked = true;
    pm_buffer_init(&wire, 1 << 24);
    assert_true(pm_database_encode(&database, &wire, &error));
    pm_stop_watch(&asked);
    const bool decoded = pm_database_decode(wire.data, wire.size, arena, &back, &error);
    pm_stop_watch(NULL);
    assert_false(decoded);
    assert_int_equal(error.code, PM_ERROR_STOPPED);
    pm_buffer_finish(&wire);
    pm_arena_destroy(arena);
}

static void round_trips(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_database database = make(arena, 1), back;
    struct pm_buffer wire;
    struct pm_error error = {0};
    pm_buffer_init(&wire, 1 << 24);
    if (!pm_database_encode(&database, &wire, &error) ||
        !pm_database_decode(wire.data, wire.size, arena, &back, &error))
        fail_msg("%s", error.message);
    assert_string_equal(back.game, database.game);
    assert_true(back.curated_at == database.curated_at);
    assert_int_equal(back.shader_count, SHADERS);
    size_t most = 1024;
    for (size_t s = 0; s < SHADERS; s++) {
        const struct pm_shader_estimates *a = &database.shaders[s], *b = &back.shaders[s];
        most += pm_shader_estimates_bytes(a);
        assert_int_equal(a->flags, b->flags);
        assert_true(pm_shader_key_equal(&a->key, &b->key));
        assert_true(pm_shader_key_equal(&a->original, &b->original));
        assert_memory_equal(&a->environment, &b->environment, sizeof(a->environment));
        assert_int_equal(a->kind, b->kind);
        assert_int_equal(a->space, b->space);
        assert_int_equal(a->candidates, b->candidates);
        assert_int_equal(a->published, b->published);
        assert_true(a->entry_lanes == b->entry_lanes);
        assert_int_equal(a->lying.tokens, b->lying.tokens);
        assert_true(a->lying.error == b->lying.error);
        assert_int_equal(!a->deficit, !b->deficit);
        if (a->deficit)
            assert_memory_equal(a->deficit, b->deficit, (a->space + 7) / 8);
        assert_int_equal(!a->provisional, !b->provisional);
        if (a->provisional)
            assert_memory_equal(a->provisional, b->provisional, a->space);
        assert_int_equal(pm_provisional_count(a, PM_PROVISIONAL_LIKELY),
                         a->provisional ? (a->space + 1) / 3 : 0);
        assert_int_equal(!a->points, !b->points);
        for (uint32_t i = 0; a->points && i < a->space; i++) {
            assert_int_equal(a->points[i].calls, b->points[i].calls);
            assert_int_equal(a->points[i].sessions, b->points[i].sessions);
            for (int m = 0; m < PM_MEASURES; m++) {
                const struct pm_ratio *x = &a->points[i].measures[m],
                                      *y = &b->points[i].measures[m];
                assert_memory_equal(x, y, 6 * sizeof(double));
                assert_int_equal(x->clusters, y->clusters);
            }
        }
    }
    assert_true(wire.size <= most);
    pm_buffer_finish(&wire);
    pm_arena_destroy(arena);
}

/* As it was before there were spreads, so that nobody from then is kept from reading it. */
static void a_timing_without_a_spread_is_as_before(void **state)
{
    (void)state;
    for (uint32_t clusters = 0; clusters < 2; clusters++) {
        struct pm_arena *arena = pm_arena_create(0);
        struct pm_point_estimate point = {.calls = 8, .sessions = 1};
        point.measures[PM_MEASURE_TIME] = (struct pm_ratio){.mean = 0.5, .clusters = 1};
        point.measures[PM_MEASURE_SPREAD] =
            (struct pm_ratio){.mean = 0.25 * clusters, .clusters = clusters};
        const struct pm_shader_estimates timing = {.environment = {.subgroup_size = 8},
                                                   .kind = PM_KIND_TIMING,
                                                   .space = 1,
                                                   .published = true,
                                                   .points = &point};
        const struct pm_database database = {"a game", 1, &timing, 1};
        struct pm_database back;
        struct pm_buffer wire;
        struct pm_error error = {0};
        pm_buffer_init(&wire, 1 << 20);
        if (!pm_database_encode(&database, &wire, &error) ||
            !pm_database_decode(wire.data, wire.size, arena, &back, &error))
            fail_msg("%s", error.message);
        Piecemeal__Database *message = piecemeal__database__unpack(NULL, wire.size, wire.data);
        assert_int_equal(message->shaders[0]->n_clusters, 1 + clusters);
        assert_int_equal(message->shaders[0]->n_values, 6 * (1 + clusters));
        piecemeal__database__free_unpacked(message, NULL);
        const struct pm_ratio *measures = back.shaders[0].points[0].measures;
        assert_true(measures[PM_MEASURE_TIME].mean == 0.5);
        assert_int_equal(measures[PM_MEASURE_SPREAD].clusters, clusters);
        assert_true(measures[PM_MEASURE_SPREAD].mean == 0.25 * clusters);
        pm_buffer_finish(&wire);
        pm_arena_destroy(arena);
    }
}

/* Rounding keeps every interval around its estimate. */
static void floats_are_near_and_ordered(void **state)
{
    (void)state;
    struct pm_point_estimate point = {
        .measures = {{0.1, 0.1, 1 - 1e-12, 1e-9, 1e-9, 3.0000000001, 2}, {0.7, 0, 1, 0, 0, 1, 1}}};
    struct pm_shader_estimates shader = {.environment = {.subgroup_size = 8},
                                         .kind = PM_KIND_ZERO,
                                         .space = 1,
                                         .published = true,
                                         .points = &point};
    struct pm_database database = {"g", 0, &shader, 1}, back;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_buffer wire;
    pm_buffer_init(&wire, 4096);
    assert_true(pm_database_encode(&database, &wire, NULL));
    assert_true(pm_database_decode(wire.data, wire.size, arena, &back, NULL));
    for (unsigned m = 0; m < PM_MEASURES; m++) {
        const struct pm_ratio *was = &point.measures[m],
                              *is = &back.shaders[0].points[0].measures[m];
        assert_true(fabs(is->mean - was->mean) <= 1e-7 * was->mean);
        assert_true(fabs(is->ratio - was->ratio) <= 1e-7 * was->ratio);
        assert_true(is->mean_low <= is->mean && is->mean <= is->mean_high);
        assert_true(is->ratio_low <= is->ratio && is->ratio <= is->ratio_high);
        assert_int_equal(is->clusters, was->clusters);
    }
    pm_buffer_finish(&wire);
    pm_arena_destroy(arena);
}

/* A game loads it: neither written nor read when it is larger than a game should have to. */
static void size_is_bounded(void **state)
{
    (void)state;
    struct pm_shader_estimates shader = {.environment = {.subgroup_size = 8},
                                         .kind = PM_KIND_BLOCK,
                                         .space = 500000,
                                         .published = true};
    shader.points = calloc(shader.space, sizeof(*shader.points));
    struct pm_database database = {"g", 0, &shader, 1};
    struct pm_buffer wire;
    struct pm_error error;
    pm_buffer_init(&wire, (size_t)1 << 30);
    assert_false(pm_database_encode(&database, &wire, &error));
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    assert_int_equal(wire.size, 0);
    shader.space = 300000;
    if (!pm_database_encode(&database, &wire, &error))
        fail_msg("%s", error.message);
    struct pm_arena *arena = pm_arena_create(0);
    assert_true(pm_database_decode(wire.data, wire.size, arena, &database, &error));
    assert_false(pm_database_decode(wire.data, PM_DATABASE_BYTES + 1, arena, &database, &error));
    assert_non_null(strstr(error.message, "more than"));
    pm_arena_destroy(arena);
    pm_buffer_finish(&wire);
    free((void *)shader.points);
}

static void finds_what_is_there_and_nothing_else(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_database database = make(arena, 2);
    for (size_t s = 0; s < SHADERS; s++) {
        const struct pm_shader_estimates *shader = &database.shaders[s];
        assert_ptr_equal(
            pm_database_find(&database, &shader->key, &shader->environment, shader->kind), shader);
        struct pm_environment other = shader->environment;
        other.subgroup_size *= 2;
        assert_null(pm_database_find(&database, &shader->key, &other, shader->kind));
        assert_null(pm_database_find(&database, &shader->key, &shader->environment,
                                     shader->kind % PM_KIND_TIMING + 1));
    }
    struct pm_shader_key absent = {{0xFF, 0xFF, 0xFF}};
    struct pm_environment environment = {.subgroup_size = 8};
    assert_null(pm_database_find(&database, &absent, &environment, PM_KIND_BLOCK));
    database.shader_count = 0;
    assert_null(pm_database_find(&database, &absent, &environment, PM_KIND_BLOCK));
    pm_arena_destroy(arena);
}

static void refuses(const struct pm_database *database, const char *why)
{
    struct pm_buffer wire;
    struct pm_error error;
    pm_buffer_init(&wire, 1 << 24);
    assert_false(pm_database_encode(database, &wire, &error));
    assert_string_equal(error.message, why);
    pm_buffer_finish(&wire);
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    struct pm_point_estimate points[2] = {0};
    uint8_t deficit = 4;
    struct pm_shader_estimates shaders[2] = {{.environment = {.subgroup_size = 8},
                                              .kind = PM_KIND_BLOCK,
                                              .space = 2,
                                              .published = true,
                                              .points = points}};
    struct pm_database database = {"g", 0, shaders, 1};
    points[1].measures[2].ratio_high = (double)INFINITY;
    refuses(&database, "database: shader 0: point 1: measure 2 is not finite");
    points[1].measures[2].ratio_high = 1e39;
    refuses(&database, "database: shader 0: point 1: measure 2 is not finite");
    points[1].measures[2].ratio_high = (double)NAN;
    refuses(&database, "database: shader 0: point 1: measure 2 is not finite");
    points[1].measures[2].ratio_high = 0;
    shaders[0].lying.error = (double)NAN;
    refuses(&database, "database: shader 0: field lying_error is not from 0 to 1");
    shaders[0].lying.error = 1.5;
    refuses(&database, "database: shader 0: field lying_error is not from 0 to 1");
    shaders[0].lying.error = 0;
    shaders[0].deficit = &deficit;
    refuses(&database, "database: shader 0: field deficit has bits outside its space of 2");
    shaders[0].deficit = NULL;
    shaders[0].published = false;
    refuses(&database, "database: shader 0: is not published, but has the estimates of its points");
    shaders[0].published = true;
    uint8_t levels[] = {2, 3};
    shaders[0].provisional = levels;
    refuses(&database, "database: shader 0: is published and provisional");
    shaders[0].published = false;
    shaders[0].points = NULL;
    refuses(&database, "database: shader 0: point 1: field provisional is 3, more than 2");
    shaders[0].published = true;
    shaders[0].points = points;
    shaders[0].provisional = NULL;
    shaders[0].original.bytes[3] = 1;
    refuses(&database,
            "database: shader 0: field original is there, which only timing profiles may have");
    shaders[0].original.bytes[3] = 0;
    shaders[0].candidates = 2;
    refuses(&database,
            "database: shader 0: field candidates is there, which only zero profiles may have");
    shaders[0].kind = PM_KIND_ZERO;
    shaders[0].candidates = 1;
    refuses(&database, "database: shader 0: field candidates is below space");
    shaders[0].candidates = 2 + (1u << PM_LEFT_OUT_BITS);
    refuses(&database, "database: shader 0: field candidates is far above space");
    shaders[0].kind = PM_KIND_BLOCK;
    shaders[0].candidates = 0;
    shaders[1] = shaders[0];
    database.shader_count = 2;
    refuses(&database, "database: shader 1: is repeated or out of order");
    shaders[0].key.bytes[0] = 1;
    refuses(&database, "database: shader 1: is repeated or out of order");
    database.shader_count = 1;
    database.game = "";
    refuses(&database, "database: field game is empty");
    database.game = "..";
    refuses(&database, "database: field game is \"..\", which no path can have");
}

/* However a database is damaged, decoding ends with an answer, and what it accepts is sound. */
static void damaged_databases_are_survived(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_database database = make(arena, 3);
    struct pm_buffer wire;
    struct pm_random random;
    struct pm_error error;
    pm_buffer_init(&wire, 1 << 24);
    pm_random_init(&random, 4);
    assert_true(pm_database_encode(&database, &wire, &error));
    size_t accepted = 0;
    for (int i = 0; i < 4000; i++) {
        size_t size = i % 2 ? wire.size : pm_random_below(&random, (uint32_t)wire.size);
        uint32_t at = pm_random_below(&random, (uint32_t)wire.size);
        unsigned char saved = wire.data[at];
        wire.data[at] = (unsigned char)pm_random_next(&random);
        struct pm_arena *scratch = pm_arena_create(0);
        struct pm_database back;
        if (pm_database_decode(wire.data, size, scratch, &back, &error)) {
            accepted++;
            for (size_t s = 0; s < back.shader_count; s++)
                assert_true(!back.shaders[s].points == !back.shaders[s].published);
        }
        pm_arena_destroy(scratch);
        wire.data[at] = saved;
    }
    assert_true(accepted > 0);
    pm_buffer_finish(&wire);
    pm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_stops_when_asked),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(a_timing_without_a_spread_is_as_before),
        cmocka_unit_test(floats_are_near_and_ordered),
        cmocka_unit_test(size_is_bounded),
        cmocka_unit_test(finds_what_is_there_and_nothing_else),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(damaged_databases_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
