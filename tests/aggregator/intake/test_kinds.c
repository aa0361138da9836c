/* Profiles of the other kinds and flags: zero candidates, timings, and those that stand in for
 * others.
 */
#include "tests/aggregator/place.h"

#include <math.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    struct place *place = place_create(42);
    place_reopen(place, false);
    *state = place;
    return 0;
}

static void test_occluded_profiles_stand_in(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts both[] = {block_counts(0, 100, 100), block_counts(1, 100, 50)};
    struct pm_shader_profile occluded = block_shader(place->arena, 1, 2, both, 2);
    occluded.flags = PM_PROFILE_OCCLUDED;
    place_reopen(place, true);
    place_store(place, place_profile(place, &occluded));
    const struct pm_point_counts half[] = {block_counts(0, 100, 100)};
    struct pm_shader_profile plain = block_shader(place->arena, 1, 2, half, 1);
    place_store(place, place_profile(place, &plain));
    struct pm_database database = place_estimates(place);
    assert_int_equal(database.shader_count, 1);
    assert_int_equal(database.shaders[0].flags, PM_PROFILE_OCCLUDED);
    assert_int_equal(database.shaders[0].points[0].sessions, 2);
    /* Once the others cover it, they alone count. */
    const struct pm_point_counts other[] = {block_counts(1, 100, 10)};
    plain = block_shader(place->arena, 1, 2, other, 1);
    place_store(place, place_profile(place, &plain));
    database = place_estimates(place);
    assert_int_equal(database.shaders[0].flags, 0);
    assert_int_equal(database.shaders[0].points[0].sessions, 1);
    assert_true(database.shaders[0].points[1].measures[PM_MEASURE_FREQUENCY].ratio == 0.1);
}

static void test_zero_profiles(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    /* Candidate 0 is zero in three writes of four, in a loop; 1 is never written. */
    const struct pm_point_counts points[] = {zero_counts(0, 64, 32, 24), zero_counts(1, 64, 0, 0)};
    const struct pm_shader_profile shader = zero_shader(place->arena, 1, 2, points, 2);
    for (int i = 0; i < 19; i++)
        place_store(place, place_profile(place, &shader));
    struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shaders[0].kind, PM_KIND_ZERO);
    assert_true(lacks(&database.shaders[0], 1));
    for (int i = 0; i < 400 && !database.shaders[0].published; i++) {
        place_store(place, place_profile(place, &shader));
        database = place_published(place, "game", etag);
    }
    assert_true(database.shaders[0].published);
    const struct pm_point_estimate *known = database.shaders[0].points;
    assert_true(known[0].measures[PM_MEASURE_ZERO].ratio == 0.75);
    assert_true(known[0].measures[PM_MEASURE_ZERO].ratio_high <= 1);
    assert_true(known[0].measures[PM_MEASURE_WRITES].ratio == 4);
    assert_int_equal(known[1].measures[PM_MEASURE_ZERO].clusters, 0);
    assert_true(known[1].measures[PM_MEASURE_WRITES].ratio == 0);
    assert_true(known[1].measures[PM_MEASURE_WRITES].clusters > 19);

    /* --local: one entry covers both. */
    place_reopen(place, true);
    const struct pm_shader_profile other = zero_shader(place->arena, 2, 2, points, 2);
    place_store(place, place_profile(place, &other));
    database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 2);
    assert_true(database.shaders[0].published && database.shaders[1].published);

    /* Block and zero profiles of one shader are two. */
    const struct pm_point_counts block = block_counts(0, 8, 8);
    const struct pm_shader_profile blocks = block_shader(place->arena, 1, 7, &block, 1);
    place_store(place, place_profile(place, &blocks));
    assert_int_equal(place_published(place, "game", etag).shader_count, 3);
    struct pm_point_counts wrong = zero_counts(0, 64, 32, 33);
    const struct pm_shader_profile refused = zero_shader(place->arena, 1, 2, &wrong, 1);
    place_refuses(place, place_profile(place, &refused), "zero_writes: 33 is above writes, 32");
}

/* Counted as blocks are, and a profile of its own. */
static void test_turns_of_loops(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    const struct pm_point_counts points[] = {block_counts(0, 64, 64), block_counts(1, 64, 48),
                                             block_counts(2, 64, 0)};
    const struct pm_shader_profile blocks = block_shader(place->arena, 1, 3, points, 3);
    struct pm_shader_profile turns = blocks;
    turns.kind = PM_KIND_TURNS;
    place_reopen(place, true);
    for (int i = 0; i < 30; i++) {
        place_store(place, place_profile(place, &turns));
        place_store(place, place_profile(place, &blocks));
    }
    const struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 2);
    const struct pm_shader_estimates *known =
        pm_database_find(&database, &turns.key, &turns.environment, PM_KIND_TURNS);
    assert_non_null(known);
    assert_true(known->published && known->points[2].measures[PM_MEASURE_FREQUENCY].ratio == 0);
    assert_true(known->points[1].measures[PM_MEASURE_FREQUENCY].ratio == 0.75);
    /* What cannot be. */
    struct pm_point_counts wrong = block_counts(0, 64, 32);
    wrong.counts[PM_BLOCK_UNIFORM_LANES] = 33;
    turns.points = &wrong;
    turns.point_count = 1;
    place_refuses(place, place_profile(place, &turns), "uniform_lanes: 33 is above lanes, 32");
}

static void test_profiles_without_quads_stand_in(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    place_reopen(place, true);
    const struct pm_point_counts points[] = {zero_counts(0, 64, 8, 2), zero_counts(1, 64, 0, 0)};
    struct pm_shader_profile without = zero_shader(place->arena, 1, 2, points, 2);
    without.flags = PM_PROFILE_NO_QUADS;
    place_store(place, place_profile(place, &without));
    struct pm_database database = place_published(place, "game", etag);
    assert_true(database.shaders[0].published);
    assert_int_equal(database.shaders[0].flags, PM_PROFILE_NO_QUADS);
    assert_ptr_equal(pm_database_find(&database, &without.key, &without.environment, PM_KIND_ZERO),
                     &database.shaders[0]);
    /* A device that counts both tells how often the second is written. */
    const struct pm_point_counts full[] = {zero_counts(0, 64, 8, 4), zero_counts(1, 64, 8, 8)};
    const struct pm_shader_profile with = zero_shader(place->arena, 1, 2, full, 2);
    place_store(place, place_profile(place, &with));
    database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 1);
    assert_int_equal(database.shaders[0].flags, 0);
    assert_true(database.shaders[0].points[0].measures[PM_MEASURE_ZERO].ratio == 0.5);
    assert_true(database.shaders[0].points[1].measures[PM_MEASURE_WRITES].ratio == 1);
}

/* How sure trials were is told beside what they found, and decides nothing. Clients before did not
 * say it: theirs are not taken for sure ones. */
static void test_spreads_of_timings(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    struct pm_shader_profile shader = timing_shader(place->arena, 1, 8, 1000, 500);
    struct pm_point_counts point = shader.points[0];
    shader.points = &point;
    place_reopen(place, true);
    place_store(place, place_profile(place, &shader));
    struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shaders[0].points[0].measures[PM_MEASURE_SPREAD].clusters, 0);
    for (uint64_t spread = 20; spread <= 60; spread += 40) {
        point.counts[PM_TIMING_SPREAD] = spread;
        place_store(place, place_profile(place, &shader));
    }
    database = place_published(place, "game", etag);
    const struct pm_ratio *measures = database.shaders[0].points[0].measures;
    assert_int_equal(measures[PM_MEASURE_TIME].clusters, 3);
    assert_true(measures[PM_MEASURE_TIME].ratio == 0.5);
    assert_int_equal(measures[PM_MEASURE_SPREAD].clusters, 2);
    assert_true(fabs(measures[PM_MEASURE_SPREAD].mean - 0.04) < 1e-6);
    /* The wildest spread does not keep back what is known of the time. */
    point.counts[PM_TIMING_SPREAD] = 0;
    place_reopen(place, false);
    for (int i = 0; i < 60; i++)
        place_store(place, place_profile(place, &shader));
    for (uint64_t i = 0; i < 4; i++) {
        point.counts[PM_TIMING_SPREAD] = i % 2 == 0 ? 1 : 100000;
        place_store(place, place_profile(place, &shader));
    }
    database = place_published(place, "game", etag);
    assert_true(database.shaders[0].published);
    /* What cannot be. */
    point.counts[PM_TIMING_ORIGINAL] = point.counts[PM_TIMING_VARIANT] = 0;
    place_refuses(place, place_profile(place, &shader), "spread");
}

static void test_timing_profiles(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    const struct pm_shader_profile few = timing_shader(place->arena, 1, 7, 7000, 3500);
    place_store(place, place_profile(place, &few));
    place_reopen(place, true);
    struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shaders[0].kind, PM_KIND_TIMING);
    assert_int_equal(database.shaders[0].environment.vendor_id, 0x10005);
    assert_false(database.shaders[0].published);
    const struct pm_shader_profile one = timing_shader(place->arena, 1, 1, 1000, 500);
    place_store(place, place_profile(place, &one));
    database = place_published(place, "game", etag);
    assert_true(database.shaders[0].published);
    assert_int_equal(database.shaders[0].points[0].calls, 8);
    assert_true(database.shaders[0].points[0].measures[PM_MEASURE_TIME].ratio == 0.5);
    /* Two sessions on one machine prove nothing. */
    assert_true(database.shaders[0].points[0].measures[PM_MEASURE_TIME].mean_high > 1);
    /* Another driver has its own. */
    struct pm_shader_profile other = timing_shader(place->arena, 1, 9, 1000, 2000);
    other.environment.driver_version = 2;
    place_store(place, place_profile(place, &other));
    database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 2);
    assert_true(database.shaders[1].points[0].measures[PM_MEASURE_TIME].ratio == 2);
    const struct pm_shader_profile wrong = timing_shader(place->arena, 1, 9, 0, 2000);
    place_refuses(place, place_profile(place, &wrong), "original_ns");

    /* Many do; and without --local they are published only then. */
    place_reopen(place, false);
    database = place_published(place, "game", etag);
    assert_false(
        pm_database_find(&database, &few.key, &few.environment, PM_KIND_TIMING)->published);
    for (int i = 0; i < 60; i++)
        place_store(place, place_profile(place, &few));
    database = place_published(place, "game", etag);
    const struct pm_shader_estimates *many =
        pm_database_find(&database, &few.key, &few.environment, PM_KIND_TIMING);
    assert_true(many && many->published);
    assert_true(many->points[0].measures[PM_MEASURE_TIME].mean_high < 1);
    many = pm_database_find(&database, &other.key, &other.environment, PM_KIND_TIMING);
    assert_false(many->published);
}

/* Two players count all, and eight lanes alone, who enter the block twice as often: how often it
 * runs is of all ten, the share of whole subgroups of the two. */
static void test_lanes_alone(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    place_reopen(place, true);
    for (int i = 0; i < 10; i++) {
        const struct pm_point_counts points[] = {
            i < 2 ? block_counts(0, 80, 80) : alone_counts(0, 80, 80),
            i < 2 ? block_counts(1, 80, 24) : alone_counts(1, 80, 48),
            i < 2 ? block_counts(2, 80, 0) : alone_counts(2, 80, 0)};
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 3, points, 3);
        place_store(place, place_profile(place, &shader));
    }
    /* And a shader of which nobody counted more. */
    const struct pm_point_counts alone[] = {alone_counts(0, 80, 80), alone_counts(1, 80, 0)};
    const struct pm_shader_profile other = block_shader(place->arena, 2, 2, alone, 2);
    place_store(place, place_profile(place, &other));
    const struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pm_shader_estimates *shader = &database.shaders[i];
        const bool mixed = shader->space == 3;
        assert_true(shader->published);
        const struct pm_ratio *of = shader->points[mixed].measures;
        const struct pm_point_estimate *never = &shader->points[shader->space - 1];
        assert_int_equal(of[PM_MEASURE_FREQUENCY].clusters, mixed ? 10 : 1);
        assert_int_equal(of[PM_MEASURE_UNIFORM].clusters, mixed ? 2 : 0);
        assert_int_equal(of[PM_MEASURE_SUBGROUPS].clusters, mixed ? 2 : 0);
        assert_true(fabs(of[PM_MEASURE_FREQUENCY].ratio - (mixed ? 0.54 : 1)) < 1e-6);
        assert_true(of[PM_MEASURE_UNIFORM].ratio == (mixed ? 0.5 : 0));
        assert_true(fabs(of[PM_MEASURE_SUBGROUPS].ratio - (mixed ? 0.3 : 0)) < 1e-6);
        assert_int_equal(pm_block_uniformity_is_known(&shader->points[0]), mixed);
        assert_int_equal(pm_block_is_uniform(&shader->points[0], 0.4), mixed);
        assert_true(pm_block_uniformity_is_known(never) && pm_block_is_uniform(never, 1));
    }
    /* Nobody knows of these which were of whole subgroups. */
    struct pm_point_counts lie = alone_counts(0, 80, 80);
    lie.counts[PM_BLOCK_UNIFORM_LANES] = 80;
    const struct pm_shader_profile liar = block_shader(place->arena, 1, 3, &lie, 1);
    place_refuses(place, place_profile(place, &liar), "and yet it has counts");
}

/* A session's parts, each with what it added to the loads of the most frequent value. */
static void test_constant_profiles(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    place_reopen(place, true);
    struct pm_point_counts points[] = {
        {.point = 0, .calls = 2, .entry_lanes = 80, .entry_subgroups = 10, .counts = {40, 30, 10}},
        {.point = 1, .calls = 2, .entry_lanes = 80, .entry_subgroups = 10, .counts = {0, 0, 0}},
    };
    struct pm_shader_profile shader = block_shader(place->arena, 1, 2, points, 2);
    shader.kind = PM_KIND_CONSTANT;
    place_store(place, place_profile(place, &shader));
    struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 1);
    assert_int_equal(database.shaders[0].kind, PM_KIND_CONSTANT);
    assert_true(database.shaders[0].published);
    const struct pm_point_estimate *known = database.shaders[0].points;
    assert_true(known[0].measures[PM_MEASURE_SAME].ratio == 0.75);
    assert_true(known[0].measures[PM_MEASURE_SAME].ratio_high <= 1);
    assert_true(known[0].measures[PM_MEASURE_SAME_ZERO].ratio == 0.25);
    assert_true(known[0].measures[PM_MEASURE_LOADS].ratio == 4);
    assert_int_equal(known[1].measures[PM_MEASURE_SAME].clusters, 0);
    assert_true(known[1].measures[PM_MEASURE_LOADS].ratio == 0);
    /* What no session can have. */
    points[0].counts[PM_CONSTANT_SAME] = 41;
    struct pm_error error = {0};
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    shader = block_shader(place->arena, 1, 2, points, 2);
    shader.kind = PM_KIND_CONSTANT;
    assert_false(pm_statistics_add_profile(&statistics, &shader, &error));
    assert_non_null(strstr(error.message, "same: 41 is above loads"));
    pm_statistics_finish(&statistics);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_occluded_profiles_stand_in),
        TEST(test_zero_profiles),
        TEST(test_lanes_alone),
        TEST(test_turns_of_loops),
        TEST(test_profiles_without_quads_stand_in),
        TEST(test_timing_profiles),
        TEST(test_spreads_of_timings),
        TEST(test_constant_profiles),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
