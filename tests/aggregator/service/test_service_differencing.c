/* Who holds a token for uploads pulls all that the service answers before and after one upload of
 * somebody else, and subtracts. Only an operator's token sees what came in between. */
#include "aggregator/dashboard/dashboard.h"
#include "aggregator/service/service_get.h"
#include "tests/aggregator/players.h"
#include "tests/aggregator/service/service_place.h"
#include "tests/patience.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define MORNING (20000 * DAY + HOUR)

/* Each route but that of uploads; a shader has one key in all profiles of it. */
#define KEY "010000000000000000000000000000000000000000000000"
static const char *const paths[] = {
    "/",
    "/assets/main.js",
    "/healthz",
    "/metrics",
    "/v1/openapi.json",
    "/v1/status",
    "/v1/quarantine",
    "/v1/games",
    "/v1/games/game",
    "/v1/games/other",
    "/v1/games/game/database",
    "/v1/games/game/database/previous",
    "/v1/games/game/database?scene=cave",
    "/v1/games/game/database/previous?scene=cave",
    "/v1/games/game/races",
    "/v1/games/game/verdicts",
    "/v1/games/game/rules",
    "/v1/games/game/coverage",
    "/v1/games/game/candidates",
    "/v1/games/game/variants",
    "/v1/games/game/shaders",
    "/v1/games/game/shaders/" KEY,
    "/v1/games/game/shaders/" KEY "/block-8",
    "/v1/games/game/shaders/" KEY "/zero-8",
    "/v1/games/game/shaders/" KEY "/timing-8-10005-0-0-1",
};
#define PATHS (sizeof(paths) / sizeof(*paths))

/* On these an operator sees what one upload changes. */
static const char *const shown[] = {
    "/metrics",
    "/v1/status",
    "/v1/games",
    "/v1/games/game",
    "/v1/games/game/coverage",
    "/v1/games/game/candidates",
    "/v1/games/game/shaders",
    "/v1/games/game/shaders/" KEY,
    "/v1/games/game/shaders/" KEY "/block-8",
    "/v1/games/game/shaders/" KEY "/zero-8",
    "/v1/games/game/shaders/" KEY "/timing-8-10005-0-0-1",
};
#define SHOWN (sizeof(shown) / sizeof(*shown))

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
    place->serving.curate_seconds = 1;
    place_serve(place);
    *state = place;
    return 0;
}

/* Of every kind of profile; `lanes` of 64. */
static void upload(struct place *place, const char *token, uint64_t lanes)
{
    struct pm_arena *arena = place->arena;
    const struct truth truth = {.logs = {-0.05}};
    const struct pm_point_counts blocks[] = {block_counts(0, 64, lanes), block_counts(1, 64, 0)};
    const struct pm_point_counts zero = zero_counts(0, 64, 8, lanes / 8);
    struct pm_shader_profile shaders[] = {
        block_shader(arena, 1, 2, blocks, 2), zero_shader(arena, 1, 1, &zero, 1),
        timing_shader(arena, 1, 10, 1000, 500 + lanes), players_measure(place, 1, &truth, NULL)};
    enum { SHADERS = sizeof(shaders) / sizeof(*shaders) };
    for (size_t i = 0; i < SHADERS; i++)
        shaders[i].key = (struct pm_shader_key){{1}};
    struct pm_profile *profile = profile_of(arena, &place->random, "game", shaders, SHADERS);
    profile->scene = "cave";
    assert_int_equal(http_upload(place->port, token, profile), 204);
}

/* Once the service has summarized so many uploads, for an operator. */
static void wait_until_shown(struct place *place, unsigned uploads)
{
    char wanted[32];
    snprintf(wanted, sizeof(wanted), "\"uploads\":%u,", uploads);
    for (uint64_t until = 0; patience(&until);) {
        struct reply reply =
            place_send(place, (struct request){.path = "/v1/games/game", .token = "operator"});
        const bool done = reply.status == 200 && strstr((char *)reply.body, wanted);
        reply_finish(&reply);
        if (done)
            return;
    }
    fail_msg("%u uploads are never shown", uploads);
}

static void pull(struct place *place, const char *token, unsigned uploads,
                 struct reply replies[static PATHS])
{
    struct pm_error error;
    wait_until_shown(place, uploads);
    if (!pm_aggregator_curate(place->aggregator, "game", &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < PATHS; i++)
        replies[i] = place_send(place, (struct request){.path = paths[i], .token = token});
}

static bool is_same(const struct reply *a, const struct reply *b)
{
    return a->status == b->status && a->size == b->size && strcmp(a->etag, b->etag) == 0 &&
           strcmp(a->rules, b->rules) == 0 &&
           (a->size == 0 || memcmp(a->body, b->body, a->size) == 0);
}

static void finish(struct reply replies[static PATHS])
{
    for (size_t i = 0; i < PATHS; i++)
        reply_finish(&replies[i]);
}

/* What one who holds this token is answered before the victim's upload, hours after it, and on the
 * next day, when no one else has come: `seen` has the paths on which that differs. */
struct attack {
    long statuses[PATHS];
    bool seen[PATHS];
};

static struct attack play(struct place *place, const char *token)
{
    struct attack attack = {0};
    struct reply before[PATHS], after[PATHS];
    for (const char *sender = "abc"; *sender; sender++)
        upload(place, (char[]){*sender, 0}, 32);
    place->now += DAY;
    /* Whatever the service's own curation published of the first of them. */
    place->now += 2 * HOUR;
    pull(place, token, 3, before);
    upload(place, "victim", 64);
    for (int time = 0; time < 2; time++) {
        place->now += time == 0 ? 3 * HOUR : DAY;
        pull(place, token, 4, after);
        for (size_t i = 0; i < PATHS; i++) {
            attack.statuses[i] = after[i].status;
            attack.seen[i] = attack.seen[i] || !is_same(&before[i], &after[i]);
        }
        finish(after);
    }
    finish(before);
    return attack;
}

static size_t index_of(const char *path)
{
    size_t i = 0;
    while (i < PATHS && strcmp(paths[i], path) != 0)
        i++;
    assert_true(i < PATHS);
    return i;
}

static void test_attacker(void **state)
{
    const struct attack attack = play(*state, "attacker");
    for (size_t i = 0; i < PATHS; i++) {
        if (attack.seen[i])
            fail_msg("%s shows one upload", paths[i]);
    }
    static const char *const open[] = {"/healthz", "/v1/games/game/database",
                                       "/v1/games/game/database?scene=cave", "/v1/games/game/races",
                                       "/v1/games/game/rules"};
    for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++)
        assert_int_equal(attack.statuses[index_of(open[i])], 200);
    for (size_t i = 0; i < SHOWN; i++)
        assert_int_equal(attack.statuses[index_of(shown[i])], 401);
}

/* The attack would find something: an operator sees it. */
static void test_operator(void **state)
{
    const struct attack attack = play(*state, "operator");
    for (size_t i = 0; i < SHOWN; i++) {
        if (attack.statuses[index_of(shown[i])] != 200 || !attack.seen[index_of(shown[i])])
            fail_msg("%s: %ld, and shows nothing", shown[i], attack.statuses[index_of(shown[i])]);
    }
}

/* No route is left out. */
static void test_routes(void **state)
{
    static const struct pm_routes *const tables[] = {&pm_service_routes, &pm_dashboard_routes};
    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        for (size_t j = 0; j < tables[i]->count; j++) {
            const struct pm_route *route = &tables[i]->routes[j];
            bool attacked = route->access == PM_ACCESS_UPLOAD;
            for (size_t k = 0; k < PATHS; k++) {
                char path[200];
                snprintf(path, sizeof(path), "%.*s", (int)strcspn(paths[k], "?"), paths[k]);
                attacked = attacked || pm_route_find(tables[i], path) == route;
            }
            if (!attacked)
                fail_msg("%s is not attacked", route->pattern);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_attacker), TEST(test_operator),
                                       cmocka_unit_test(test_routes)};
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_differencing", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
