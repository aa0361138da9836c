/* Who holds a token for uploads pulls all that the service answers before and after one upload of
 * somebody else, and subtracts. Only an operator's token sees what came in between. */
#include "tests/aggregator/service/service_place.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define HOUR 3600
#define MORNING ((int64_t)20000 * 86400 + HOUR)

/* What of the API has a game's name, a shader's, a profile's. */
#define KEY "010000000000000000000000000000000000000000000000"
static const char *const paths[] = {
    "/",
    "/healthz",
    "/metrics",
    "/v1/games",
    "/v1/games/game",
    "/v1/games/game/database",
    "/v1/games/game/database/previous",
    "/v1/games/game/database?scene=cave",
    "/v1/games/game/database/previous?scene=cave",
    "/v1/games/game/shaders",
    "/v1/games/game/scenes",
    "/v1/games/game/coverage",
    "/v1/games/game/shaders/" KEY,
    "/v1/games/other",
    "/v1/quarantine",
    "/v1/service",
};
#define PATHS (sizeof(paths) / sizeof(*paths))

static void write_tokens(struct place *place, const char *name, const char *text, const char **path)
{
    char *file = join(place->folder, name);
    write_file(file, text);
    *path = pm_arena_strdup(place->arena, file);
    free(file);
}

static int set_up(void **state)
{
    struct place *place = place_create(45);
    write_tokens(place, "tokens", "a\nb\nc\nvictim\nattacker\n", &place->serving.token_file);
    write_tokens(place, "operators", "operator\n", &place->serving.dashboard_token_file);
    place->now = MORNING;
    place->keeping.publish_all = false;
    place->keeping.half_width_absolute = 10;
    place->keeping.scenes = 4;
    place->keeping.token_clusters = 2;
    place->keeping.min_tokens = 3;
    place->keeping.publish_seconds = HOUR;
    place->serving.curate_seconds = 3600;
    place_serve(place);
    *state = place;
    return 0;
}

static void upload(struct place *place, const char *token, uint64_t lanes)
{
    const struct pm_point_counts points[] = {block_counts(0, 64, lanes), block_counts(1, 64, 0)};
    const struct pm_shader_profile shader = block_shader(place->arena, 1, 2, points, 2);
    struct pm_profile *profile = place_profile(place, &shader);
    profile->scene = "cave";
    assert_int_equal(http_upload(place->port, token, profile), 204);
}

static void pull(const struct place *place, const char *token, struct reply replies[static PATHS])
{
    assert_true(pm_aggregator_curate(place->aggregator, "game", NULL));
    for (size_t i = 0; i < PATHS; i++)
        replies[i] = place_send(place, (struct request){.path = paths[i], .token = token});
}

static bool is_same(const struct reply *a, const struct reply *b)
{
    return a->status == b->status && a->size == b->size && strcmp(a->etag, b->etag) == 0 &&
           (a->size == 0 || memcmp(a->body, b->body, a->size) == 0);
}

/* In how many answers of one who holds this token the upload can be seen. */
static unsigned attack(struct place *place, const char *token, unsigned *answered)
{
    struct reply before[PATHS], after[PATHS];
    unsigned differences = 0;
    for (const char *sender = "abc"; *sender; sender++)
        upload(place, (char[]){*sender, 0}, 32);
    /* Whatever the service's own curation published of the first of them. */
    place->now += 2 * HOUR;
    pull(place, token, before);
    upload(place, "victim", 64);
    place->now += 3 * HOUR;
    pull(place, token, after);
    *answered = 0;
    for (size_t i = 0; i < PATHS; i++) {
        *answered += after[i].status == 200;
        differences += !is_same(&before[i], &after[i]);
        reply_finish(&before[i]);
        reply_finish(&after[i]);
    }
    return differences;
}

static void test_attacker(void **state)
{
    unsigned answered;
    assert_int_equal(attack(*state, "attacker", &answered), 0);
    assert_true(answered >= 4); /* the page, the health, and both current databases */
}

/* The attack would find something: an operator sees it. */
static void test_operator(void **state)
{
    unsigned answered;
    assert_true(attack(*state, "operator", &answered) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_attacker), TEST(test_operator)};
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_differencing", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
