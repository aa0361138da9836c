#include "profile/races.h"
#include "profile/variant_point.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <string.h>

enum { RACES = 5, VARIANTS = 3 };

static struct pm_races make(struct pm_arena *arena)
{
    struct pm_race *races = pm_arena_zalloc(arena, RACES, sizeof *races);
    for (uint32_t i = 0; i < RACES; i++) {
        struct pm_race_variant *variants = pm_arena_zalloc(arena, VARIANTS, sizeof *variants);
        for (uint32_t v = 0; v < VARIANTS; v++) {
            const struct pm_variant_id id = {.first = {v + 1, 1}};
            assert_true(pm_variant_point(&id, &variants[v].point));
            variants[v].share = 0.25;
            variants[v].log_time = -0.125;
            variants[v].clusters = 10 * v;
            variants[v].lost = v == 2;
        }
        races[i].key.bytes[0] = (uint8_t)(i / 2);
        races[i].environment = (struct pm_environment){8, 5, i, 7, 8};
        races[i].as_of_day = 20000 + i;
        races[i].winner = i % 2 ? variants[1].point : 0;
        races[i].mean = -0.0625;
        races[i].low = -0.125;
        races[i].high = -0.03125;
        races[i].variants = variants;
        races[i].variant_count = VARIANTS;
    }
    return (struct pm_races){"a game", 1763600000, races, RACES};
}

static void round_trips(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_races races = make(arena);
    struct pm_races read;
    struct pm_buffer body;
    struct pm_error error = {0};
    pm_buffer_init(&body, PM_RACES_BODY_BYTES);
    assert_true(pm_races_body_encode(&races, &body, &error));
    assert_true(pm_races_body_decode(body.data, body.size, arena, &read, &error));
    assert_string_equal(read.game, "a game");
    assert_int_equal(read.judged_at, races.judged_at);
    assert_int_equal(read.race_count, RACES);
    for (size_t i = 0; i < RACES; i++) {
        const struct pm_race *a = &races.races[i], *b = &read.races[i];
        assert_int_equal(pm_race_compare(a, b), 0);
        assert_ptr_equal(pm_races_find(&read, &a->key, &a->environment), b);
        assert_int_equal(a->as_of_day, b->as_of_day);
        assert_int_equal(a->winner, b->winner);
        assert_true(fabs(a->mean - b->mean) + fabs(a->low - b->low) + fabs(a->high - b->high) <
                    1e-9);
        assert_int_equal(b->variant_count, VARIANTS);
        for (size_t v = 0; v < VARIANTS; v++)
            assert_memory_equal(&a->variants[v], &b->variants[v], sizeof a->variants[v]);
    }
    struct pm_environment other = races.races[0].environment;
    other.driver_version++;
    assert_null(pm_races_find(&read, &races.races[0].key, &other));
    assert_null(pm_races_find(NULL, &races.races[0].key, &other));
    assert_null(pm_race_find_variant(&read.races[0], 7));
    /* Cut short, or something else. */
    for (size_t size = 0; size < body.size; size += 3)
        assert_false(pm_races_body_decode(body.data, size, arena, &read, &error));
    pm_buffer_finish(&body);
    pm_arena_destroy(arena);
}

static void assert_refused(const struct pm_races *races, const char *why)
{
    struct pm_buffer body;
    struct pm_error error = {0};
    pm_buffer_init(&body, PM_RACES_BODY_BYTES);
    assert_false(pm_races_body_encode(races, &body, &error));
    if (!strstr(error.message, why))
        fail_msg("\"%s\", not \"%s\"", error.message, why);
    pm_buffer_finish(&body);
}

static void what_cannot_be(void **state)
{
    (void)state;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_races races = make(arena);
    struct pm_race *race = (struct pm_race *)(uintptr_t)races.races;
    struct pm_race_variant *variant = (struct pm_race_variant *)(uintptr_t)race->variants;
    race[1].environment = race[0].environment;
    assert_refused(&races, "race 1: is repeated or out of order");
    race[1].environment.device_id = 1;
    race->winner = 77;
    assert_refused(&races, "race 0: field winner is none of its variants");
    race->winner = 0;
    race->high = INFINITY;
    assert_refused(&races, "race 0: the winner's gain is not finite");
    race->high = 0;
    variant->share = 1.5;
    assert_refused(&races, "race 0: field share");
    variant->share = NAN;
    assert_refused(&races, "race 0: field share");
    variant->share = 0;
    variant->log_time = NAN;
    assert_refused(&races, "race 0: field log_time");
    variant->log_time = 0;
    variant[1].point = variant[0].point;
    assert_refused(&races, "race 0: field point is repeated");
    variant[1].point = 0;
    assert_refused(&races, "race 0: field point: no recipe");
    pm_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
