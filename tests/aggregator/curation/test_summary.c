#include "aggregator/curation/summary.h"

#include "aggregator/service/service_summaries.h"
#include "tests/aggregator/place.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

static int set_up(void **state)
{
    struct place *place = place_create(7);
    place->now = 1000000000;
    place_open(place);
    *state = place;
    return 0;
}

static void upload(struct place *place, const char *game, const struct pm_shader_profile *shaders,
                   size_t count)
{
    const struct pm_profile *profile =
        profile_of(place->arena, &place->random, game, shaders, count);
    place_store(place, profile);
}

static struct pm_summary *summarize(struct place *place, const struct pm_summary *previous)
{
    struct pm_summary *summary;
    struct pm_error error;
    if (!pm_summary_curate(pm_aggregator_curator(place->aggregator), "game", previous, &summary,
                           &error))
        fail_msg("%s", error.message);
    return summary;
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, not %.12g", value, expected);
}

/* The summary has what the estimates have, the hottest first. */
static void test_shaders(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts cold[] = {block_counts(1, 80, 40)};
    const struct pm_point_counts hot[] = {block_counts(0, 800, 400), block_counts(2, 800, 0)};
    const struct pm_shader_profile shaders[] = {block_shader(place->arena, 1, 3, cold, 1),
                                                block_shader(place->arena, 2, 4, hot, 2)};
    upload(place, "game", shaders, 2);
    upload(place, "game", &shaders[1], 1);
    assert_true(
        pm_aggregator_name_shader(place->aggregator, "game", &shaders[1].key, "sky.frag", NULL));
    struct pm_summary *summary = summarize(place, NULL);
    assert_int_equal(summary->shader_count, 2);
    assert_int_equal(summary->whole.uploads, 2);
    assert_int_equal(summary->whole.points, 7);
    assert_int_equal(summary->whole.points_covered, 3);
    assert_int_equal(summary->measured, 3);
    assert_int_equal(summary->calls, 5);
    assert_int_equal(summary->entry_lanes, 1680);
    const struct pm_summary_shader *first = &summary->shaders[0];
    assert_memory_equal(&first->key, &shaders[1].key, sizeof(first->key));
    assert_int_equal(first->entry_lanes, 1600);
    assert_int_equal(first->covered, 2);
    assert_int_equal(first->lacking, 2);
    assert_int_equal(first->calls, 4);
    assert_int_equal(summary->candidates_known, 0);
    assert_string_equal(pm_summary_name_of(summary, &shaders[1].key), "sky.frag");
    assert_null(pm_summary_name_of(summary, &shaders[0].key));
    /* Four calls make half a sample of eight points, but a sample of a whole shader at least. */
    assert_near(pm_summary_expected(summary->curve.batches, 1),
                4 * (1.0 < 4.0 / 4 ? 1 : 4.0 / 4) + 3 * (1.0 / 3));
    assert_near(pm_summary_expected(summary->curve.singles, 1),
                4 * (1 - pow(0.75, 4.0 / 4)) + 3 * (1 - pow(2.0 / 3, 1.0 / 3)));
    assert_true(pm_summary_expected(summary->curve.batches, 0) == 0);
    pm_summary_drop(summary);
}

/* hits: P(zero) · writes a subgroup · subgroups that entered. */
static void test_candidates(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts points[] = {zero_counts(0, 800, 100, 50),
                                             zero_counts(1, 800, 10, 0), zero_counts(2, 800, 0, 0),
                                             zero_counts(3, 800, 200, 180)};
    const struct pm_shader_profile shader = zero_shader(place->arena, 1, 5, points, 4);
    upload(place, "game", &shader, 1);
    struct pm_summary *summary = summarize(place, NULL);
    assert_int_equal(summary->candidates_known, 3);
    assert_int_equal(summary->candidate_count, 2);
    assert_near(summary->subgroups, 100);
    assert_int_equal(summary->candidates[0].point, 3);
    assert_near(summary->candidates[0].hits, 180);
    assert_near(summary->candidates[0].probability, 0.9);
    assert_near(summary->candidates[0].writes, 2);
    assert_int_equal(summary->candidates[1].point, 0);
    assert_near(summary->candidates[1].hits, 50);
    pm_summary_drop(summary);
}

/* One session that saw nothing but zeros leads nothing: what counts is what even the lower end of
 * the interval says. */
static void test_lucky_candidates_come_last(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < 20; i++) {
        const struct pm_point_counts points[] = {zero_counts(0, 800, 100, 100),
                                                 zero_counts(1, 800, 100, i % 2 ? 55 : 65)};
        const struct pm_shader_profile shader =
            zero_shader(place->arena, 1, 2, i == 0 ? points : &points[1], i == 0 ? 2 : 1);
        upload(place, "game", &shader, 1);
    }
    struct pm_summary *summary = summarize(place, NULL);
    assert_int_equal(summary->candidate_count, 2);
    const struct pm_summary_candidate *sure = &summary->candidates[0], *lucky = sure + 1;
    assert_int_equal(sure->point, 1);
    assert_true(lucky->hits > sure->hits);
    assert_true(lucky->hits_low < sure->hits_low && sure->hits_low < sure->hits);
    assert_near(sure->hits_low, sure->low * sure->writes * sure->subgroups);
    pm_summary_drop(summary);
}

static void test_timings(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shaders[] = {timing_shader(place->arena, 1, 9, 1000, 800),
                                                block_shader(place->arena, 2, 1, &point, 1)};
    for (int i = 0; i < 3; i++)
        upload(place, "game", shaders, 2);
    struct pm_summary *summary = summarize(place, NULL);
    assert_int_equal(summary->shader_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct pm_summary_shader *shader = &summary->shaders[i];
        const bool timing = shader->kind == PM_KIND_TIMING;
        assert_int_equal(shader->time.sessions, timing ? 3 : 0);
        assert_true(fabsf(shader->time.mean - (timing ? 0.8f : 0)) < 1e-6f);
        assert_true(shader->time.low <= shader->time.mean);
        assert_true(shader->time.high >= shader->time.mean);
    }
    pm_summary_drop(summary);
}

/* Beside the candidates of a shader: the timing of what was made of it that has the most sessions,
 * and none that is of another subgroup size, or of another shader. */
static void test_candidates_are_measured(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts zeros[] = {zero_counts(0, 800, 100, 50)};
    struct pm_shader_profile shaders[] = {zero_shader(place->arena, 1, 1, zeros, 1),
                                          zero_shader(place->arena, 2, 1, zeros, 1),
                                          timing_shader(place->arena, 11, 9, 1000, 800),
                                          timing_shader(place->arena, 12, 9, 1000, 900),
                                          timing_shader(place->arena, 13, 9, 1000, 700),
                                          timing_shader(place->arena, 14, 9, 1000, 700)};
    shaders[2].original = shaders[3].original = shaders[4].original = key_of(1);
    shaders[4].environment.subgroup_size = 16;
    shaders[5].original = key_of(3);
    upload(place, "game", shaders, 6);
    upload(place, "game", &shaders[3], 1);
    struct pm_summary *summary = summarize(place, NULL);
    assert_int_equal(summary->candidate_count, 2);
    for (size_t i = 0; i < summary->shader_count; i++) {
        const struct pm_summary_shader *shader = &summary->shaders[i];
        assert_int_equal(shader->original_known,
                         pm_shader_key_equal(&shader->original, &shaders[0].key));
    }
    for (size_t i = 0; i < 2; i++) {
        const struct pm_summary_candidate *candidate = &summary->candidates[i];
        const bool first = pm_shader_key_equal(&candidate->key, &shaders[0].key);
        assert_int_equal(candidate->timings, first ? 2 : 0);
        assert_int_equal(candidate->measured != NULL, first);
        if (first)
            assert_true(pm_shader_key_equal(&candidate->measured->key, &shaders[3].key));
    }
    pm_summary_drop(summary);
}

static void send_as(struct place *place, uint8_t token, const struct pm_shader_profile *shaders,
                    size_t count)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_ingest_source source = {.fleet = token > 0};
    const struct pm_ingest_source *sources = &source;
    const struct pm_profile *profile =
        profile_of(place->arena, &place->random, "game", shaders, count);
    memset(source.digest, token, sizeof(source.digest));
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

/* What one token alone says of a gain, however often, is not published, and so not beside one. */
static void test_candidates_are_measured_by_many(void **state)
{
    enum { TOKENS = 3, ROGUE = 99 };
    struct place *place = *state;
    const struct pm_point_counts zeros[] = {zero_counts(0, 800, 100, 50)};
    struct pm_shader_profile shaders[] = {zero_shader(place->arena, 1, 1, zeros, 1),
                                          timing_shader(place->arena, 11, 9, 1000, 1100)};
    struct pm_shader_profile rogue = timing_shader(place->arena, 11, 9, 1000, 10);
    shaders[1].original = key_of(1);
    rogue.original = key_of(1);
    rogue.environment.device_id ^= 0xbad;
    place->keeping.min_tokens = TOKENS;
    place_open(place);
    for (uint8_t i = 1; i <= TOKENS; i++)
        send_as(place, i, shaders, 2);
    for (int i = 0; i < 3 * TOKENS; i++)
        send_as(place, ROGUE, &rogue, 1);
    struct pm_summary *summary = summarize(place, NULL);
    assert_int_equal(summary->candidate_count, 1);
    assert_int_equal(summary->candidates[0].timings, 1);
    assert_true(fabsf(summary->candidates[0].measured->time.mean - 1.1f) < 1e-6f);
    pm_summary_drop(summary);
}

/* However long the history, it keeps its first sample, its order and its bound; one that was gone
 * on with is one that was read. */
static void test_history(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    struct pm_error error;
    const int samples = 3 * PM_SUMMARY_SAMPLES;
    upload(place, "game", &shader, 1);
    assert_true(storage->operations->begin(storage, &error));
    for (int i = 0; i < samples; i++)
        assert_true(storage->operations->add_coverage(storage, "game", 1000 + i, (uint64_t)i, 0, 1,
                                                      &error));
    assert_true(storage->operations->commit(storage, &error));
    struct pm_summary *summary = summarize(place, NULL);
    const struct pm_summary_history *history = &summary->history;
    assert_int_equal(history->seen, samples + 1);
    assert_in_range(history->count, PM_SUMMARY_SAMPLES / 2, PM_SUMMARY_SAMPLES);
    for (size_t i = 0; i < history->count; i++) {
        if (history->samples[i].time != place->now)
            assert_int_equal(history->samples[i].time, 1000 + (int64_t)(i * history->stride));
    }
    for (int i = 0; i < 10; i++) {
        place->now += 10;
        struct pm_summary *next = summarize(place, summary);
        pm_summary_drop(summary);
        summary = next;
    }
    struct pm_summary *read = summarize(place, NULL);
    assert_int_equal(summary->history.seen + 1, read->history.seen);
    assert_memory_equal(summary->history.samples, read->history.samples,
                        summary->history.count * sizeof(*summary->history.samples));
    pm_summary_drop(summary);
    pm_summary_drop(read);
}

/* It reaches back as far as the retention, also while the server runs for longer. */
static void test_history_ends_at_the_retention(void **state)
{
    enum { RETENTION = 5, DAYS = 12 };
    struct place *place = *state;
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    struct pm_summary *summary = NULL;
    place->keeping.retention_days = RETENTION;
    place_open(place);
    for (int i = 0; i < DAYS; i++, place->now += DAY) {
        upload(place, "game", &shader, 1);
        struct pm_summary *next = summarize(place, summary);
        if (summary)
            pm_summary_drop(summary);
        summary = next;
    }
    place->now -= DAY;
    const struct pm_summary_history *history = &summary->history;
    assert_int_equal(history->count, RETENTION);
    assert_int_equal(history->samples[0].time, place->now - (RETENTION - 1) * DAY);
    assert_int_equal(history->samples[RETENTION - 1].uploads, DAYS);
    /* A clock that is a year ahead for a moment takes nothing. */
    place->now += 365 * DAY;
    struct pm_summary *ahead = summarize(place, summary);
    assert_int_equal(ahead->history.count, 1);
    place->now -= 365 * DAY;
    struct pm_summary *right = summarize(place, ahead);
    assert_int_equal(right->history.samples[0].time, place->now - (RETENTION - 1) * DAY);
    pm_summary_drop(summary);
    pm_summary_drop(ahead);
    pm_summary_drop(right);
}

/* A game that was dropped and came back begins anew. */
static void test_history_of_a_dropped_game(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    struct pm_error error;
    uint64_t blobs;
    for (int i = 0; i < 3; i++)
        upload(place, "game", &shader, 1);
    struct pm_summary *before = summarize(place, NULL);
    assert_true(pm_aggregator_drop(place->aggregator, "game", NULL, &blobs, &error));
    upload(place, "game", &shader, 1);
    struct pm_summary *after = summarize(place, before);
    assert_int_equal(after->history.count, 1);
    assert_int_equal(after->history.samples[0].uploads, 1);
    pm_summary_drop(before);
    pm_summary_drop(after);
}

static bool is_game(const void *user, const char *game)
{
    return strcmp(game, user) == 0;
}

static void test_models(void **state)
{
    struct place *place = *state;
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    const char *const games[] = {"game", "another", "third"};
    struct pm_summaries summaries;
    struct pm_error error;
    pm_summaries_init(&summaries);
    assert_null(pm_summaries_find(&summaries, "game"));
    for (int i = 0; i < 3; i++) {
        upload(place, games[i], &shader, 1);
        assert_true(pm_summaries_curate(&summaries, pm_aggregator_curator(place->aggregator),
                                        games[i], &error));
    }
    assert_int_equal(pm_summaries_totals(&summaries).games, 3);
    assert_int_equal(pm_summaries_totals(&summaries).points, 3);
    assert_false(pm_summaries_curate(&summaries, pm_aggregator_curator(place->aggregator),
                                     "unknown", &error));
    /* A summary outlives its place. */
    struct pm_summary *held = pm_summaries_find(&summaries, "game");
    assert_true(
        pm_summaries_curate(&summaries, pm_aggregator_curator(place->aggregator), "game", &error));
    pm_summaries_retain(&summaries, is_game, "another");
    assert_null(pm_summaries_find(&summaries, "game"));
    assert_string_equal(held->game, "game");
    assert_int_equal(held->whole.points, 1);
    pm_summary_drop(held);
    struct pm_summary *kept = pm_summaries_find(&summaries, "another");
    assert_non_null(kept);
    pm_summary_drop(kept);

    assert_false(pm_summaries_are_wanted(&summaries));
    for (int i = 0; i < 100; i++)
        pm_summaries_want(&summaries, "game");
    pm_summaries_want(&summaries, "another");
    assert_true(pm_summaries_curate(&summaries, pm_aggregator_curator(place->aggregator), "another",
                                    &error));
    assert_true(pm_summaries_are_wanted(&summaries));
    assert_false(pm_summaries_is_wanted(&summaries, "game"));
    pm_summaries_begin(&summaries);
    assert_false(pm_summaries_are_wanted(&summaries));
    assert_true(pm_summaries_is_wanted(&summaries, "game"));
    assert_false(pm_summaries_is_wanted(&summaries, "another"));
    assert_false(pm_summaries_is_wanted(&summaries, "third"));
    /* More than it notes: the rest has to ask again. */
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        pm_summaries_want(&summaries, name);
    }
    pm_summaries_begin(&summaries);
    assert_true(pm_summaries_is_wanted(&summaries, "0"));
    assert_false(pm_summaries_is_wanted(&summaries, "99"));
    pm_summaries_finish(&summaries);
}

/* A shader read alone is the shader as the game's reading has it. */
static bool keep_points(void *user, const struct pm_judged *judged, struct pm_error *error)
{
    double *sum = user;
    (void)error;
    for (uint32_t i = 0; i < judged->shader->space; i++)
        sum[0] += judged->shader->points[i].measures[0].ratio_high * (i + 1);
    sum[1]++;
    return true;
}

static void test_one_shader(void **state)
{
    struct place *place = *state;
    struct pm_database database;
    struct pm_error error;
    for (int i = 0; i < 5; i++) {
        const struct pm_profile *profile =
            random_profile(place->arena, &place->random, "game", 4, 30);
        upload(place, "game", profile->shaders, profile->shader_count);
        place->now += DAY;
    }
    assert_true(
        pm_aggregator_estimates(place->aggregator, "game", NULL, place->arena, &database, &error));
    for (size_t i = 0; i < database.shader_count; i++) {
        double alone[2] = {0}, together = 0;
        for (uint32_t j = 0; j < database.shaders[i].space; j++)
            together += database.shaders[i].points[j].measures[0].ratio_high * (j + 1);
        assert_true(pm_curate_read_shader(pm_aggregator_curator(place->aggregator), "game",
                                          &database.shaders[i].key, keep_points, alone, &error));
        assert_true(alone[1] == 1);
        assert_near(alone[0], together);
    }
    double none[2] = {0};
    const struct pm_shader_key unknown = key_of(1234);
    assert_true(pm_curate_read_shader(pm_aggregator_curator(place->aggregator), "game", &unknown,
                                      keep_points, none, &error));
    assert_true(none[1] == 0);
}

/* An upload of one shader of two points by a token, of which the second runs in shader 61 alone. */
static void upload_as(struct place *place, uint64_t number, uint8_t token, uint64_t lanes)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_ingest_source source = {.fleet = token > 0};
    const struct pm_ingest_source *sources = &source;
    const struct pm_point_counts points[] = {block_counts(0, 64, lanes),
                                             block_counts(1, 64, number == 61 ? lanes : 0)};
    const struct pm_shader_profile shader = block_shader(place->arena, number, 2, points, 2);
    const struct pm_profile *profile = place_profile(place, &shader);
    memset(source.digest, token, sizeof(source.digest));
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
}

static const struct pm_summary_shader *find_shader(const struct pm_summary *summary,
                                                   uint64_t number)
{
    const struct pm_shader_key key = key_of(number);
    for (size_t i = 0; i < summary->shader_count; i++) {
        if (pm_shader_key_equal(&summary->shaders[i].key, &key))
            return &summary->shaders[i];
    }
    fail_msg("shader %d is not there", (int)number);
    return NULL;
}

/* Which condition fails, by how much, and until when; and what is measured is a part of what is
 * counted, also where few have sent most. */
static void test_reasons(void **state)
{
    struct place *place = *state;
    place->keeping.publish_all = false;
    place->keeping.min_tokens = 3;
    place->keeping.sessions_for_never = 1000;
    place->keeping.half_width_absolute = 0.05;
    place_open(place);
    for (uint64_t shader = 1; shader <= 50; shader++)
        upload_as(place, shader, 1, 32);
    upload_as(place, 1, 2, 32);
    for (uint8_t token = 1; token <= 5; token++)
        upload_as(place, 60, token, 32);
    place->now += DAY;
    for (uint8_t token = 1; token <= 20; token++)
        upload_as(place, 61, token, token % 2 ? 0 : 64);
    struct pm_summary *summary = summarize(place, NULL);
    const struct pm_reason *waits = &find_shader(summary, 1)->waits;
    assert_int_equal(waits->kind, PM_REASON_TOKENS);
    assert_true(waits->have == 2 && waits->need == 3);
    assert_true(isinf(waits->days));
    /* Five sessions of a thousand in two days: 398 days more. */
    waits = &find_shader(summary, 60)->waits;
    assert_int_equal(waits->kind, PM_REASON_SESSIONS);
    assert_int_equal(waits->point, 1);
    assert_true(waits->have == 5 && waits->need == 1000);
    assert_near((double)waits->sessions_a_day, 2.5);
    assert_near((double)waits->days, 398);
    /* Half of them run always, half never: the interval is wide. */
    waits = &find_shader(summary, 61)->waits;
    assert_int_equal(waits->kind, PM_REASON_INTERVAL);
    assert_int_equal(waits->point, 0);
    assert_true(waits->have > 0.15f && waits->have < 0.4f);
    assert_near((double)waits->need, (double)0.05f);
    const double times = (double)waits->have / 0.05;
    assert_true(fabs((double)waits->days - (times * times - 1)) < 0.1 * times * times);
    assert_int_equal(summary->waiting[PM_REASON_TOKENS], 50);
    assert_int_equal(summary->waiting[PM_REASON_SESSIONS], 1);
    assert_int_equal(summary->waiting[PM_REASON_INTERVAL], 1);
    assert_int_equal(summary->whole.points, 4);
    assert_int_equal(summary->measured, 4);
    pm_summary_drop(summary);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)
    const struct CMUnitTest tests[] = {
        TEST(test_shaders),
        TEST(test_candidates),
        TEST(test_lucky_candidates_come_last),
        TEST(test_timings),
        TEST(test_candidates_are_measured),
        TEST(test_candidates_are_measured_by_many),
        TEST(test_reasons),
        TEST(test_history),
        TEST(test_history_ends_at_the_retention),
        TEST(test_history_of_a_dropped_game),
        TEST(test_models),
        TEST(test_one_shader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
