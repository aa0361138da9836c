/* What is published when: nobody's upload can be told from two publications. */
#include "aggregator/aggregator.h"
#include "tests/aggregator/curation/released.h"
#include "tests/cmocka_includes.h"

/* The attack: somebody pulls all that there is before and after one upload, at any time that he
 * likes. Nothing has changed: neither an estimate nor a count nor the deficit. */
static void test_one_upload_changes_nothing(void **state)
{
    struct place *place = *state;
    struct release_view before, after;
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        release_send(place, i, 32);
    release_look(place, &before);
    const struct pm_shader_estimates *first = release_shader_of(place, &before, 1);
    assert_non_null(first);
    assert_true(first->published);
    assert_true(first->lying.error > 0);
    assert_true(lacks(release_shader_of(place, &before, 2), 1));
    for (int hours = 0; hours < 60; hours += 5) {
        if (hours % 10 == 0)
            release_send(place, 9, 64);
        place->now = RELEASE_MORNING + hours * HOUR + 60;
        release_look(place, &after);
        for (int i = 0; i < 4; i++) {
            if (!release_is_same(&before, &after, i))
                fail_msg("after %d hours database %d is another", hours, i);
        }
        release_view_finish(&after);
    }
    release_view_finish(&before);
}

/* As many as publishing asks for, on one day, and then not more often than once an hour. */
static void test_new_contributors(void **state)
{
    struct place *place = *state;
    struct release_view views[4];
    for (uint8_t i = 1; i <= 2 * RELEASE_TOKENS; i++) /* more than on the days that follow */
        release_send(place, i, 32);
    release_look(place, &views[0]);
    place->now += DAY;
    release_send(place, 1, 64);
    release_send(place, 2, 64);
    release_look(place, &views[1]);
    assert_true(release_is_same(&views[0], &views[1], 0));
    release_send(place, 4, 64);
    release_look(place, &views[2]);
    assert_false(release_is_same(&views[0], &views[2], 0));
    assert_false(release_is_same(&views[0], &views[2], 2));
    assert_string_equal(views[2].etags[1], views[0].etags[0]);
    const struct pm_shader_estimates *second = release_shader_of(place, &views[2], 1);
    assert_true(second->points[0].measures[0].ratio > 0.6);
    assert_int_equal(second->as_of_day, 20001);
    /* The same day again: who came since the publication cannot be told from who came before it. */
    for (uint8_t i = 5; i < 15; i++)
        release_send(place, i, 64);
    place->now += 2 * HOUR;
    release_look(place, &views[3]);
    assert_true(release_is_same(&views[2], &views[3], 0));
    for (int i = 0; i < 4; i++)
        release_view_finish(&views[i]);
}

/* Where no token has to vouch, what is published follows what is known, day by day. */
static void test_without_tokens(void **state)
{
    struct place *place = *state;
    struct release_view views[3];
    place->keeping.min_tokens = 1;
    place_open(place);
    for (uint8_t i = 1; i <= 4; i++)
        release_send(place, i, 32);
    release_look(place, &views[0]);
    for (uint8_t i = 1; i <= 4; i++)
        release_send(place, 10 + i, 64);
    place->now += 2 * HOUR;
    release_look(place, &views[1]);
    assert_true(release_is_same(&views[0], &views[1], 0));
    place->now += DAY;
    release_look(place, &views[2]);
    assert_false(release_is_same(&views[0], &views[2], 0));
    const struct pm_shader_estimates *shader = release_shader_of(place, &views[2], 1);
    assert_non_null(shader);
    assert_true(shader->published);
    assert_true(shader->points[0].measures[0].mean > 0.6);
    assert_int_equal(shader->as_of_day, 20001);
    for (int i = 0; i < 3; i++)
        release_view_finish(&views[i]);
}

/* The points of shader 5 by a token. Those without flags leave point 1 to the others. */
static void send_flagged(struct place *place, uint8_t token, uint32_t flags, uint64_t lanes)
{
    const struct pm_point_counts points[] = {block_counts(0, 64, lanes), block_counts(1, 64, 32)};
    struct pm_shader_profile shader = block_shader(place->arena, 5, 2, points, flags != 0 ? 2 : 1);
    shader.flags = flags;
    release_send_shader(place, token, &shader);
}

/* What is judged together changes also when only those without flags are new. */
static void test_new_contributors_without_flags(void **state)
{
    struct place *place = *state;
    struct release_view views[2];
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++) {
        send_flagged(place, i, 0, 32);
        send_flagged(place, 10 + i, PM_PROFILE_OCCLUDED, 32);
    }
    release_look(place, &views[0]);
    const struct pm_shader_estimates *shader = release_shader_of(place, &views[0], 5);
    assert_non_null(shader);
    assert_int_equal(shader->flags, PM_PROFILE_OCCLUDED);
    place->now += DAY;
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        send_flagged(place, i, 0, 64);
    release_look(place, &views[1]);
    assert_false(release_is_same(&views[0], &views[1], 0));
    assert_int_equal(release_shader_of(place, &views[1], 5)->as_of_day, 20001);
    release_view_finish(&views[0]);
    release_view_finish(&views[1]);
}

/* Nothing is published twice within the hour, also what is new. */
static void test_once_an_hour(void **state)
{
    struct place *place = *state;
    struct release_view first, soon, later;
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        release_send(place, i, 32);
    release_look(place, &first);
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++) {
        const struct pm_point_counts point = block_counts(0, 64, 32);
        const struct pm_shader_profile shader = block_shader(place->arena, 3, 1, &point, 1);
        release_send_shader(place, (uint8_t)(20 + i), &shader);
    }
    place->now += HOUR - 1;
    release_look(place, &soon);
    assert_true(release_is_same(&first, &soon, 0));
    place->now += 1;
    release_look(place, &later);
    assert_false(release_is_same(&first, &later, 0));
    assert_non_null(release_shader_of(place, &later, 3));
    release_view_finish(&first);
    release_view_finish(&soon);
    release_view_finish(&later);
}

/* What an operator forgets is not published any longer. */
static void test_forgotten_at_once(void **state)
{
    struct place *place = *state;
    struct release_view view;
    struct pm_error error;
    uint64_t blobs;
    const struct pm_shader_key key = key_of(1);
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        release_send(place, i, 32);
    release_look(place, &view);
    release_view_finish(&view);
    if (!pm_aggregator_drop(place->aggregator, "game", &key, &blobs, &error))
        fail_msg("%s", error.message);
    release_look(place, &view);
    assert_null(release_shader_of(place, &view, 1));
    assert_non_null(release_shader_of(place, &view, 2));
    release_view_finish(&view);
}

/* A clock that was a year ahead holds nothing back once it is right. */
static void test_clock_that_was_ahead(void **state)
{
    struct place *place = *state;
    struct release_view ahead, right;
    place->now += 365 * (int64_t)DAY;
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        release_send(place, i, 32);
    release_look(place, &ahead);
    place->now = RELEASE_MORNING;
    for (uint8_t i = 1; i <= RELEASE_TOKENS; i++)
        release_send(place, i, 64);
    release_look(place, &right);
    assert_false(release_is_same(&ahead, &right, 0));
    release_view_finish(&ahead);
    release_view_finish(&right);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, release_set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_one_upload_changes_nothing),
        TEST(test_new_contributors),
        TEST(test_without_tokens),
        TEST(test_new_contributors_without_flags),
        TEST(test_once_an_hour),
        TEST(test_forgotten_at_once),
        TEST(test_clock_that_was_ahead),
    };
    return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
