/* Two processes on one PostgreSQL (with_postgres.sh), one of which has a clock that is an hour
 * ahead: around midnight it is on another day. What is uploaded to either is counted once, and
 * a token gets no more than a day's room on each of the days. */
#include "aggregator/statistics/statistics.h"
#include "tests/aggregator/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { ROOM = 2, TOKENS = 3, LANES = 100, MOST = 100 };
#define MIDNIGHT (20000 * DAY)

struct nodes {
    struct place *one, *ahead;
    const struct pm_profile *sent[MOST];
    struct pm_ingest_source sources[MOST];
    unsigned count, counted;
};

static void set_clocks(struct nodes *nodes, int64_t now)
{
    nodes->one->now = now;
    nodes->ahead->now = now + HOUR;
}

static struct pm_ingest_outcome send(struct place *node, const struct nodes *nodes, unsigned number)
{
    const struct pm_ingest_source *source = &nodes->sources[number];
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    if (!pm_aggregator_ingest_from(node->aggregator, &nodes->sent[number], &source, 1, &outcome,
                                   &error))
        fail_msg("%s", error.message);
    return outcome;
}

/* A new upload of the token, of the day that its own clock says, to the one node, and then again to
 * the other. Does it count? */
static bool upload(struct nodes *nodes, uint8_t token, struct place *first, struct place *then)
{
    const struct pm_point_counts point = block_counts(0, LANES, LANES / 2);
    const struct pm_shader_profile shader = block_shader(nodes->one->arena, 1, 1, &point, 1);
    struct pm_profile *profile = place_profile(nodes->one, &shader);
    const unsigned number = nodes->count++;
    assert_true(number < MOST);
    profile->day = (uint32_t)(nodes->one->now / DAY);
    nodes->sent[number] = profile;
    nodes->sources[number] = (struct pm_ingest_source){.digest = {token}};
    const struct pm_ingest_outcome outcome = send(first, nodes, number);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
    assert_int_equal(send(then, nodes, number).result, PM_INGEST_DUPLICATE);
    nodes->counted += !outcome.uncounted;
    return !outcome.uncounted;
}

static void keep_up(struct place *node)
{
    struct pm_error error;
    bool expired;
    if (!pm_aggregator_upkeep(node->aggregator, &expired, &error) ||
        !pm_aggregator_fold(node->aggregator, NULL, &error))
        fail_msg("%s", error.message);
    assert_false(expired);
}

static bool add_lanes(void *user, const struct pm_storage_key *key, const void *blob, size_t size,
                      struct pm_error *error)
{
    struct pm_statistics statistics;
    (void)key;
    pm_statistics_init(&statistics);
    if (!pm_statistics_decode(blob, size, &statistics, error))
        return false;
    *(uint64_t *)user += (uint64_t)pm_wide_value(&statistics.entry_lanes);
    pm_statistics_finish(&statistics);
    return true;
}

static void set_up(struct nodes *nodes)
{
    *nodes = (struct nodes){.one = place_create(7), .ahead = place_create(8)};
    free(nodes->ahead->path);
    nodes->ahead->path = strdup(nodes->one->path);
    set_clocks(nodes, MIDNIGHT - HOUR / 2);
    struct place *const places[] = {nodes->one, nodes->ahead};
    for (size_t i = 0; i < 2; i++) {
        places[i]->keeping.token_clusters = ROOM;
        places[i]->keeping.retention_days = 60;
        place_open(places[i]);
    }
}

static void test_a_clock_an_hour_ahead(void **state)
{
    struct nodes nodes;
    struct pm_error error;
    (void)state;
    if (!on_postgres())
        skip();
    set_up(&nodes);
    struct place *one = nodes.one, *ahead = nodes.ahead;
    for (uint8_t token = 1; token <= TOKENS; token++) {
        /* The day's room of the node that is right; what comes again to the other takes none. */
        assert_true(upload(&nodes, token, one, ahead));
        assert_true(upload(&nodes, token, one, ahead));
        assert_false(upload(&nodes, token, one, ahead));
        /* The other is on the day after, of which one is taken here. */
        assert_true(upload(&nodes, token, ahead, one));
    }
    /* The day that has ended there has not here: it is settled and folded there, and goes on. */
    keep_up(ahead);
    keep_up(one);
    for (uint8_t token = TOKENS + 1; token <= 2 * TOKENS; token++) {
        assert_true(upload(&nodes, token, one, ahead));
        keep_up(ahead);
    }
    for (uint8_t token = 1; token <= TOKENS; token++)
        assert_false(upload(&nodes, token, one, ahead));

    /* Half an hour after midnight both are on the same. */
    set_clocks(&nodes, MIDNIGHT + HOUR / 2);
    for (uint8_t token = 1; token <= TOKENS; token++) {
        assert_true(upload(&nodes, token, one, ahead));
        assert_false(upload(&nodes, token, one, ahead));
        assert_false(upload(&nodes, token, ahead, one));
    }
    keep_up(one);
    keep_up(ahead);
    /* Whoever never had an answer may ask whenever he likes. */
    for (unsigned i = 0; i < nodes.count; i++) {
        assert_int_equal(send(one, &nodes, i).result, PM_INGEST_DUPLICATE);
        assert_int_equal(send(ahead, &nodes, i).result, PM_INGEST_DUPLICATE);
    }
    set_clocks(&nodes, MIDNIGHT + DAY + HOUR / 2);
    keep_up(ahead);
    keep_up(one);
    uint64_t lanes = 0;
    struct pm_storage *storage = pm_aggregator_storage(one->aggregator);
    if (!storage->operations->read_game(storage, "game", NULL, add_lanes, &lanes, &error))
        fail_msg("%s", error.message);
    assert_int_equal(lanes, (uint64_t)nodes.counted * LANES);
    assert_int_equal(place_rows_that_wait(one), 0);
    place_destroy((void **)&nodes.ahead);
    place_destroy((void **)&nodes.one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_clock_an_hour_ahead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
