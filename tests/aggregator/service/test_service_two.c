/* Two nodes on one PostgreSQL (with_postgres.sh), over HTTP: how often a token may come is each
 * node's own, how often it counts in a day is of both together. */
#include "tests/aggregator/service/service_place.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

#define NOON (INT64_C(20000) * 86400 + 43200)
#define LANES 64 /* that enter the shader in an upload */

struct nodes {
    struct place *one, *other;
    char *folder, *tokens; /* the file of them */
};

static struct place *node_create(uint64_t seed, const struct nodes *nodes)
{
    struct place *place = place_create(seed);
    place->now = NOON;
    place->keeping.token_clusters = 2;
    place->serving.token_file = nodes->tokens;
    place->serving.token_rate = 10;
    if (nodes->one) {
        free(place->path);
        place->path = strdup(nodes->one->path);
    }
    return place;
}

static int set_up(void **state)
{
    struct nodes *nodes = calloc(1, sizeof(*nodes));
    assert_non_null(nodes);
    nodes->folder = make_folder();
    nodes->tokens = join(nodes->folder, "tokens");
    write_file(nodes->tokens, "token-1\ntoken-2\n");
    nodes->one = node_create(71, nodes);
    nodes->other = node_create(72, nodes);
    place_serve(nodes->one);
    place_serve(nodes->other);
    *state = nodes;
    return 0;
}

static int tear_down(void **state)
{
    struct nodes *nodes = *state;
    service_place_destroy((void **)&nodes->one);
    service_place_destroy((void **)&nodes->other);
    remove_folder(nodes->folder);
    free(nodes->tokens);
    free(nodes);
    return 0;
}

static const struct pm_profile *next(struct nodes *nodes)
{
    const struct pm_point_counts counts = block_counts(0, LANES, LANES / 2);
    const struct pm_shader_profile shader = block_shader(nodes->one->arena, 1, 1, &counts, 1);
    return place_profile(nodes->one, &shader);
}

static long upload(const struct place *node, const char *token, const struct pm_profile *profile)
{
    return http_upload(node->port, token, profile);
}

static struct reply send_next(struct nodes *nodes, const struct place *node, const char *token)
{
    struct pm_buffer bytes;
    http_encode(next(nodes), &bytes);
    const struct reply reply =
        place_send(node, (struct request){.token = token, .body = bytes.data, .size = bytes.size});
    pm_buffer_finish(&bytes);
    return reply;
}

static void test_rates_are_of_a_node(void **state)
{
    struct nodes *nodes = *state;
    for (unsigned i = 0; i < nodes->one->serving.token_rate; i++)
        assert_int_equal(upload(nodes->one, "token-1", next(nodes)), 204);
    struct reply reply = send_next(nodes, nodes->one, "token-1");
    assert_in_range(reply.retry_after, 1, 60);
    assert_error(reply, 429, "token");
    assert_int_equal(upload(nodes->one, "token-2", next(nodes)), 204);
    for (unsigned i = 0; i < nodes->other->serving.token_rate; i++)
        assert_int_equal(upload(nodes->other, "token-1", next(nodes)), 204);
    reply = send_next(nodes, nodes->other, "token-1");
    assert_in_range(reply.retry_after, 1, 60);
    assert_error(reply, 429, "token");
}

/* Uploads that count, as both nodes see them. */
static uint64_t counted(const struct nodes *nodes)
{
    const struct pm_database database = place_estimates(nodes->one);
    const struct pm_database seen = place_estimates(nodes->other);
    assert_int_equal(database.shader_count, 1);
    assert_int_equal(seen.shader_count, 1);
    assert_int_equal(database.shaders[0].entry_lanes, seen.shaders[0].entry_lanes);
    return database.shaders[0].entry_lanes / LANES;
}

/* By a day. A service that runs reads the clock. */
static void set_later(struct place *node)
{
    place_stop(node);
    node->now += 86400;
    place_serve(node);
}

/* Two of a token count: an upload that comes again to either node is one, and leaves room for the
 * second. */
static void test_caps_are_of_all(void **state)
{
    struct nodes *nodes = *state;
    const struct pm_profile *first = next(nodes), *second = next(nodes), *third = next(nodes);
    assert_int_equal(upload(nodes->one, "token-1", first), 204);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(upload(nodes->other, "token-1", first), 200);
        assert_int_equal(upload(nodes->one, "token-1", first), 200);
    }
    assert_int_equal(counted(nodes), 1);
    assert_int_equal(upload(nodes->other, "token-1", second), 204);
    assert_int_equal(counted(nodes), 2);
    assert_int_equal(upload(nodes->one, "token-1", third), 204);
    assert_int_equal(upload(nodes->other, "token-1", third), 200);
    assert_int_equal(upload(nodes->other, "token-1", next(nodes)), 204);
    assert_int_equal(counted(nodes), 2);

    assert_int_equal(upload(nodes->other, "token-2", next(nodes)), 204);
    assert_int_equal(counted(nodes), 3);
    set_later(nodes->one);
    set_later(nodes->other);
    assert_int_equal(upload(nodes->one, "token-1", next(nodes)), 204);
    assert_int_equal(counted(nodes), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_rates_are_of_a_node), TEST(test_caps_are_of_all)};
    if (!on_postgres()) {
        printf("skipped: needs a PostgreSQL (with_postgres.sh)\n");
        return 77;
    }
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_two", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
