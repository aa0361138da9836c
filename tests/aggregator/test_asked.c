/* How often an engine is asked for uploads (with_postgres.sh): a machine between it and us is waited
 * for each time. */
#include "aggregator/storage/postgres/storage_postgres_private.h"
#include "tests/aggregator/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { SHADERS = 150, SPACE = 8, BATCH = 64 };
#define NOON (20000 * INT64_C(86400) + 43200)

static uint64_t statements(struct place *place)
{
    return atomic_load(
        &((struct pm_postgres *)pm_aggregator_storage(place->aggregator))->statements);
}

/* How many statements an upload takes where so many come at a time, each of a token of its own. */
static double asked(struct place *place, size_t batch, unsigned batches, uint8_t first)
{
    const struct pm_profile *profiles[BATCH];
    struct pm_ingest_source tokens[BATCH];
    const struct pm_ingest_source *sources[BATCH];
    struct pm_ingest_outcome outcomes[BATCH];
    struct pm_error error;
    const uint64_t before = statements(place);
    for (unsigned i = 0; i < batches; i++) {
        for (size_t j = 0; j < batch; j++) {
            struct pm_profile *profile =
                random_profile(place->arena, &place->random, "game", SHADERS, SPACE);
            profile->day = (uint32_t)(NOON / 86400);
            profile->scene = "cave";
            profiles[j] = profile;
            tokens[j] = (struct pm_ingest_source){{first, (uint8_t)i, (uint8_t)j}};
            sources[j] = &tokens[j];
        }
        if (!pm_aggregator_ingest_from(place->aggregator, profiles, sources, batch, outcomes,
                                       &error))
            fail_msg("%s", error.message);
        for (size_t j = 0; j < batch; j++)
            assert_true(outcomes[j].result == PM_INGEST_STORED && !outcomes[j].uncounted);
    }
    return (double)(statements(place) - before) / (double)(batch * batches);
}

static void test_statements_of_an_upload(void **state)
{
    (void)state;
    if (!on_postgres())
        skip();
    struct place *place = place_create(8);
    place->now = NOON;
    place->keeping.token_clusters = 64;
    place->keeping.min_tokens = 5;
    place->keeping.max_games = 1000;
    place->keeping.max_scenes = 256;
    place_open(place);
    const double cold = asked(place, 1, 1, 1), fresh = asked(place, 1, 10, 2),
                 many = asked(place, BATCH, 10, 3), warm = asked(place, 1, 10, 4);
    printf("statements an upload: the first %.1f, then %.1f, in batches of %d %.3f, then %.1f\n",
           cold, fresh, BATCH, many, warm);
    assert_true(fresh <= 12);
    assert_true(warm <= 12);
    assert_true(many <= 0.5);
    place_destroy((void **)&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_statements_of_an_upload)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
