/*
 * Whose uploads count: the cap per token and day, distinct tokens before publication, what a rogue
 * moves, and that nothing stored tells a token. The clock is the test's.
 */
#include "tests/aggregator/trust/trust_place.h"

#include "aggregator/storage/postgres/storage_postgres.h"
#include "aggregator/trust/claims.h"
#include "base/file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/cmocka_includes.h"

/* ---- the cap ---- */

static void test_cap(void **state)
{
    struct place *place = *state;
    trust_open(place, 4, 1);
    for (unsigned i = 0; i < 10; i++) {
        const struct pm_ingest_outcome outcome = trust_send(place, "game", 1, 1, 3, 500);
        assert_int_equal(outcome.result, PM_INGEST_STORED);
        assert_int_equal(outcome.uncounted, i >= 4);
    }
    assert_int_equal(trust_clusters(place, "game", 1), 1);
    /* Another shader of the game is under the same cap; another game, another token and nobody's
     * token are not. */
    assert_true(trust_send(place, "game", 1, 2, 3, 500).uncounted);
    assert_false(trust_send(place, "other", 1, 1, 3, 500).uncounted);
    assert_false(trust_send(place, "game", 2, 1, 3, 500).uncounted);
    for (unsigned i = 0; i < 6; i++)
        assert_false(trust_send(place, "game", 0, 1, 3, 500).uncounted);
    assert_int_equal(trust_clusters(place, "game", 1), 8);
    place->now += DAY;
    assert_false(trust_send(place, "game", 1, 1, 3, 500).uncounted);
    assert_int_equal(trust_clusters(place, "game", 1), 9);
}

/* Inventing games does not help: 64 times the cap in all. */
static void test_cap_over_games(void **state)
{
    struct place *place = *state;
    unsigned counted = 0;
    trust_open(place, 1, 1);
    for (unsigned i = 0; i < 100; i++) {
        char game[16];
        snprintf(game, sizeof(game), "game %u", i);
        counted += !trust_send(place, game, 1, 1, 1, 500).uncounted;
    }
    assert_int_equal(counted, 64);
    assert_false(trust_send(place, "game 1", 2, 1, 1, 500).uncounted);
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
    trust_open(place, 1, 1);
    const struct pm_point_counts point = block_counts(0, 1000, 500);
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
    const struct pm_profile *profile = place_profile(place, &shader);
    const struct pm_ingest_source source = trust_token(1), *sources = &source;
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
    assert_true(trust_send(place, "game", 1, 1, 1, 500).uncounted);
}

/* The counts survive a restart of the same day, but not the day. */
static void test_restart(void **state)
{
    struct place *place = *state;
    struct stat status;
    trust_open(place, 2, 1);
    assert_false(trust_send(place, "game", 1, 1, 1, 500).uncounted);
    assert_false(trust_send(place, "game", 1, 1, 1, 500).uncounted);
    assert_false(trust_send(place, "game", 2, 1, 1, 500).uncounted);
    place_close(place);
    assert_int_equal(stat(trust_epoch_file, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    trust_open(place, 2, 1);
    assert_true(trust_send(place, "game", 1, 1, 1, 500).uncounted);
    assert_false(trust_send(place, "game", 2, 1, 1, 500).uncounted);
    assert_true(trust_send(place, "game", 2, 1, 1, 500).uncounted);
    place->now += DAY;
    trust_open(place, 2, 1);
    assert_false(trust_send(place, "game", 1, 1, 1, 500).uncounted);
    place_close(place);
    /* What cannot be read begins a new epoch. */
    assert_true(pm_file_write(trust_epoch_file, "PMepoch1 and rubbish", 20, NULL));
    trust_open(place, 2, 1);
    assert_false(trust_send(place, "game", 1, 1, 1, 500).uncounted);
    assert_false(trust_send(place, "game", 1, 1, 1, 500).uncounted);
    assert_true(trust_send(place, "game", 1, 1, 1, 500).uncounted);
}

/* ---- distinct tokens ---- */

static void test_publication_waits_for_tokens(void **state)
{
    struct place *place = *state;
    size_t in_all;
    trust_open(place, 0, 5);
    for (unsigned i = 1; i <= 4; i++) {
        trust_send(place, "game", i, 1, 2, 500);
        trust_send(place, "game", 1, 1, 2, 500);
        assert_int_equal(trust_published(place, "game", &in_all), 0);
        assert_int_equal(in_all, 0);
    }
    for (unsigned i = 0; i < 10; i++)
        trust_send(place, "game", 0, 1, 2, 500); /* who has no token is nobody */
    assert_int_equal(trust_published(place, "game", &in_all), 0);
    trust_send(place, "game", 5, 1, 2, 500);
    trust_send(place, "game", 5, 2, 2, 500);
    assert_int_equal(trust_published(place, "game", &in_all), 1);
    assert_int_equal(in_all, 1);
    assert_int_equal(trust_clusters(place, "game", 2), 1);

    /* It stays so the next day, and for as long as it was within the retention. */
    place->now += DAY;
    trust_send(place, "game", 1, 1, 2, 500);
    assert_int_equal(trust_published(place, "game", &in_all), 1);
    place->now = MORNING + (int64_t)(PM_RETENTION_DAYS - 1) * DAY;
    trust_send(place, "game", 1, 1, 2, 500);
    assert_int_equal(trust_published(place, "game", &in_all), 1);
    place->now += DAY;
    trust_send(place, "game", 2, 1, 2, 500);
    assert_int_equal(trust_published(place, "game", &in_all), 0);
}

/* The same four tokens on two days are not eight. */
static void test_tokens_of_days_do_not_add_up(void **state)
{
    struct place *place = *state;
    size_t in_all;
    trust_open(place, 0, 5);
    for (unsigned day = 0; day < 3; day++) {
        for (unsigned i = 1; i <= 4; i++)
            trust_send(place, "game", i, 1, 2, 500);
        place->now += DAY;
    }
    assert_int_equal(trust_published(place, "game", &in_all), 0);
}

static void test_marks_survive_a_restart(void **state)
{
    struct place *place = *state;
    size_t in_all;
    trust_open(place, 0, 3);
    trust_send(place, "game", 1, 1, 2, 500);
    trust_send(place, "game", 2, 1, 2, 500);
    trust_open(place, 0, 3);
    trust_send(place, "game", 1, 1, 2, 500);
    trust_send(place, "game", 2, 1, 2, 500);
    assert_int_equal(trust_published(place, "game", &in_all), 0);
    trust_send(place, "game", 3, 1, 2, 500);
    assert_int_equal(trust_published(place, "game", &in_all), 1);
}

/* ---- a rogue ---- */

/* Ninety-six honest tokens and one rogue, which sends a hundred uploads of the largest numbers: the
 * mean of ratios moves by one cluster's share at most. */
static void test_rogue_moves_a_mean_by_its_share(void **state)
{
    struct place *place = *state;
    uint32_t space;
    trust_open(place, PM_TOKEN_CLUSTERS, PM_MIN_TOKENS);
    for (unsigned i = 1; i <= 96; i++)
        trust_send(place, "game", i, 1, 1, 250);
    const double honest = trust_known(place, "game", 1, &space).mean;
    assert_true(fabs(honest - 0.25) < 1e-6);
    for (unsigned i = 0; i < 100; i++)
        trust_send(place, "game", 999, 1, 1, 1000);
    const struct pm_ratio found = trust_known(place, "game", 1, &space);
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
    trust_open(place, PM_TOKEN_CLUSTERS, PM_MIN_TOKENS);
    for (unsigned i = 1; i <= 96; i++)
        trust_send(place, "game", i, 1, 1, 250);
    const struct pm_ratio honest = trust_known(place, "game", 1, &space);
    assert_true(fabs(honest.ratio - 0.25) < 1e-6);
    for (unsigned i = 0; i < 10; i++) {
        struct pm_ingest_outcome outcome;
        const struct pm_ingest_source source = trust_token(999), *sources = &source;
        const struct pm_point_counts point = block_counts(0, UINT64_C(1) << 60, UINT64_C(1) << 60);
        const struct pm_shader_profile shader = block_shader(place->arena, 1, 1, &point, 1);
        const struct pm_profile *profile = place_profile(place, &shader);
        assert_true(
            pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, NULL));
    }
    const struct pm_ratio found = trust_known(place, "game", 1, &space);
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

/* Neither a token's digest nor the key is in the storage; the key file is gone with its day. */
static void test_nothing_tells_a_token(void **state)
{
    struct place *place = *state;
    struct pm_buffer epoch;
    bool expired;
    struct pm_error error;
    const size_t key_at = 16, key_size = 32; /* struct head of sources.c */
    trust_open(place, 4, 3);
    trust_send(place, "game", 1, 1, 1, 500);
    trust_send(place, "game", 1, 2, 1, 500);
    place_close(place);
    const struct pm_ingest_source source = trust_token(1);
    assert_false(file_has(place->path, source.digest, sizeof(source.digest)));
    assert_false(file_has(place->path, source.digest, 8));
    assert_false(file_has(trust_epoch_file, source.digest, 8));
    pm_buffer_init(&epoch, 1 << 20);
    assert_true(pm_file_read(trust_epoch_file, &epoch, NULL));
    assert_true(epoch.size >= key_at + key_size);
    assert_false(file_has(place->path, epoch.data + key_at, key_size));

    place->now += DAY;
    trust_open(place, 4, 3);
    assert_true(pm_aggregator_upkeep(place->aggregator, &expired, &error));
    assert_false(file_has(trust_epoch_file, epoch.data + key_at, key_size));
    pm_buffer_finish(&epoch);
    /* And the marks of yesterday are blanked. */
    struct pm_storage *storage = pm_aggregator_storage(place->aggregator);
    size_t marked = 0;
    struct pm_storage_claim subject = {.game = "game", .key = key_of(1), .kind = PM_KIND_BLOCK};
    pm_claims_scope(&(struct pm_environment){.subgroup_size = 8}, true, "", subject.scope);
    assert_true(
        storage->operations->find_claims(storage, &subject, 1, count_marks, &marked, &error));
    assert_int_equal(marked, 0);
    trust_send(place, "game", 1, 1, 1, 500);
    assert_true(
        storage->operations->find_claims(storage, &subject, 1, count_marks, &marked, &error));
    assert_int_equal(marked, 8);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, trust_set_up, trust_tear_down)
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
        TEST(test_rogue_moves_a_mean_by_its_share),
        TEST(test_rogue_size),
        TEST(test_nothing_tells_a_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
