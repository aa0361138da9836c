/* What enough distinct tokens have to vouch for before it is published, and what becomes of their
 * marks. The clock is the test's, but where it says so. */
#include "aggregator/trust/claims.h"

#include "tests/aggregator/place.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MORNING (20000 * DAY + 1000)
#define TOKENS 3 /* that are enough */

static int set_up(void **state)
{
    struct place *place = place_create(11);
    place->now = MORNING;
    place->keeping.scenes = 4;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.min_tokens = TOKENS;
    place_open(place);
    *state = place;
    return 0;
}

/* One upload of the shader by a token (0: none), in an environment and a scene. lanes: of 64. */
static void send_flagged(struct place *place, struct pm_aggregator *aggregator, uint8_t token,
                         uint32_t subgroup_size, const char *scene, uint32_t flags, uint64_t lanes)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_ingest_source source = {.fleet = token > 0};
    const struct pm_ingest_source *sources = token > 0 ? &source : NULL;
    const struct pm_point_counts point = block_counts(0, 64, lanes);
    struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    memset(source.digest, token, sizeof(source.digest));
    shader.environment.subgroup_size = subgroup_size;
    shader.flags = flags;
    struct pm_profile *profile = profile_of(place->arena, &place->random, "game", &shader, 1);
    profile->scene = scene;
    const struct pm_profile *profiles = profile;
    if (!pm_aggregator_ingest_from(aggregator, &profiles, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

static void send(struct place *place, struct pm_aggregator *aggregator, uint8_t token,
                 uint32_t subgroup_size, const char *scene)
{
    send_flagged(place, aggregator, token, subgroup_size, scene, 0, 32);
}

static void upkeep(struct pm_aggregator *aggregator)
{
    struct pm_error error;
    bool expired;
    if (!pm_aggregator_upkeep(aggregator, &expired, &error))
        fail_msg("%s", error.message);
}

/* A bit for each subgroup size of a shader that is in the scene's database, or -1: there is none.
 */
static int published(struct place *place, const char *scene)
{
    struct pm_buffer body, plain;
    struct pm_database database;
    struct pm_error error;
    char etag[PM_ETAG_TEXT];
    const struct pm_publication publication = {.game = "game", .scene = scene};
    int sizes = 0;
    pm_buffer_init(&body, 1 << 20);
    pm_buffer_init(&plain, 1 << 20);
    if (!pm_aggregator_curate(place->aggregator, "game", &error))
        fail_msg("%s", error.message);
    if (!pm_aggregator_publication(place->aggregator, &publication, etag, &body, &error)) {
        assert_int_equal(error.code, PM_ERROR_STATE);
        sizes = -1;
    } else if (!pm_decompress(body.data, body.size, &plain, &error) ||
               !pm_database_decode(plain.data, plain.size, place->arena, &database, &error)) {
        fail_msg("%s", error.message);
    }
    for (size_t i = 0; sizes >= 0 && i < database.shader_count; i++)
        sizes |= (int)database.shaders[i].environment.subgroup_size;
    pm_buffer_finish(&body);
    pm_buffer_finish(&plain);
    return sizes;
}

/* ---- environments and scenes ---- */

/* What only one player has is not published, however many sent the same shader. */
static void test_an_environment_needs_its_own(void **state)
{
    struct place *place = *state;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, place->aggregator, i, 32, "");
    for (int i = 0; i < 10; i++)
        send(place, place->aggregator, 9, 64, "");
    assert_int_equal(published(place, ""), 32);
    send(place, place->aggregator, 8, 64, "");
    assert_int_equal(published(place, ""), 32);
    send(place, place->aggregator, 7, 64, "");
    assert_int_equal(published(place, ""), 32 | 64);
}

static void test_a_scene_needs_its_own(void **state)
{
    struct place *place = *state;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send(place, place->aggregator, i, 32, i == 1 ? "my secret" : "");
    for (uint8_t i = 1; i < TOKENS; i++)
        send(place, place->aggregator, i, 32, "cave");
    assert_int_equal(published(place, ""), 32);
    assert_int_equal(published(place, "my secret"), -1);
    assert_int_equal(published(place, "cave"), -1);
    send(place, place->aggregator, 1, 32, "cave");
    assert_int_equal(published(place, "cave"), -1);
    send(place, place->aggregator, TOKENS, 32, "cave");
    assert_int_equal(published(place, "cave"), 32);
    assert_int_equal(published(place, "my secret"), -1);
    /* What was vouched for runs out, and the scene's database is empty then. */
    place->now += (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    send(place, place->aggregator, 1, 32, "cave");
    assert_int_equal(published(place, "cave"), 32);
    place->now += DAY;
    upkeep(place->aggregator);
    assert_int_equal(published(place, "cave"), 0);
}

/* One player without flags among many with some does not own the estimate. */
static void test_no_flags_need_their_own(void **state)
{
    struct place *place = *state;
    for (uint8_t i = 1; i <= TOKENS; i++)
        send_flagged(place, place->aggregator, i, 32, "", PM_PROFILE_OCCLUDED, 16);
    send_flagged(place, place->aggregator, 9, 32, "", 0, 64);
    for (uint8_t i = 0; i < 2; i++) {
        assert_int_equal(published(place, ""), 32);
        const struct pm_database database = place_estimates(place);
        assert_int_equal(database.shader_count, 1);
        assert_int_equal(database.shaders[0].flags, i == 0 ? PM_PROFILE_OCCLUDED : 0);
        assert_int_equal(database.shaders[0].points[0].sessions, i == 0 ? TOKENS + 1 : TOKENS);
        for (uint8_t j = 1; j < TOKENS; j++)
            send_flagged(place, place->aggregator, j, 32, "", 0, 64);
    }
}

/* ---- import ---- */

/* Whoever imports vouches, for as long as a claim stands. */
static void test_import_vouches_after_upkeep(void **state)
{
    struct place *place = *state;
    struct pm_imported imported;
    struct pm_error error;
    char *path = join(place->folder, "other");
    struct pm_aggregator_info trusting = place->keeping; /* there a scene needs nobody's word */
    trusting.min_tokens = 1;
    struct pm_aggregator *other = pm_aggregator_open(path, &trusting, &error);
    assert_non_null(other);
    send(place, other, 0, 32, "cave");
    if (!pm_aggregator_import(place->aggregator, other, "game", &imported, &error))
        fail_msg("%s", error.message);
    pm_aggregator_destroy(other);
    free(path);
    assert_int_equal(published(place, ""), 32);
    assert_int_equal(published(place, "cave"), 32);
    upkeep(place->aggregator);
    assert_int_equal(published(place, ""), 32);
    assert_int_equal(published(place, "cave"), 32);
    place->now += (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    upkeep(place->aggregator);
    assert_int_equal(published(place, ""), 32);
    place->now += DAY;
    upkeep(place->aggregator);
    assert_false(pm_aggregator_curate(place->aggregator, "game", &error));
    assert_int_equal(error.code, PM_ERROR_STATE); /* nothing was left of it */
}

/* ---- retention ---- */

/* That one environment's claim is past retention forgets nothing of an upload that waits. */
static void test_a_shader_in_use_keeps_its_space(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    const struct pm_shader_key key = key_of(1);
    uint32_t space;
    send(place, place->aggregator, 1, 64, "");
    assert_true(pm_aggregator_fold(place->aggregator, "game", NULL));
    place->now += (int64_t)PM_RETENTION_DAYS * DAY;
    send(place, place->aggregator, 1, 32, "");
    upkeep(place->aggregator);
    assert_true(pm_storage_find_space(storage, "game", &key, PM_KIND_BLOCK, &space, NULL));
    assert_int_equal(space, 1);
    place->now += (int64_t)PM_RETENTION_DAYS * DAY;
    assert_true(pm_aggregator_fold(place->aggregator, "game", NULL));
    upkeep(place->aggregator);
    assert_true(pm_storage_find_space(storage, "game", &key, PM_KIND_BLOCK, &space, NULL));
    assert_int_equal(space, 0);
}

/* ---- marks ---- */

/* Of the environment. */
static size_t marks(struct pm_aggregator *aggregator)
{
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    struct pm_storage_claim subject = {.game = "game", .key = key_of(1), .kind = PM_KIND_BLOCK};
    const struct pm_environment environment = {.subgroup_size = 32};
    struct pm_error error;
    size_t size = 0;
    pm_claims_scope(&environment, true, "", subject.scope);
    if (!storage->operations->find_claims(storage, &subject, 1, count_marks, &size, &error))
        fail_msg("%s", error.message);
    return size;
}

/* Also while the system's clock has not yet gone evenly for long enough to delete by it: the test's
 * clock wrote marks on a day long ago, and then on one that is yet to come. */
static void test_marks_end_with_their_day(void **state)
{
    struct place *place = *state;
    for (int i = 0; i < 2; i++) {
        place->now = i == 0 ? MORNING : (int64_t)time(NULL) + 2 * DAY;
        place_open(place);
        send(place, place->aggregator, 1, 32, "");
        assert_true(marks(place->aggregator) > 0);
        place->now = 0;
        place_open(place);
        upkeep(place->aggregator);
        /* Today's stay. */
        assert_int_equal(marks(place->aggregator), i * PM_MARK_BYTES);
        send(place, place->aggregator, 1, 32, "");
        assert_true(marks(place->aggregator) > 0);
        upkeep(place->aggregator);
        assert_true(marks(place->aggregator) > 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_environment_needs_its_own),    TEST(test_a_scene_needs_its_own),
        TEST(test_no_flags_need_their_own),         TEST(test_import_vouches_after_upkeep),
        TEST(test_a_shader_in_use_keeps_its_space), TEST(test_marks_end_with_their_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
