/* Uploads through HTTP: what is stored, what is refused and with which words. */
#include "tests/aggregator/service/service_place.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static int set_up(void **state)
{
    struct place *place = place_create(42);
    place->keeping.scenes = 2;
    place->serving.curate_seconds = 1;
    *state = place;
    return 0;
}

static void test_upload_and_duplicate(void **state)
{
    struct place *place = *state;
    place_serve(place);
    const struct pm_profile *profile = small_profile(place, 1);
    assert_int_equal(http_upload(place->port, NULL, profile), 204);
    assert_int_equal(http_upload(place->port, NULL, profile), 200);
    place_stop(place);
    place_serve(place);
    assert_int_equal(http_upload(place->port, NULL, profile), 200);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    assert_int_equal(sessions_of_first(place), 2);
}

static void test_chunked(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes;
    place_serve(place);
    http_encode(small_profile(place, 1), &bytes);
    struct reply reply = place_send(
        place, (struct request){.body = bytes.data, .size = bytes.size, .chunked = true});
    assert_int_equal(reply.status, 204);
    assert_int_equal(reply.size, 0);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
}

static void test_garbage(void **state)
{
    struct place *place = *state;
    struct pm_buffer bytes, packed;
    struct pm_random random;
    place_serve(place);
    assert_error(place_send(place, (struct request){.body = "garbage", .size = 7}), 400, "zstd");
    assert_error(place_send(place, (struct request){.body = "", .size = 0}), 400, "zstd");
    pm_buffer_init(&packed, 1 << 20);
    assert_true(pm_compress("\xff\xff\xff\xff garbage", 12, &packed, NULL));
    assert_error(place_send(place, (struct request){.body = packed.data, .size = packed.size}), 400,
                 "error");
    pm_buffer_finish(&packed);

    /* A good one, cut off anywhere, and with any bit turned. */
    http_encode(small_profile(place, 1), &bytes);
    for (size_t size = 0; size < bytes.size; size += 7) {
        struct reply reply = place_send(place, (struct request){.body = bytes.data, .size = size});
        assert_int_equal(reply.status, 400);
        reply_finish(&reply);
    }
    pm_random_init(&random, 5);
    for (int i = 0; i < 100; i++) {
        const uint32_t at = pm_random_below(&random, (uint32_t)bytes.size);
        const unsigned char turned = (unsigned char)(1u << pm_random_below(&random, 8));
        bytes.data[at] ^= turned;
        struct reply reply =
            place_send(place, (struct request){.body = bytes.data, .size = bytes.size});
        assert_true(reply.status == 400 || reply.status == 413);
        reply_finish(&reply);
        bytes.data[at] ^= turned;
    }
    assert_int_equal(sessions_of_first(place), 0);
    struct reply reply =
        place_send(place, (struct request){.body = bytes.data, .size = bytes.size});
    assert_int_equal(reply.status, 204);
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
}

static void test_refusal_names_the_field(void **state)
{
    struct place *place = *state;
    char text[PM_SHADER_KEY_TEXT];
    struct pm_buffer bytes;
    place_serve(place);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    /* Well-formed, but of another space than is known. */
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile other = block_shader(place->arena, 1, 2, &point, 1);
    http_encode(profile_of(place->arena, &place->random, "game", &other, 1), &bytes);
    pm_shader_key_format(&other.key, text);
    struct reply reply =
        place_send(place, (struct request){.body = bytes.data, .size = bytes.size});
    assert_non_null(strstr((char *)reply.body, text));
    assert_error(reply, 400, "space");
    pm_buffer_finish(&bytes);
}

/* What refused an upload, for the client to see when that has changed. */
static void test_refusal_says_by_which_rules(void **state)
{
    static const char path[] = "/v1/games/game/rules";
    struct place *place = *state;
    struct pm_buffer bytes;
    struct pm_error error;
    char before[40];
    uint64_t blobs;
    place_serve(place);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
    const struct pm_point_counts point = block_counts(0, 8, 4);
    const struct pm_shader_profile other = block_shader(place->arena, 1, 2, &point, 1);
    http_encode(profile_of(place->arena, &place->random, "game", &other, 1), &bytes);
    const struct request again = {.body = bytes.data, .size = bytes.size};
    struct reply reply = place_send(place, again);
    assert_int_equal(reply.status, 400);
    assert_int_equal(strlen(reply.rules), 33);
    memcpy(before, reply.rules, sizeof(before));
    reply_finish(&reply);
    /* It is still so, whatever else comes. */
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 2)), 204);
    reply = place_send(place, (struct request){.path = path});
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.rules, before);
    assert_non_null(strstr((char *)reply.body, before));
    reply_finish(&reply);
    /* What is wrong with the upload itself is of the server alone. */
    reply = place_send(place, (struct request){.body = "garbage", .size = 7});
    assert_int_equal(reply.status, 400);
    assert_int_equal(strlen(reply.rules), 16);
    assert_memory_equal(reply.rules, before, 16);
    reply_finish(&reply);
    /* Something else is known, and it is taken. */
    if (!pm_aggregator_drop(place->aggregator, "game", &other.key, &blobs, &error))
        fail_msg("%s", error.message);
    reply = place_send(place, (struct request){.path = path});
    assert_string_not_equal(reply.rules, before);
    assert_memory_equal(reply.rules, before, 17);
    reply_finish(&reply);
    reply = place_send(place, again);
    assert_int_equal(reply.status, 204);
    assert_string_equal(reply.rules, "");
    reply_finish(&reply);
    pm_buffer_finish(&bytes);
}

static void test_too_large(void **state)
{
    struct place *place = *state;
    struct pm_buffer bomb;
    const size_t size = (size_t)9 << 20;
    char *zeros = calloc(size, 1);
    place_serve(place);
    /* By its Content-Length, and found out while it comes in. */
    assert_error(place_send(place, (struct request){.body = zeros, .size = size}), 413,
                 "too large");
    assert_error(place_send(place, (struct request){.body = zeros, .size = size, .chunked = true}),
                 413, "too large");
    free(zeros);
    /* A few kilobytes that would become many megabytes. */
    const size_t large = (size_t)64 << 20;
    zeros = calloc(large, 1);
    pm_buffer_init(&bomb, 1 << 20);
    assert_true(pm_compress(zeros, large, &bomb, NULL));
    assert_in_range(bomb.size, 1, 100000);
    assert_error(place_send(place, (struct request){.body = bomb.data, .size = bomb.size}), 413,
                 "decompresses");
    pm_buffer_finish(&bomb);
    free(zeros);
    assert_int_equal(http_upload(place->port, NULL, small_profile(place, 1)), 204);
}

static void test_other_requests(void **state)
{
    struct place *place = *state;
    place_serve(place);
    assert_error(place_send(place, (struct request){.path = "/nothing"}), 404, "path");
    assert_error(place_send(place, (struct request){.path = "/v1/games/"}), 404, "path");
    assert_error(place_send(place, (struct request){.path = "/v1/games//database"}), 404, "path");
    assert_error(place_send(place, (struct request){.path = "/v1/uploads"}), 405, "method");
    assert_error(place_send(place, (struct request){.path = "/v1/uploads", .method = "DELETE"}),
                 405, "method");
    assert_error(place_send(place, (struct request){.path = "/v1/games", .body = "x", .size = 1}),
                 405, "method");
    struct reply reply = place_send(place, (struct request){.path = "/healthz"});
    assert_int_equal(reply.status, 200);
    assert_string_equal(reply.body, "{\"status\":\"ok\"}");
    reply_finish(&reply);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, service_place_destroy)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_upload_and_duplicate),        TEST(test_chunked),   TEST(test_garbage),
        TEST(test_refusal_names_the_field),     TEST(test_too_large), TEST(test_other_requests),
        TEST(test_refusal_says_by_which_rules),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
