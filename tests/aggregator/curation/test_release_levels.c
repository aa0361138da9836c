/* What is published of shaders that are not known well enough: levels of zeros, and only where
 * there is room beside what is published already. */
#include "aggregator/aggregator.h"
#include "aggregator/curation/curate.h"
#include "tests/aggregator/curation/released.h"
#include "tests/cmocka_includes.h"
#include <string.h>

/* Three points, of which point 0 is always zero, point 1 never, and point 2 was not measured: so
 * there is no estimate. */
static void send_zeros(struct place *place, uint8_t token)
{
    const struct pm_point_counts points[] = {zero_counts(0, 64, 16, 16), zero_counts(1, 64, 16, 0)};
    const struct pm_shader_profile shader = zero_shader(place->arena, 4, 3, points, 2);
    release_send_shader(place, token, &shader);
}

struct levels {
    unsigned shaders;
    bool known;
    uint8_t levels[3];
};

static bool note_levels(void *user, const struct pm_judged *judged, struct pm_error *error)
{
    struct levels *levels = user;
    (void)error;
    levels->shaders++;
    levels->known = judged->shader->provisional != NULL;
    if (levels->known)
        memcpy(levels->levels, judged->shader->provisional, sizeof(levels->levels));
    return true;
}

/* What an operator is shown of the zeros. */
static struct levels shown_levels(struct place *place)
{
    const struct pm_shader_key key = key_of(4);
    struct levels levels = {0};
    struct pm_error error;
    if (!pm_curate_read_shader(pm_aggregator_curator(place->aggregator), "game", &key, note_levels,
                               &levels, &error))
        fail_msg("%s", error.message);
    assert_int_equal(levels.shaders, 1);
    return levels;
}

/* Levels come with as many tokens as publishing asks for, and nothing shows before. Then they stay
 * as all that is published does. */
static void test_provisional(void **state)
{
    struct place *place = *state;
    struct release_view views[3];
    for (uint8_t i = 1; i < RELEASE_TOKENS; i++) {
        release_send(place, i, 32);
        send_zeros(place, i);
    }
    release_send(place, RELEASE_TOKENS, 32);
    release_look(place, &views[0]);
    assert_null(release_shader_of(place, &views[0], 4));
    assert_non_null(release_shader_of(place, &views[0], 2));
    assert_null(release_shader_of(place, &views[0], 2)->provisional); /* of a block nothing is */
    assert_false(shown_levels(place).known);
    send_zeros(place, RELEASE_TOKENS);
    place->now += HOUR;
    release_look(place, &views[1]);
    const struct pm_shader_estimates *zeros = release_shader_of(place, &views[1], 4);
    assert_non_null(zeros);
    assert_false(zeros->published);
    assert_null(zeros->points);
    const uint8_t levels[] = {PM_PROVISIONAL_LIKELY, PM_PROVISIONAL_UNLIKELY,
                              PM_PROVISIONAL_UNKNOWN};
    assert_non_null(zeros->provisional);
    assert_memory_equal(zeros->provisional, levels, sizeof(levels));
    const struct levels shown = shown_levels(place);
    assert_true(shown.known);
    assert_memory_equal(shown.levels, levels, sizeof(levels));
    for (uint8_t i = 20; i < 30; i++)
        send_zeros(place, i);
    place->now += HOUR;
    release_look(place, &views[2]);
    assert_true(release_is_same(&views[1], &views[2], 0));
    for (int i = 0; i < 3; i++)
        release_view_finish(&views[i]);
}

/* A shader of `space` points, blocks or zeros, by as many as publishing asks for. */
static void send_whole(struct place *place, uint64_t number, enum pm_kind kind, uint32_t space)
{
    struct pm_point_counts *points = pm_arena_zalloc(place->arena, space, sizeof(*points));
    assert_non_null(points);
    for (uint32_t i = 0; i < space; i++)
        points[i] = kind == PM_KIND_ZERO ? zero_counts(i, 64, 16, 16) : block_counts(i, 64, 32);
    const struct pm_shader_profile shader =
        kind == PM_KIND_ZERO ? zero_shader(place->arena, number, space, points, space)
                             : block_shader(place->arena, number, space, points, space);
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        release_send_shader(place, (uint8_t)(number * RELEASE_TOKENS + i), &shader);
}

/* What stays as it was takes more than what is known of it now: there has to be room for it, before
 * what is new. */
static void test_room_for_what_stays(void **state)
{
    struct place *place = *state;
    struct release_view before, after;
    place->keeping.database_bytes = 14 << 10;
    place->keeping.publish_all = true;
    place_open(place);
    send_whole(place, 1, PM_KIND_BLOCK, 100);
    release_look(place, &before);
    assert_true(release_shader_of(place, &before, 1)->published);
    place->now += DAY;
    place->keeping.publish_all = false;
    place->keeping.half_width_absolute = 0.001; /* from now on all lacks something */
    place->keeping.half_width_relative = 0.001;
    place_open(place);
    send_whole(place, 2, PM_KIND_ZERO, 4000);
    send_whole(place, 3, PM_KIND_ZERO, 2000);
    release_look(place, &after);
    struct pm_buffer plain;
    pm_buffer_init(&plain, 1 << 20);
    assert_true(pm_decompress(after.bodies[0].data, after.bodies[0].size, &plain, NULL));
    assert_true(plain.size <= place->keeping.database_bytes);
    pm_buffer_finish(&plain);
    assert_true(release_shader_of(place, &after, 1)->published);
    assert_null(release_shader_of(place, &after, 2));
    assert_non_null(release_shader_of(place, &after, 3));
    release_view_finish(&before);
    release_view_finish(&after);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, release_set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_provisional),
        TEST(test_room_for_what_stays),
    };
    return cmocka_run_group_tests_name("release_levels", tests, NULL, NULL);
}
