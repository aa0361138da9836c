/*
 * Whose uploads count: the cap per token and day, distinct tokens before publication, claims of how
 * many points a shader has, and that nothing stored tells a token. The clock is the test's.
 */
#include "tests/aggregator/place.h"

#include "aggregator/storage/postgres/storage_postgres.h"
#include "aggregator/trust/claims.h"
#include "base/file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/cmocka_includes.h"

#define DAY 86400
#define MORNING ((int64_t)20000 * DAY + 1000)

static char *epoch_file; /* the file where the epoch's key survives */

static int set_up(void **state)
{
    struct place *place = place_create(11);
    epoch_file = join(place->folder, "db-epoch");
    place->now = MORNING;
    place->keeping.half_life_days = PM_HALF_LIFE_DAYS;
    place->keeping.retention_days = PM_RETENTION_DAYS;
    place->keeping.epoch_file = epoch_file;
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    free(epoch_file);
    return place_destroy(state);
}

static void open_with(struct place *place, uint32_t clusters, uint32_t min_tokens)
{
    place->keeping.token_clusters = clusters;
    place->keeping.min_tokens = min_tokens;
    place_open(place);
}

static struct pm_ingest_source token(unsigned number)
{
    struct pm_ingest_source source = {0};
    struct pm_random random;
    pm_random_init(&random, 1000 + number);
    for (size_t i = 0; i < sizeof(source.digest); i++)
        source.digest[i] = (uint8_t)pm_random_below(&random, 256);
    return source;
}

/* One upload of a game by a token (0: none), of one shader with this space and share of lanes. */
static struct pm_ingest_outcome send(struct place *place, const char *game, unsigned from,
                                     uint64_t shader_number, uint32_t space, uint64_t lanes)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    struct pm_point_counts points[16];
    for (uint32_t i = 0; i < space; i++)
        points[i] = block_counts(i, 1000, lanes);
    const struct pm_shader_profile shader =
        block_shader(place->arena, shader_number, space, points, space);
    const struct pm_profile *profile = profile_of(place->arena, &place->random, game, &shader, 1);
    const struct pm_ingest_source source = token(from), *sources = from ? &source : NULL;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    return outcome;
}

/* How many clusters of the shader's first point count; 0 when it is not there. */
static struct pm_ratio known(struct place *place, const char *game, uint64_t shader_number,
                             uint32_t *space)
{
    struct pm_database database;
    struct pm_error error;
    const struct pm_shader_key key = key_of(shader_number);
    if (!pm_aggregator_estimates(place->aggregator, game, NULL, place->arena, &database, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < database.shader_count; i++) {
        if (pm_shader_key_equal(&database.shaders[i].key, &key)) {
            *space = database.shaders[i].space;
            return database.shaders[i].points[0].measures[PM_MEASURE_FREQUENCY];
        }
    }
    *space = 0;
    return (struct pm_ratio){0};
}

static uint32_t clusters(struct place *place, const char *game, uint64_t shader_number)
{
    uint32_t space;
    return known(place, game, shader_number, &space).clusters;
}

/* The number of shaders in the published database, and how many of them are published. */
static size_t published(struct place *place, const char *game, size_t *in_all)
{
    char etag[PM_ETAG_TEXT];
    const struct pm_database database = place_published(place, game, etag);
    size_t count = 0;
    for (size_t i = 0; i < database.shader_count; i++)
        count += database.shaders[i].published;
    *in_all = database.shader_count;
    return count;
}

/* ---- the cap ---- */

static void test_cap(void **state)
{
    struct place *place = *state;
    open_with(place, 4, 1);
    for (unsigned i = 0; i < 10; i++) {
        const struct pm_ingest_outcome outcome = send(place, "game", 1, 1, 3, 500);
        assert_int_equal(outcome.result, PM_INGEST_STORED);
        assert_int_equal(outcome.uncounted, i >= 4);
    }
    assert_int_equal(clusters(place, "game", 1), 1);
    /* Another shader of the game is under the same cap; another game, another token and nobody's
     * token are not. */
    assert_true(send(place, "game", 1, 2, 3, 500).uncounted);
    assert_false(send(place, "other", 1, 1, 3, 500).uncounted);
    assert_false(send(place, "game", 2, 1, 3, 500).uncounted);
    for (unsigned i = 0; i < 6; i++)
        assert_false(send(place, "game", 0, 1, 3, 500).uncounted);
    assert_int_equal(clusters(place, "game", 1), 8);
    place->now += DAY;
    assert_false(send(place, "game", 1, 1, 3, 500).uncounted);
    assert_int_equal(clusters(place, "game", 1), 9);
}

/* Inventing games does not help: 64 times the cap in all. */
static void test_cap_over_games(void **state)
{
    struct place *place = *state;
    unsigned counted = 0;
    open_with(place, 1, 1);
    for (unsigned i = 0; i < 100; i++) {
        char game[16];
        snprintf(game, sizeof(game), "game %u", i);
        counted += !send(place, game, 1, 1, 1, 500).uncounted;
    }
    assert_int_equal(counted, 64);
    assert_false(send(place, "game 1", 2, 1, 1, 500).uncounted);
}

static bool fail_to_commit(struct pm_storage *storage, struct pm_storage_batch *batch,
                           struct pm_error *error)
{
    (void)storage;
    (void)batch;
    return pm_fail(error, PM_ERROR_LIMIT, "full");
}

/* A group that fails takes back what it counted. */
static void test_failed_group_is_not_counted(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    struct pm_ingest_outcome outcomes[2];
    open_with(place, 1, 1);
    const struct pm_point_counts point = block_counts(0, 1000, 500);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    const struct pm_profile *profile = place_profile(place, &shader);
    const struct pm_ingest_source source = token(1), *sources = &source;
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    const struct pm_storage_operations *works = storage->operations;
    struct pm_storage_operations fails = *works;
    fails.commit_uploads = fail_to_commit;
    storage->operations = &fails;
    assert_false(
        pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, outcomes, &error));
    storage->operations = works;
    works->rollback(storage);
    assert_true(
        pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, outcomes, &error));
    assert_int_equal(outcomes[0].result, PM_INGEST_STORED);
    assert_false(outcomes[0].uncounted);
    assert_true(send(place, "game", 1, 1, 1, 500).uncounted);
}

/* The counts survive a restart of the same day, but not the day. */
static void test_restart(void **state)
{
    struct place *place = *state;
    struct stat status;
    open_with(place, 2, 1);
    assert_false(send(place, "game", 1, 1, 1, 500).uncounted);
    assert_false(send(place, "game", 1, 1, 1, 500).uncounted);
    assert_false(send(place, "game", 2, 1, 1, 500).uncounted);
    place_close(place);
    assert_int_equal(stat(epoch_file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    open_with(place, 2, 1);
    assert_true(send(place, "game", 1, 1, 1, 500).uncounted);
    assert_false(send(place, "game", 2, 1, 1, 500).uncounted);
    assert_true(send(place, "game", 2, 1, 1, 500).uncounted);
    place->now += DAY;
    open_with(place, 2, 1);
    assert_false(send(place, "game", 1, 1, 1, 500).uncounted);
    place_close(place);
    /* What cannot be read begins a new epoch. */
    assert_true(pm_file_write(epoch_file, "PMepoch1 and rubbish", 20, NULL));
    open_with(place, 2, 1);
    assert_false(send(place, "game", 1, 1, 1, 500).uncounted);
    assert_false(send(place, "game", 1, 1, 1, 500).uncounted);
    assert_true(send(place, "game", 1, 1, 1, 500).uncounted);
}

/* ---- distinct tokens ---- */

static void test_publication_waits_for_tokens(void **state)
{
    struct place *place = *state;
    size_t in_all;
    open_with(place, 0, 5);
    for (unsigned i = 1; i <= 4; i++) {
        send(place, "game", i, 1, 2, 500);
        send(place, "game", 1, 1, 2, 500);
        assert_int_equal(published(place, "game", &in_all), 0);
        assert_int_equal(in_all, 0);
    }
    for (unsigned i = 0; i < 10; i++)
        send(place, "game", 0, 1, 2, 500); /* who has no token is nobody */
    assert_int_equal(published(place, "game", &in_all), 0);
    send(place, "game", 5, 1, 2, 500);
    send(place, "game", 5, 2, 2, 500);
    assert_int_equal(published(place, "game", &in_all), 1);
    assert_int_equal(in_all, 1);
    assert_int_equal(clusters(place, "game", 2), 1);

    /* It stays so the next day, and for as long as it was within the retention. */
    place->now += DAY;
    send(place, "game", 1, 1, 2, 500);
    assert_int_equal(published(place, "game", &in_all), 1);
    place->now = MORNING + (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    send(place, "game", 1, 1, 2, 500);
    assert_int_equal(published(place, "game", &in_all), 1);
    place->now += DAY;
    send(place, "game", 2, 1, 2, 500);
    assert_int_equal(published(place, "game", &in_all), 0);
}

/* The same four tokens on two days are not eight. */
static void test_tokens_of_days_do_not_add_up(void **state)
{
    struct place *place = *state;
    size_t in_all;
    open_with(place, 0, 5);
    for (unsigned day = 0; day < 3; day++) {
        for (unsigned i = 1; i <= 4; i++)
            send(place, "game", i, 1, 2, 500);
        place->now += DAY;
    }
    assert_int_equal(published(place, "game", &in_all), 0);
}

static void test_marks_survive_a_restart(void **state)
{
    struct place *place = *state;
    size_t in_all;
    open_with(place, 0, 3);
    send(place, "game", 1, 1, 2, 500);
    send(place, "game", 2, 1, 2, 500);
    open_with(place, 0, 3);
    send(place, "game", 1, 1, 2, 500);
    send(place, "game", 2, 1, 2, 500);
    assert_int_equal(published(place, "game", &in_all), 0);
    send(place, "game", 3, 1, 2, 500);
    assert_int_equal(published(place, "game", &in_all), 1);
}

/* ---- claims ---- */

/* Five liars were first. No honest upload is refused, and as soon as more honest tokens than liars
 * come on one day, what those said goes. */
static void test_majority_corrects_the_first_claim(void **state)
{
    struct place *place = *state;
    uint32_t space;
    open_with(place, 4, 3);
    for (unsigned i = 1; i <= 5; i++)
        assert_int_equal(send(place, "game", 100 + i, 1, 7, 1000).result, PM_INGEST_STORED);
    known(place, "game", 1, &space);
    assert_int_equal(space, 7);
    place->now += DAY;
    for (unsigned i = 1; i <= 5; i++)
        assert_int_equal(send(place, "game", i, 1, 2, 100).result, PM_INGEST_STORED);
    known(place, "game", 1, &space);
    assert_int_equal(space, 7); /* no more than those were */
    place->now += DAY;
    for (unsigned i = 1; i <= 6; i++) {
        assert_int_equal(send(place, "game", i, 1, 2, 100).result, PM_INGEST_STORED);
        assert_int_equal(send(place, "game", 100 + i % 5, 1, 7, 1000).result, PM_INGEST_STORED);
    }
    for (unsigned later = 0; later < 2; later++) { /* as it waits, and as it is folded */
        const struct pm_ratio found = known(place, "game", 1, &space);
        assert_int_equal(space, 2);
        assert_int_equal(found.clusters, 6);
        assert_true(fabs(found.mean - 0.1) < 1e-6);
        place->now += DAY;
    }
}

/* Few cannot do away with what many said, and one token has one voice. */
static void test_standing_claim(void **state)
{
    struct place *place = *state;
    uint32_t space;
    open_with(place, 4, 3);
    for (unsigned i = 1; i <= 20; i++)
        send(place, "game", i, 1, 2, 100);
    for (unsigned day = 0; day < 3; day++) {
        place->now += DAY;
        send(place, "game", 1, 1, 2, 100);
        for (unsigned i = 101; i <= 119; i++)
            assert_int_equal(send(place, "game", i, 1, 3, 100).result, PM_INGEST_STORED);
    }
    known(place, "game", 1, &space);
    assert_int_equal(space, 2);
    assert_int_equal(clusters(place, "game", 1), 23);

    /* Shader 2: few tokens claim many spaces, and keep no true one out. */
    for (uint32_t i = 4; i <= 16; i++)
        send(place, "game", 30 + i / 4, 2, i, 100);
    for (unsigned i = 41; i <= 43; i++)
        send(place, "game", i, 2, 2, 100);
    known(place, "game", 2, &space);
    assert_int_equal(space, 2);
    place->now += DAY;
    known(place, "game", 2, &space);
    assert_int_equal(space, 2);
}

/* One upload, whose shader has a block that runs at most once, if it says so. */
static void send_once(struct place *place, unsigned from, bool says_so, uint64_t lanes)
{
    static const uint8_t once = 1;
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    const struct pm_point_counts point = block_counts(0, 1000, lanes);
    struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    shader.at_most_once = says_so ? &once : NULL;
    const struct pm_profile *profile = profile_of(place->arena, &place->random, "game", &shader, 1);
    const struct pm_ingest_source source = token(from), *sources = &source;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

/* Who leaves out that a block runs at most once cannot make it run sixteen times. */
static void test_facts_are_a_claim(void **state)
{
    struct place *place = *state;
    uint32_t space;
    open_with(place, 4, 3);
    for (unsigned i = 0; i < 5; i++)
        send_once(place, 100 + i, false, 16000);
    for (unsigned i = 0; i < 20; i++)
        send_once(place, i + 1, true, 100);
    for (unsigned later = 0; later < 2; later++) {
        const struct pm_ratio found = known(place, "game", 1, &space);
        assert_int_equal(found.clusters, 20);
        assert_true(fabs(found.mean - 0.1) < 1e-6);
        assert_true(found.mean_high < 1);
        place->now += DAY;
    }
    /* On another day they are the only ones, and still fewer than those were. */
    for (unsigned i = 0; i < 19; i++)
        send_once(place, 100 + i, false, 16000);
    place->now += DAY;
    assert_int_equal(clusters(place, "game", 1), 20);
}

/* Whoever has the words knows: the majority of a day does not count against it. */
static void test_known_shader(void **state)
{
    static const uint8_t once = 1;
    struct place *place = *state;
    uint32_t space;
    bool replaced;
    struct pm_error error;
    struct pm_shader_profile shader = {
        .key = key_of(1), .kind = PM_KIND_BLOCK, .space = 1, .at_most_once = &once};
    open_with(place, 4, 3);
    for (unsigned i = 1; i <= 6; i++)
        send(place, "game", i, 1, 7, 100);
    place->now += DAY;
    known(place, "game", 1, &space);
    assert_int_equal(space, 7);
    assert_true(pm_aggregator_know_shader(place->aggregator, "game", &shader, &replaced, &error));
    assert_true(replaced);
    for (unsigned day = 0; day < 70; day += 23) {
        for (unsigned i = 0; i < 9; i++)
            send_once(place, 100 + i, false, 16000);
        for (unsigned i = 0; i < 9; i++)
            send(place, "game", 200 + i, 1, 7, 100);
        send_once(place, 1, true, 100);
        place->now += (int64_t)23 * DAY;
        bool expired;
        assert_true(pm_aggregator_upkeep(place->aggregator, &expired, &error));
        const struct pm_ratio found = known(place, "game", 1, &space);
        assert_int_equal(space, 1);
        assert_in_range(found.clusters, 1, 3);
        assert_true(fabs(found.mean - 0.1) < 1e-6);
    }
    assert_true(pm_aggregator_know_shader(place->aggregator, "game", &shader, &replaced, &error));
    assert_false(replaced);
}

/* ---- one cluster a day ---- */

/* What a token sends on one day is one pair, whatever comes in between, until the day has ended and
 * after; a fleet's uploads are of as many players. */
static void test_a_day_is_one_cluster(void **state)
{
    struct place *place = *state;
    uint32_t space;
    open_with(place, 4, 3);
    send(place, "game", 1, 1, 2, 0);
    assert_int_equal(clusters(place, "game", 1), 1);
    for (unsigned i = 0; i < 3; i++)
        send(place, "game", 1, 1, 2, 1000);
    for (unsigned i = 2; i <= 4; i++)
        send(place, "game", i, 1, 2, 0);
    for (unsigned later = 0; later < 3; later++) {
        const struct pm_ratio found = known(place, "game", 1, &space);
        assert_int_equal(found.clusters, 4);
        assert_true(fabs(found.mean - 0.75 / 4) < 1e-6);
        assert_int_equal(place_rows_that_wait(place) > 0, later == 0);
        place->now += DAY;
    }
    const struct pm_point_counts points[2] = {block_counts(0, 1000, 0), block_counts(1, 1000, 0)};
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 2, points, 2);
    struct pm_ingest_source fleet = token(50);
    const struct pm_ingest_source *sources = &fleet;
    fleet.fleet = true;
    for (unsigned i = 0; i < 9; i++) {
        struct pm_ingest_outcome outcome;
        const struct pm_profile *profile = place_profile(place, &shader);
        assert_true(
            pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, NULL));
        assert_false(outcome.uncounted);
    }
    assert_int_equal(clusters(place, "game", 1), 13);
}

/* The marks go with the day, also of a game that nobody curates. */
static void test_day_marks_go(void **state)
{
    struct place *place = *state;
    struct pm_error error;
    open_with(place, 4, 3);
    for (unsigned i = 1; i <= 4; i++)
        send(place, "game", i, 1, 2, 500);
    assert_true(pm_aggregator_fold_some(place->aggregator, &error));
    assert_true(place_rows_that_wait(place) > 0);
    place->now += DAY;
    assert_true(pm_aggregator_fold_some(place->aggregator, &error));
    assert_int_equal(place_rows_that_wait(place), 0);
    assert_int_equal(clusters(place, "game", 1), 4);
}

/* ---- a rogue ---- */

/* Ninety-six honest tokens and one rogue, which sends a hundred uploads of the largest numbers: the
 * mean of ratios moves by one cluster's share at most. */
static void test_rogue_moves_a_mean_by_its_share(void **state)
{
    struct place *place = *state;
    uint32_t space;
    open_with(place, PM_TOKEN_CLUSTERS, PM_MIN_TOKENS);
    for (unsigned i = 1; i <= 96; i++)
        send(place, "game", i, 1, 1, 250);
    const double honest = known(place, "game", 1, &space).mean;
    assert_true(fabs(honest - 0.25) < 1e-6);
    for (unsigned i = 0; i < 100; i++)
        send(place, "game", 999, 1, 1, 1000);
    const struct pm_ratio found = known(place, "game", 1, &space);
    assert_int_equal(found.clusters, 97);
    assert_true(found.mean - honest <= (1 - honest) / 97.0 + 1e-9);
    /* The histogram still shows two populations: the rogue at exactly 1. */
    struct pm_database database;
    uint64_t bins[24];
    place->now += DAY;
    assert_true(
        pm_aggregator_estimates(place->aggregator, "game", NULL, place->arena, &database, NULL));
    histogram_of(place->aggregator, "game", &database.shaders[0], 0, PM_MEASURE_FREQUENCY, NULL,
                 bins);
    assert_int_equal(bins[3], 96);
    assert_int_equal(bins[11], 1);
}

/* It does not help to claim screens that nobody has: it weighs no more than three times the average
 * player. */
static void test_rogue_size(void **state)
{
    struct place *place = *state;
    uint32_t space;
    open_with(place, PM_TOKEN_CLUSTERS, PM_MIN_TOKENS);
    for (unsigned i = 1; i <= 96; i++)
        send(place, "game", i, 1, 1, 250);
    const struct pm_ratio honest = known(place, "game", 1, &space);
    assert_true(fabs(honest.ratio - 0.25) < 1e-6);
    for (unsigned i = 0; i < 10; i++) {
        struct pm_ingest_outcome outcome;
        const struct pm_ingest_source source = token(999), *sources = &source;
        const struct pm_point_counts point = block_counts(0, UINT64_C(1) << 60, UINT64_C(1) << 60);
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
        const struct pm_profile *profile = place_profile(place, &shader);
        assert_true(
            pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, NULL));
    }
    const struct pm_ratio found = known(place, "game", 1, &space);
    assert_int_equal(found.clusters, 97);
    assert_true(found.mean - honest.mean <= 0.75 / 97.0 + 1e-9);
    assert_true(found.ratio - honest.ratio <= 0.75 * 3 / 97.0 + 1e-9);
}

/* ---- privacy ---- */

static bool file_has(const char *path, const void *bytes, size_t size)
{
    struct pm_buffer content;
    if (pm_storage_postgres_is_url(path))
        return false;
    pm_buffer_init(&content, (size_t)1 << 28);
    assert_true(pm_file_read(path, &content, NULL));
    const bool has = memmem(content.data, content.size, bytes, size) != NULL;
    pm_buffer_finish(&content);
    return has;
}

static bool count_marks(void *user, const struct pm_storage_claim *claim, struct pm_error *error)
{
    (void)error;
    *(size_t *)user += claim->mark ? PM_MARK_BYTES : 0;
    return true;
}

/* Neither a token's digest nor the key is in the storage; the key file is gone with its day. */
static void test_nothing_tells_a_token(void **state)
{
    struct place *place = *state;
    struct pm_buffer epoch;
    bool expired;
    struct pm_error error;
    const size_t key_at = 16, key_size = 32; /* struct head of sources.c */
    open_with(place, 4, 3);
    send(place, "game", 1, 1, 1, 500);
    send(place, "game", 1, 2, 1, 500);
    place_close(place);
    const struct pm_ingest_source source = token(1);
    assert_false(file_has(place->path, source.digest, sizeof(source.digest)));
    assert_false(file_has(place->path, source.digest, 8));
    assert_false(file_has(epoch_file, source.digest, 8));
    pm_buffer_init(&epoch, 1 << 20);
    assert_true(pm_file_read(epoch_file, &epoch, NULL));
    assert_true(epoch.size >= key_at + key_size);
    assert_false(file_has(place->path, epoch.data + key_at, key_size));

    place->now += DAY;
    open_with(place, 4, 3);
    assert_true(pm_aggregator_upkeep(place->aggregator, &expired, &error));
    assert_false(file_has(epoch_file, epoch.data + key_at, key_size));
    pm_buffer_finish(&epoch);
    /* And the marks of yesterday are blanked. */
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    size_t marked = 0;
    struct pm_storage_claim subject = {.game = "game", .key = key_of(1), .kind = PM_KIND_BLOCK};
    pm_claims_scope(&(struct pm_environment){.subgroup_size = 8}, true, "", subject.scope);
    assert_true(
        storage->operations->find_claims(storage, &subject, 1, count_marks, &marked, &error));
    assert_int_equal(marked, 0);
    send(place, "game", 1, 1, 1, 500);
    assert_true(
        storage->operations->find_claims(storage, &subject, 1, count_marks, &marked, &error));
    assert_int_equal(marked, 8);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cap),
        TEST(test_cap_over_games),
        TEST(test_failed_group_is_not_counted),
        TEST(test_restart),
        TEST(test_publication_waits_for_tokens),
        TEST(test_tokens_of_days_do_not_add_up),
        TEST(test_marks_survive_a_restart),
        TEST(test_majority_corrects_the_first_claim),
        TEST(test_standing_claim),
        TEST(test_facts_are_a_claim),
        TEST(test_known_shader),
        TEST(test_a_day_is_one_cluster),
        TEST(test_day_marks_go),
        TEST(test_rogue_moves_a_mean_by_its_share),
        TEST(test_rogue_size),
        TEST(test_nothing_tells_a_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
