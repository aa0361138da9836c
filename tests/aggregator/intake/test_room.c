/* How many games, and how many scenes of a game, may be known: invented names neither fill the
 * storage nor take the place of true ones. */
#include "tests/aggregator/place.h"

#include <stdio.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define INVENTED 50

static int set_up(void **state)
{
    struct place *place = place_create(21);
    place->now = 20000 * (int64_t)DAY;
    *state = place;
    return 0;
}

/* A profile of a game and scene: shaders of one point each, from the first on. */
static struct pm_profile *named(struct place *place, const char *game, const char *scene,
                                uint64_t first, size_t shaders)
{
    const struct pm_point_counts counts = block_counts(0, 8, 4);
    struct pm_shader_profile all[INVENTED];
    for (size_t i = 0; i < shaders; i++)
        all[i] = block_shader(place->arena, first + i, 1, &counts, 1);
    struct pm_profile *profile = profile_of(place->arena, &place->random, game, all, shaders);
    profile->scene = scene;
    return profile;
}

/* A name of its own for each number; the arena's. */
static const char *invent(struct place *place, unsigned number)
{
    return pm_arena_printf(place->arena, "invented %u", number);
}

static enum pm_ingest_result upload(struct place *place, const char *game)
{
    return place_ingest(place, named(place, game, "", 1, 1)).result;
}

/* From the token of this number; 0: without one. */
static void upload_scene(struct place *place, unsigned token, const char *scene, size_t shaders)
{
    const struct pm_profile *profile = named(place, "game", scene, 1, shaders);
    const struct pm_ingest_source source = {{(uint8_t)token, 1}}, *from = token ? &source : NULL;
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &from, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
    assert_false(outcome.uncounted);
}

/* ---- games ---- */

static bool note_entry(void *user, const struct pm_quarantined *entry, struct pm_error *error)
{
    (void)entry;
    (void)error;
    ++*(unsigned *)user;
    return true;
}

static void test_games(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    uint64_t blobs;
    unsigned quarantined = 0;
    place->keeping.max_games = 2;
    place_open(place);
    assert_int_equal(upload(place, "one"), PM_INGEST_STORED);
    assert_int_equal(upload(place, "two"), PM_INGEST_STORED);
    const struct pm_profile *third = named(place, "three", "", 1, 1);
    const struct pm_ingest_outcome outcome = place_ingest(place, third);
    assert_int_equal(outcome.result, PM_INGEST_NO_ROOM);
    assert_int_equal(outcome.reason.code, PM_ERROR_LIMIT);
    assert_non_null(strstr(outcome.reason.message, "game: "));
    assert_non_null(strstr(outcome.reason.message, "2 games are known"));
    assert_int_equal(upload(place, "one"), PM_INGEST_STORED);
    assert_true(
        pm_aggregator_quarantine(place->aggregator, NULL, note_entry, &quarantined, &error));
    assert_int_equal(quarantined, 0);
    /* Nothing of it was kept: sent again when there is room, it counts. */
    assert_true(pm_aggregator_drop(place->aggregator, "one", NULL, &blobs, &error));
    assert_int_equal(place_ingest(place, third).result, PM_INGEST_STORED);
    assert_int_equal(place_ingest(place, third).result, PM_INGEST_DUPLICATE);
    assert_int_equal(upload(place, "one"), PM_INGEST_NO_ROOM);
    /* Also those of a storage that was filled before there was a limit. */
    place->keeping.max_games = 1;
    place_open(place);
    assert_int_equal(upload(place, "two"), PM_INGEST_STORED);
    assert_int_equal(upload(place, "three"), PM_INGEST_STORED);
    assert_int_equal(upload(place, "one"), PM_INGEST_NO_ROOM);
}

/* From the token of this number. */
static enum pm_ingest_result upload_from(struct place *place, unsigned token, const char *game)
{
    const struct pm_profile *profile = named(place, game, "", 1, 1);
    const struct pm_ingest_source source = {{(uint8_t)token, 1}}, *from = &source;
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &from, 1, &outcome, &error))
        fail_msg("%s", error.message);
    return outcome.result;
}

static bool is_known(struct place *place, const char *game)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    uint64_t uploads;
    bool known;
    struct pm_error error;
    assert_true(storage->operations->find_game(storage, game, &known, &uploads, &error));
    return known;
}

/* As the metrics have it. */
static uint64_t unvouched(struct place *place)
{
    struct pm_error error;
    bool expired;
    if (!pm_aggregator_upkeep(place->aggregator, &expired, &error))
        fail_msg("%s", error.message);
    return pm_aggregator_unvouched_games(place->aggregator);
}

/* Four tokens that invent games take each other's places, not those of games that are played. */
static void test_invented_games_make_room(void **state)
{
    struct place *place = *state;
    struct pm_storage *storage;
    struct pm_error error;
    uint64_t games;
    place->keeping.max_games = 8;
    place->keeping.min_tokens = 3;
    place->keeping.token_clusters = 4;
    place_open(place);
    storage = pm_aggregator_storage(place->aggregator);
    for (unsigned token = 10; token < 13; token++)
        assert_int_equal(upload_from(place, token, "played"), PM_INGEST_STORED);
    for (unsigned i = 0; i < INVENTED; i++)
        assert_int_equal(upload_from(place, 1 + i % 4, invent(place, i)), PM_INGEST_STORED);
    assert_true(storage->operations->count_games(storage, &games, &error));
    assert_int_equal(games, 8);
    assert_true(is_known(place, "played"));
    assert_int_equal(unvouched(place), 7);
    /* A new one that is played comes in, and stays. */
    place->now += DAY;
    for (unsigned token = 10; token < 13; token++)
        assert_int_equal(upload_from(place, token, "new"), PM_INGEST_STORED);
    for (unsigned i = INVENTED; i < 2 * INVENTED; i++)
        assert_int_equal(upload_from(place, 1 + i % 4, invent(place, i)), PM_INGEST_STORED);
    assert_true(is_known(place, "played"));
    assert_true(is_known(place, "new"));
    assert_true(storage->operations->count_games(storage, &games, &error));
    assert_int_equal(games, 8);
    assert_int_equal(unvouched(place), 6);
    /* Where all are played, there is no room. */
    for (unsigned i = 0; i < 6; i++) {
        for (unsigned token = 20; token < 23; token++)
            upload_from(place, token, invent(place, 1000 + i));
    }
    assert_int_equal(upload_from(place, 30, "one more"), PM_INGEST_NO_ROOM);
    assert_true(is_known(place, "played"));
    place->now += 60;
    assert_int_equal(unvouched(place), 0);
}

/* New games of one transaction are counted with each other. */
static void test_games_of_a_group(void **state)
{
    struct place *place = *state;
    static const char *const names[] = {"one", "two", "one", "three", "four", "two", "one"};
    enum { COUNT = sizeof(names) / sizeof(*names) };
    const struct pm_profile *profiles[COUNT];
    struct pm_ingest_outcome outcomes[COUNT];
    struct pm_error error;
    place->keeping.max_games = 3;
    place_open(place);
    assert_int_equal(upload(place, "zero"), PM_INGEST_STORED);
    for (size_t i = 0; i < COUNT; i++)
        profiles[i] = named(place, names[i], "", 1, 1);
    assert_true(pm_aggregator_ingest(place->aggregator, profiles, COUNT, outcomes, &error));
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(outcomes[i].result,
                         i == 3 || i == 4 ? PM_INGEST_NO_ROOM : PM_INGEST_STORED);
}

/* ---- scenes ---- */

static bool append_scene(void *user, const char *scene, uint64_t uploads, uint32_t day,
                         struct pm_error *error)
{
    (void)day;
    (void)error;
    return pm_buffer_printf(user, "%s=%u ", scene, (unsigned)uploads);
}

static bool append_blob(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                        struct pm_error *error)
{
    (void)blob;
    (void)size;
    (void)error;
    return pm_buffer_printf(user, "[%s]", key->scene);
}

/* What is known of scenes, and, once all is folded, of which scene statistics are. */
static void assert_scenes(struct place *place, const char *known, const char *blobs)
{
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    struct pm_buffer text;
    struct pm_error error;
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_aggregator_fold(place->aggregator, "game", &error));
    assert_true(pm_buffer_append(&text, "", 0));
    assert_true(storage->operations->list_scenes(storage, "game", 9, append_scene, &text, &error));
    assert_string_equal(text.data ? (char *)text.data : "", known);
    text.size = 0;
    assert_true(storage->operations->read_game(storage, "game", NULL, append_blob, &text, &error));
    assert_string_equal(text.data, blobs);
    pm_buffer_finish(&text);
}

static void test_scenes(void **state)
{
    struct place *place = *state;
    place->keeping.max_scenes = 2;
    place_open(place);
    upload_scene(place, 0, "cave", 1);
    upload_scene(place, 0, "sky", 1);
    for (unsigned i = 0; i < INVENTED; i++)
        upload_scene(place, 0, invent(place, i), 1);
    upload_scene(place, 0, "sky", 1);
    assert_scenes(place, "sky=2 cave=1 ", "[][cave][sky]");
    /* None of them is lost to the game. */
    assert_int_equal(place_estimates(place).shaders[0].points[0].sessions, INVENTED + 3);
}

/* Where there are tokens, a name that fewer than enough of them use is nobody's scene. */
static void test_scenes_of_tokens(void **state)
{
    struct place *place = *state;
    place->keeping.min_tokens = 3;
    place->keeping.max_scenes = 2;
    place_open(place);
    for (unsigned i = 0; i < INVENTED; i++)
        upload_scene(place, 1 + i % 2, invent(place, i), 1);
    assert_scenes(place, "", "[]");
    upload_scene(place, 1, "cave", 1);
    upload_scene(place, 1, "cave", 1);
    upload_scene(place, 2, "cave", 1);
    assert_scenes(place, "", "[]");
    upload_scene(place, 3, "cave", 1);
    assert_scenes(place, "cave=1 ", "[][cave]");
    upload_scene(place, 1, "cave", 1);
    assert_scenes(place, "cave=2 ", "[][cave]");
    /* It stays one, also while fewer use it. */
    place->now += DAY;
    upload_scene(place, 4, "cave", 1);
    assert_scenes(place, "cave=3 ", "[][cave][cave]");
}

/* One large upload is not worth as many small ones. */
static void test_rank(void **state)
{
    struct place *place = *state;
    char etag[PM_ETAG_TEXT];
    struct pm_error error;
    place->keeping.scenes = 1;
    place_open(place);
    upload_scene(place, 0, "sky", 1);
    upload_scene(place, 0, "crowd", INVENTED);
    upload_scene(place, 0, "sky", 1);
    place_published(place, "game", etag);
    const struct pm_publication sky = {.game = "game", .scene = "sky"},
                                crowd = {.game = "game", .scene = "crowd"};
    assert_true(pm_aggregator_publication(place->aggregator, &sky, etag, NULL, &error));
    assert_false(pm_aggregator_publication(place->aggregator, &crowd, etag, NULL, &error));
}

/* A scene that nobody names any more makes room, and goes with its game. */
static void test_retention(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    bool expired;
    place->keeping.max_scenes = 1;
    place->keeping.retention_days = 10;
    place_open(place);
    upload_scene(place, 0, "cave", 1);
    upload_scene(place, 0, "sky", 1);
    assert_scenes(place, "cave=1 ", "[][cave]");
    place->now += 20 * (int64_t)DAY;
    upload_scene(place, 0, "sky", 1);
    assert_true(pm_aggregator_upkeep(place->aggregator, &expired, &error));
    assert_scenes(place, "", "[]");
    upload_scene(place, 0, "sky", 1);
    assert_scenes(place, "sky=1 ", "[][sky]");
    place->now += 20 * (int64_t)DAY;
    assert_true(pm_aggregator_upkeep(place->aggregator, &expired, &error));
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    uint64_t games;
    bool known;
    assert_true(storage->operations->count_games(storage, &games, &error));
    assert_int_equal(games, 0);
    assert_true(pm_storage_find_scene(storage, "game", "sky", &known, &error));
    assert_false(known);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_games),     TEST(test_games_of_a_group), TEST(test_invented_games_make_room),
        TEST(test_scenes),    TEST(test_scenes_of_tokens), TEST(test_rank),
        TEST(test_retention),
    };
    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
