/* How many tokens may lie about a shader. */
#include "aggregator/curation/breakdown.h"

#include "aggregator/aggregator.h"
#include "aggregator/curation/curate.h"
#include "tests/aggregator/place.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    struct place *place = place_create(5);
    place->now = INT64_C(20000) * DAY + 1000;
    place->keeping.token_clusters = PM_TOKEN_CLUSTERS;
    place->keeping.min_tokens = PM_MIN_TOKENS;
    place->keeping.publish_all = false;
    place->keeping.publish_seconds = PM_PUBLISH_SECONDS;
    *state = place;
    return 0;
}

/* One upload of shader 1 with a zero candidate, by a token (0: none). */
static void send(struct place *place, uint64_t token, uint64_t writes, uint64_t zeros)
{
    struct pm_ingest_outcome outcome;
    struct pm_error error;
    const struct pm_point_counts point = zero_counts(0, writes, writes / 8, zeros / 8);
    const struct pm_shader_profile shader = zero_shader(place->arena, 1, 1, &point, 1);
    const struct pm_profile *profile = place_profile(place, &shader);
    struct pm_ingest_source source = {0};
    const uint64_t words[2] = {pm_random_mix(token), token};
    memcpy(source.digest, words, sizeof(source.digest));
    const struct pm_ingest_source *sources = token ? &source : NULL;
    if (!pm_aggregator_ingest_from(place->aggregator, &profile, &sources, 1, &outcome, &error))
        fail_msg("%s", error.message);
    assert_int_equal(outcome.result, PM_INGEST_STORED);
}

struct seen {
    struct pm_breakdown breakdown;
    struct pm_ratio zero;
    bool published;
};

static bool see(void *user, const struct pm_judged *judged, struct pm_error *error)
{
    struct seen *seen = user;
    (void)error;
    *seen = (struct seen){judged->breakdown, judged->shader->points[0].measures[PM_MEASURE_ZERO],
                          judged->shader->published};
    return true;
}

static struct seen look(struct place *place)
{
    const struct pm_shader_key key = key_of(1);
    struct seen seen = {0};
    struct pm_error error;
    if (!pm_aggregator_fold(place->aggregator, "game", &error) ||
        !pm_curate_read_shader(pm_aggregator_curator(place->aggregator), "game", &key, see, &seen,
                               &error))
        fail_msg("%s", error.message);
    return seen;
}

/* Who pulls the database is told, too: never of more tokens, nor of a smaller error. */
static void assert_published(struct place *place, const struct pm_breakdown *breakdown)
{
    char etag[PM_ETAG_TEXT];
    const struct pm_database database = place_published(place, "game", etag);
    assert_int_equal(database.shader_count, 1);
    const struct pm_lying *lying = &database.shaders[0].lying;
    assert_true(lying->tokens > 0 && lying->tokens <= breakdown->tokens);
    assert_true(lying->tokens > breakdown->tokens - breakdown->tokens / 8);
    assert_true(lying->error >= breakdown->error && lying->error < 1.25 * breakdown->error);
    int exponent;
    const double bits = 8 * frexp(lying->error, &exponent);
    assert_true(bits == floor(bits));
}

/* As many tokens as it says lie as well as they can, and it is off by no more than it says; twice
 * as many put it off by more than may be. */
static void test_breakdown_bound(void **state)
{
    struct place *place = *state;
    struct pm_random random;
    pm_random_init(&random, 9);
    place_open(place);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t writes = 8000 + pm_random_below(&random, 8000);
        send(place, i + 1, writes, writes / 20);
    }
    const struct seen honest = look(place);
    assert_true(honest.published);
    const uint32_t tokens = honest.breakdown.tokens;
    assert_in_range(tokens, 5, 100);
    assert_true(honest.breakdown.error <= 0.05);
    assert_published(place, &honest.breakdown);
    for (uint64_t i = 0; i < tokens; i++)
        send(place, 5000 + i, UINT64_C(1) << 40, UINT64_C(1) << 40);
    struct seen lied = look(place);
    const double moved = fabs(lied.zero.ratio - honest.zero.ratio);
    assert_true(moved <= honest.breakdown.error && moved > honest.breakdown.error / 2);
    assert_true(fabs(lied.zero.mean - honest.zero.mean) <= honest.breakdown.error);
    for (uint64_t i = tokens; i < 2 * tokens; i++)
        send(place, 5000 + i, UINT64_C(1) << 40, UINT64_C(1) << 40);
    lied = look(place);
    assert_true(fabs(lied.zero.ratio - honest.zero.ratio) > 0.05);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_breakdown_bound),
    };
    return cmocka_run_group_tests_name("breakdown", tests, NULL, NULL);
}
