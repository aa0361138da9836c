/* What is published when: nobody's upload can be told from two publications. The clock is the
 * test's. */
#include "aggregator/aggregator.h"
#include "aggregator/curation/curate.h"
#include "aggregator/curation/prior_pool.h"
#include "aggregator/curation/quantize.h"
#include "aggregator/curation/races.h"
#include "tests/aggregator/place.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define HOUR 3600
#define DAY 86400
#define MORNING ((int64_t)20000 * DAY + HOUR)
#define TOKENS 3 /* that are enough */

static int set_up(void **state)
{
    struct place *place = place_create(12);
    place->now = MORNING;
    place->keeping.publish_all = false;
    place->keeping.half_width_absolute = 10; /* whatever is covered is known well enough … */
    place->keeping.sessions_for_never = 1000;
    place->keeping.scenes = 4;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.min_tokens = TOKENS;
    place->keeping.token_clusters = 2;
    place->keeping.publish_seconds = HOUR;
    place_open(place);
    *state = place;
    return 0;
}

/* One upload of shaders 1 and 2 by a token. Of the second, point 1 has not run: it stays in the
 * deficit. lanes: of 64. */
static void send(struct place *place, uint8_t token, uint64_t lanes)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_ingest_source source = {.fleet = token > 0};
    const struct pm_ingest_source *sources = &source;
    const struct pm_point_counts points[] = {block_counts(0, 64, lanes), block_counts(1, 64, 0)};
    const struct pm_shader_profile shaders[] = {block_shader(place->arena, 1, 1, points, 1),
                                                block_shader(place->arena, 2, 2, points, 2)};
    memset(source.digest, token, sizeof(source.digest));
    struct pm_profile *profile = profile_of(place->arena, &place->random, "game", shaders, 2);
    profile->scene = "cave";
    const struct pm_profile *profiles = profile;
    if (!pm_aggregator_ingest_from(place->aggregator, &profiles, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

/* What may be pulled: the current database, the one before, and the same of the scene. */
struct view {
    struct pm_buffer bodies[4];
    char etags[4][PM_ETAG_TEXT];
};

static void look(struct place *place, struct view *view)
{
    struct pm_error error;
    if (!pm_aggregator_curate(place->aggregator, "game", &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < 4; i++) {
        const struct pm_publication publication = {
            .game = "game", .scene = i < 2 ? "" : "cave", .previous = i % 2 != 0};
        view->etags[i][0] = 0;
        pm_buffer_init(&view->bodies[i], 1 << 20);
        if (!pm_aggregator_publication(place->aggregator, &publication, view->etags[i],
                                       &view->bodies[i], &error))
            assert_int_equal(error.code, PM_ERROR_STATE);
    }
}

static bool is_same(const struct view *a, const struct view *b, int which)
{
    return strcmp(a->etags[which], b->etags[which]) == 0 &&
           a->bodies[which].size == b->bodies[which].size &&
           (a->bodies[which].size == 0 ||
            memcmp(a->bodies[which].data, b->bodies[which].data, a->bodies[which].size) == 0);
}

static void view_finish(struct view *view)
{
    for (int i = 0; i < 4; i++)
        pm_buffer_finish(&view->bodies[i]);
}

static const struct pm_shader_estimates *shader_of(struct place *place, const struct view *view,
                                                   uint64_t number)
{
    static struct pm_database database;
    struct pm_buffer plain;
    struct pm_error error;
    const struct pm_shader_key key = key_of(number);
    pm_buffer_init(&plain, 1 << 20);
    if (!pm_decompress(view->bodies[0].data, view->bodies[0].size, &plain, &error) ||
        !pm_database_decode(plain.data, plain.size, place->arena, &database, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&plain);
    for (size_t i = 0; i < database.shader_count; i++) {
        if (pm_shader_key_equal(&database.shaders[i].key, &key))
            return &database.shaders[i];
    }
    return NULL;
}

/* The attack: somebody pulls all that there is before and after one upload, at any time that he
 * likes. Nothing has changed: neither an estimate nor a count nor the deficit. */
static void test_one_upload_changes_nothing(void **state)
{
    struct place *place = *state;
    struct view before, after;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, 32);
    look(place, &before);
    const struct pm_shader_estimates *first = shader_of(place, &before, 1);
    assert_non_null(first);
    assert_true(first->published);
    assert_true(first->lying.error > 0);
    assert_true(lacks(shader_of(place, &before, 2), 1));
    for (int hours = 0; hours < 60; hours += 5) {
        if (hours % 10 == 0)
            send(place, 9, 64);
        place->now = MORNING + hours * HOUR + 60;
        look(place, &after);
        for (int i = 0; i < 4; i++) {
            if (!is_same(&before, &after, i))
                fail_msg("after %d hours database %d is another", hours, i);
        }
        view_finish(&after);
    }
    view_finish(&before);
}

/* As many as publishing asks for, on one day, and then not more often than once an hour. */
static void test_new_contributors(void **state)
{
    struct place *place = *state;
    struct view views[4];
    for (uint8_t i = 1; i <= 2 * TOKENS; i++) /* more than on the days that follow */
        send(place, i, 32);
    look(place, &views[0]);
    place->now += DAY;
    send(place, 1, 64);
    send(place, 2, 64);
    look(place, &views[1]);
    assert_true(is_same(&views[0], &views[1], 0));
    send(place, 4, 64);
    look(place, &views[2]);
    assert_false(is_same(&views[0], &views[2], 0));
    assert_false(is_same(&views[0], &views[2], 2));
    assert_string_equal(views[2].etags[1], views[0].etags[0]);
    const struct pm_shader_estimates *second = shader_of(place, &views[2], 1);
    assert_true(second->points[0].measures[0].ratio > 0.6);
    assert_int_equal(second->as_of_day, 20001);
    /* The same day again: who came since the publication cannot be told from who came before it. */
    for (uint8_t i = 5; i < 15; i++)
        send(place, i, 64);
    place->now += 2 * HOUR;
    look(place, &views[3]);
    assert_true(is_same(&views[2], &views[3], 0));
    for (int i = 0; i < 4; i++)
        view_finish(&views[i]);
}

/* Where no token has to vouch, what is published follows what is known, day by day. */
static void test_without_tokens(void **state)
{
    struct place *place = *state;
    struct view views[3];
    place->keeping.min_tokens = 1;
    place_open(place);
    for (uint8_t i = 1; i <= 4; i++)
        send(place, i, 32);
    look(place, &views[0]);
    for (uint8_t i = 1; i <= 4; i++)
        send(place, 10 + i, 64);
    place->now += 2 * HOUR;
    look(place, &views[1]);
    assert_true(is_same(&views[0], &views[1], 0));
    place->now += DAY;
    look(place, &views[2]);
    assert_false(is_same(&views[0], &views[2], 0));
    const struct pm_shader_estimates *shader = shader_of(place, &views[2], 1);
    assert_non_null(shader);
    assert_true(shader->published);
    assert_true(shader->points[0].measures[0].mean > 0.6);
    assert_int_equal(shader->as_of_day, 20001);
    for (int i = 0; i < 3; i++)
        view_finish(&views[i]);
}

static void send_shader(struct place *place, uint8_t token, const struct pm_shader_profile *shader)
{
    struct pm_ingest_outcome outcome;
    struct pm_ingest_source source = {.fleet = true};
    const struct pm_ingest_source *sources = &source;
    const struct pm_profile *profile = place_profile(place, shader);
    memset(source.digest, token, sizeof(source.digest));
    assert_true(
        pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, NULL));
}

/* The points of shader 5 by a token. Those without flags leave point 1 to the others. */
static void send_flagged(struct place *place, uint8_t token, uint32_t flags, uint64_t lanes)
{
    const struct pm_point_counts points[] = {block_counts(0, 64, lanes), block_counts(1, 64, 32)};
    struct pm_shader_profile shader = block_shader(place->arena, 5, 2, points, flags != 0 ? 2 : 1);
    shader.flags = flags;
    send_shader(place, token, &shader);
}

/* What is judged together changes also when only those without flags are new. */
static void test_new_contributors_without_flags(void **state)
{
    struct place *place = *state;
    struct view views[2];
    for (uint8_t i = 1; i <= TOKENS; i++) {
        send_flagged(place, i, 0, 32);
        send_flagged(place, 10 + i, PM_PROFILE_OCCLUDED, 32);
    }
    look(place, &views[0]);
    const struct pm_shader_estimates *shader = shader_of(place, &views[0], 5);
    assert_non_null(shader);
    assert_int_equal(shader->flags, PM_PROFILE_OCCLUDED);
    place->now += DAY;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send_flagged(place, i, 0, 64);
    look(place, &views[1]);
    assert_false(is_same(&views[0], &views[1], 0));
    assert_int_equal(shader_of(place, &views[1], 5)->as_of_day, 20001);
    view_finish(&views[0]);
    view_finish(&views[1]);
}

/* Nothing is published twice within the hour, also what is new. */
static void test_once_an_hour(void **state)
{
    struct place *place = *state;
    struct view first, soon, later;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, 32);
    look(place, &first);
    for (uint8_t i = 1; i <= TOKENS; i++) {
        const struct pm_point_counts point = block_counts(0, 64, 32);
        const struct pm_shader_profile shader = block_shader(place->arena, 3, 1, &point, 1);
        send_shader(place, (uint8_t)(20 + i), &shader);
    }
    place->now += HOUR - 1;
    look(place, &soon);
    assert_true(is_same(&first, &soon, 0));
    place->now += 1;
    look(place, &later);
    assert_false(is_same(&first, &later, 0));
    assert_non_null(shader_of(place, &later, 3));
    view_finish(&first);
    view_finish(&soon);
    view_finish(&later);
}

/* What an operator forgets is not published any longer. */
static void test_forgotten_at_once(void **state)
{
    struct place *place = *state;
    struct view view;
    struct pm_error error;
    uint64_t blobs;
    const struct pm_shader_key key = key_of(1);
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, 32);
    look(place, &view);
    view_finish(&view);
    if (!pm_aggregator_drop(place->aggregator, "game", &key, &blobs, &error))
        fail_msg("%s", error.message);
    look(place, &view);
    assert_null(shader_of(place, &view, 1));
    assert_non_null(shader_of(place, &view, 2));
    view_finish(&view);
}

/* A clock that was a year ahead holds nothing back once it is right. */
static void test_clock_that_was_ahead(void **state)
{
    struct place *place = *state;
    struct view ahead, right;
    place->now += 365 * (int64_t)DAY;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, 32);
    look(place, &ahead);
    place->now = MORNING;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, 64);
    look(place, &right);
    assert_false(is_same(&ahead, &right, 0));
    view_finish(&ahead);
    view_finish(&right);
}

/* ---- provisional ---- */

/* Three points, of which point 0 is always zero, point 1 never, and point 2 was not measured: so
 * there is no estimate. */
static void send_zeros(struct place *place, uint8_t token)
{
    const struct pm_point_counts points[] = {zero_counts(0, 64, 16, 16), zero_counts(1, 64, 16, 0)};
    const struct pm_shader_profile shader = zero_shader(place->arena, 4, 3, points, 2);
    send_shader(place, token, &shader);
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
    struct view views[3];
    for (uint8_t i = 1; i < TOKENS; i++) {
        send(place, i, 32);
        send_zeros(place, i);
    }
    send(place, TOKENS, 32);
    look(place, &views[0]);
    assert_null(shader_of(place, &views[0], 4));
    assert_non_null(shader_of(place, &views[0], 2));
    assert_null(shader_of(place, &views[0], 2)->provisional); /* of a block nothing is */
    assert_false(shown_levels(place).known);
    send_zeros(place, TOKENS);
    place->now += HOUR;
    look(place, &views[1]);
    const struct pm_shader_estimates *zeros = shader_of(place, &views[1], 4);
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
    look(place, &views[2]);
    assert_true(is_same(&views[1], &views[2], 0));
    for (int i = 0; i < 3; i++)
        view_finish(&views[i]);
}

/* What other games know counts, of each no more than of the others. */
static void test_prior_pool(void **state)
{
    (void)state;
    struct pm_prior_pool *pool = pm_prior_pool_create();
    const struct pm_evidence one = {255, 20}, zero = {0, 20};
    struct pm_prior_moments ones = {0}, zeros = {0}, none = {0};
    for (int i = 0; i < 5000; i++)
        pm_prior_add(&ones, &one, 1);
    for (int i = 0; i < 256; i++)
        pm_prior_add(&zeros, &zero, 1);
    pm_prior_pool_put(pool, "a", &ones);
    assert_true(pm_prior_pool_fit(pool, "c", &none).mean > 0.99);
    assert_true(pm_prior_pool_fit(pool, "a", &none).mean == 0.5); /* itself is none of them */
    pm_prior_pool_put(pool, "b", &zeros);
    assert_true(fabs(pm_prior_pool_fit(pool, "c", &none).mean - 0.5) < 0.01);
    pm_prior_pool_put(pool, "a", &zeros);
    assert_true(pm_prior_pool_fit(pool, "c", &none).mean < 0.01);
    pm_prior_pool_destroy(pool);
}

/* Games of which nothing is known take no room from others, nor do those that are forgotten. */
static void test_prior_pool_has_room(void **state)
{
    (void)state;
    struct pm_prior_pool *pool = pm_prior_pool_create();
    const struct pm_evidence one = {255, 20};
    struct pm_prior_moments ones = {0}, none = {0};
    char name[32];
    for (int i = 0; i < 256; i++)
        pm_prior_add(&ones, &one, 1);
    for (int kept = 0; kept < 2; kept++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(name, sizeof(name), "game %d", i);
            pm_prior_pool_put(pool, name, kept ? &ones : &none);
            if (kept)
                pm_prior_pool_forget(pool, name);
        }
        pm_prior_pool_put(pool, "a", &ones);
        assert_true(pm_prior_pool_fit(pool, "c", &none).mean > 0.99);
        pm_prior_pool_forget(pool, "a");
        assert_true(pm_prior_pool_fit(pool, "c", &none).mean == 0.5);
    }
    pm_prior_pool_destroy(pool);
}

/* ---- a full database ---- */

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
    for (uint8_t i = 1; i <= TOKENS; i++)
        send_shader(place, (uint8_t)(number * TOKENS + i), &shader);
}

/* What stays as it was takes more than what is known of it now: there has to be room for it, before
 * what is new. */
static void test_room_for_what_stays(void **state)
{
    struct place *place = *state;
    struct view before, after;
    place->keeping.database_bytes = 14 << 10;
    place->keeping.publish_all = true;
    place_open(place);
    send_whole(place, 1, PM_KIND_BLOCK, 100);
    look(place, &before);
    assert_true(shader_of(place, &before, 1)->published);
    place->now += DAY;
    place->keeping.publish_all = false;
    place->keeping.half_width_absolute = 0.001; /* from now on all lacks something */
    place->keeping.half_width_relative = 0.001;
    place_open(place);
    send_whole(place, 2, PM_KIND_ZERO, 4000);
    send_whole(place, 3, PM_KIND_ZERO, 2000);
    look(place, &after);
    struct pm_buffer plain;
    pm_buffer_init(&plain, 1 << 20);
    assert_true(pm_decompress(after.bodies[0].data, after.bodies[0].size, &plain, NULL));
    assert_true(plain.size <= place->keeping.database_bytes);
    pm_buffer_finish(&plain);
    assert_true(shader_of(place, &after, 1)->published);
    assert_null(shader_of(place, &after, 2));
    assert_non_null(shader_of(place, &after, 3));
    view_finish(&before);
    view_finish(&after);
}

/* ---- what is published cannot be read ---- */

static const struct pm_storage_operations *real;
static const char *unread; /* the scene whose database cannot be read */
static enum pm_code why;   /* PM_OK: what is read is no database */

static bool get_unread(struct pm_storage *storage, const char *game, const char *scene,
                       bool previous, char etag[static PM_ETAG_TEXT], struct pm_buffer *body,
                       struct pm_error *error)
{
    if (strcmp(scene, unread) != 0)
        return real->get_database(storage, game, scene, previous, etag, body, error);
    memset(etag, 0, PM_ETAG_TEXT);
    return why == PM_OK || pm_fail(error, why, "not now");
}

/* By one that knows more than what is published, within the hour. */
static bool curate_unread(struct place *place, const char *scene, enum pm_code code)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    real = storage->operations;
    struct pm_storage_operations operations = *real;
    struct pm_error error;
    operations.get_database = get_unread;
    unread = scene;
    why = code;
    storage->operations = &operations;
    const bool done = pm_aggregator_curate(place->aggregator, "game", &error);
    storage->operations = real;
    if (!done)
        assert_int_equal(error.code, code);
    return done;
}

/* A storage that is away for a moment is no reason to publish all that is known. */
static void test_unread_for_a_moment(void **state)
{
    static const char *const scenes[] = {"", "cave", PM_RACES_PUBLICATION};
    static const enum pm_code codes[] = {PM_ERROR_NETWORK, PM_ERROR_MEMORY, PM_ERROR_IO};
    struct place *place = *state;
    struct view before, after;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, 32);
    look(place, &before);
    send(place, 9, 64);
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        for (size_t j = 0; j < sizeof(codes) / sizeof(*codes); j++)
            assert_false(curate_unread(place, scenes[i], codes[j]));
    }
    look(place, &after);
    for (int i = 0; i < 4; i++)
        assert_true(is_same(&before, &after, i));
    view_finish(&before);
    view_finish(&after);
}

/* What is damaged will never be read again: it is made anew. */
static void test_damaged(void **state)
{
    struct place *place = *state;
    struct view before, after;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, i, 32);
    look(place, &before);
    send(place, 9, 64);
    assert_true(curate_unread(place, "", PM_ERROR_INPUT));
    look(place, &after);
    assert_false(is_same(&before, &after, 0));
    view_finish(&after);
    assert_true(curate_unread(place, "cave", PM_OK));
    assert_true(curate_unread(place, PM_RACES_PUBLICATION, PM_OK));
    look(place, &after);
    assert_false(is_same(&before, &after, 2));
    view_finish(&before);
    view_finish(&after);
}

/* ---- how exactly ---- */

static void test_quantized(void **state)
{
    struct pm_point_estimate point = {.calls = 1000, .sessions = 77};
    struct pm_ratio *ratio = &point.measures[0];
    (void)state;
    *ratio = (struct pm_ratio){0.3337, 0.2811, 0.3922, 0.99, 0.951, 1, 77};
    for (unsigned i = 1; i < PM_MEASURES; i++)
        point.measures[i] = (struct pm_ratio){0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 15};
    pm_quantize_points(PM_KIND_BLOCK, &point, 1);
    assert_int_equal(point.calls, 960);
    assert_int_equal(point.sessions, 72);
    assert_int_equal(ratio->clusters, 72);
    /* Half of the half-width is 0.0278: steps of 1/64. */
    assert_true(fabs(ratio->mean - 0.328125) < 1e-12);
    assert_true(ratio->mean_low <= 0.2811 && ratio->mean_low > 0.2811 - 1.0 / 64);
    assert_true(ratio->mean_high >= 0.3922 && ratio->mean_high < 0.3922 + 1.0 / 64);
    assert_true(ratio->ratio_high == 1 && ratio->ratio <= 1);
    /* Where nothing is uncertain there is nothing to hide behind. */
    assert_true(point.measures[1].mean == 0.5 && point.measures[1].clusters == 15);
    const struct pm_lying lying = pm_quantize_lying((struct pm_lying){17, 0.0498});
    assert_int_equal(lying.tokens, 16);
    assert_true(lying.error == 7 / 128.0);
    assert_true(pm_quantize_lying((struct pm_lying){0, 7 / 128.0}).error == 7 / 128.0);
    assert_true(pm_quantize_lying((struct pm_lying){0, 0.0010001}).error == 5 / 4096.0);
    assert_true(pm_quantize_lying((struct pm_lying){0, 0.95}).error == 1);
    assert_true(pm_quantize_lying((struct pm_lying){0, 1}).error == 1);
    assert_true(pm_quantize_lying((struct pm_lying){0, 0}).error == 0);
    assert_int_equal(pm_quantize_count(0), 0);
    assert_int_equal(pm_quantize_count(15), 15);
    assert_int_equal(pm_quantize_count(17), 16);
    assert_true(pm_quantize_count(UINT64_MAX) == UINT64_C(15) << 60);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

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
        TEST(test_provisional),
        TEST(test_room_for_what_stays),
        TEST(test_unread_for_a_moment),
        TEST(test_damaged),
        cmocka_unit_test(test_prior_pool),
        cmocka_unit_test(test_prior_pool_has_room),
        cmocka_unit_test(test_quantized),
    };
    return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
