#include "base/file.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include "tests/profile/random_profile.h"
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static cJSON *dry_run(struct world *world)
{
    struct pm_buffer out;
    pm_buffer_init(&out, 1 << 24);
    if (!pm_sync_dry_run(&world->info, &out, &world->error))
        fail_msg("%s", world->error.message);
    cJSON *list = cJSON_Parse((char *)out.data);
    assert_true(cJSON_IsArray(list));
    pm_buffer_finish(&out);
    return list;
}

/* The profile of a request as the same JSON. */
static cJSON *sent(const struct server_request *request)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_buffer wire, text;
    struct pm_profile profile;
    pm_buffer_init(&wire, 1 << 24);
    pm_buffer_init(&text, 1 << 24);
    assert_true(pm_decompress(request->body, request->size, &wire, NULL));
    assert_true(pm_profile_decode(wire.data, wire.size, NULL, arena, &profile, NULL));
    assert_true(pm_profile_to_json(&profile, &text, NULL));
    cJSON *json = cJSON_Parse((char *)text.data);
    assert_non_null(json);
    pm_buffer_finish(&wire);
    pm_buffer_finish(&text);
    pm_arena_destroy(arena);
    return json;
}

static void it_prints_exactly_what_is_then_sent(void **state)
{
    struct world *world = *state;
    free(world_session(world, "One", 1, 4, NULL));
    free(world_session(world, "Two", 2, 4, NULL));
    cJSON *list = dry_run(world);
    assert_int_equal(cJSON_GetArraySize(list), 2);
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world_count(world, "data/piecemeal/spool", ""), 2); /* nothing was written */

    assert_true(pm_sync_upload(&world->info, &world->report, &world->error));
    assert_int_equal(server_requests(world->server), 2);
    for (int i = 0; i < 2; i++) {
        const cJSON *said = cJSON_GetArrayItem(list, i);
        const struct server_request *request = server_request(world->server, (size_t)i);
        assert_true(cJSON_IsTrue(cJSON_GetObjectItem(said, "would_be_sent")));
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(said, "url")),
                            world->config.aggregator.url);
        assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(said, "bytes")) ==
                    (double)request->size);
        cJSON *profile = sent(request);
        assert_true(cJSON_Compare(profile, cJSON_GetObjectItem(said, "profile"), true));
        cJSON_Delete(profile);
    }
    cJSON_Delete(list);
    list = dry_run(world);
    assert_int_equal(cJSON_GetArraySize(list), 0);
    cJSON_Delete(list);
}

static void it_says_why_something_would_not_be_sent(void **state)
{
    struct world *world = *state;
    free(world_session(world, "One", 1, 1, NULL));
    assert_true(pm_consent_write(PM_CONSENT_UNASKED, &world->error));
    cJSON *list = dry_run(world);
    const cJSON *said = cJSON_GetArrayItem(list, 0);
    assert_true(cJSON_IsFalse(cJSON_GetObjectItem(said, "would_be_sent")));
    assert_non_null(
        strstr(cJSON_GetStringValue(cJSON_GetObjectItem(said, "why_not")), "no consent"));
    cJSON_Delete(list);
    assert_true(pm_consent_write(PM_CONSENT_GRANTED, &world->error));
    world->config.consent_withheld = true;
    list = dry_run(world);
    said = cJSON_GetArrayItem(list, 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(said, "why_not")),
                        "consent.upload withholds it");
    cJSON_Delete(list);
}

static void it_prints_what_was_refused_and_may_be_sent_again(void **state)
{
    struct world *world = *state;
    const struct server_answer no = {.status = 400, .headers = "Piecemeal-Rules: aa\r\n"};
    server_script(world->server, &no, 1);
    free(world_session(world, "One", 1, 1, NULL));
    assert_true(pm_sync_upload(&world->info, &world->report, &world->error));
    cJSON *profile = sent(server_request(world->server, 0)), *list = dry_run(world);
    assert_int_equal(cJSON_GetArraySize(list), 1);
    const cJSON *said = cJSON_GetArrayItem(list, 0);
    assert_true(cJSON_Compare(profile, cJSON_GetObjectItem(said, "profile"), true));
    assert_non_null(
        strstr(cJSON_GetStringValue(cJSON_GetObjectItem(said, "why_not")), "it was refused"));
    cJSON_Delete(profile);
    cJSON_Delete(list);
}

/* Runs piecemeal-sync and returns its exit status; its output goes to text. */
static int run(const char *arguments, char *text, size_t size)
{
    char *command = NULL;
    assert_true(asprintf(&command, "%s %s 2>&1", getenv("PM_SYNC"), arguments) > 0);
    FILE *from = popen(command, "re");
    assert_non_null(from);
    size_t n = fread(text, 1, size - 1, from);
    text[n] = '\0';
    int status = pclose(from);
    free(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_program_keeps_its_exit_statuses(void **state)
{
    struct world *world = *state;
    static char text[1 << 20];
    char arguments[600];
    assert_int_equal(run("--help", text, sizeof(text)), 0);
    assert_non_null(strstr(text, "usage: piecemeal-sync"));
    assert_int_equal(run("--version", text, sizeof(text)), 0);
    assert_int_equal(run("--nonsense", text, sizeof(text)), 2);
    assert_int_equal(run("word", text, sizeof(text)), 2);
    assert_int_equal(run("--deadline 0", text, sizeof(text)), 2);
    assert_int_equal(run("--deadline -5", text, sizeof(text)), 2);
    assert_int_equal(run("--config /nonexistent", text, sizeof(text)), 1);
    assert_non_null(strstr(text, "piecemeal-sync: /nonexistent: cannot open: No such file"));

    const char *bad = world_path(world, "bad.json");
    assert_true(pm_file_write(bad, "{\n  \"agregator\": {}\n}\n", 22, &world->error));
    snprintf(arguments, sizeof(arguments), "--config %s", bad);
    assert_int_equal(run(arguments, text, sizeof(text)), 1);
    assert_non_null(
        strstr(text, "bad.json:2:3: unknown section \"agregator\"; did you mean \"aggregator\"?"));

    free(world_session(world, "One", 1, 2, NULL));
    snprintf(arguments, sizeof(arguments), "--dry-run --spool %s", world->spool);
    assert_int_equal(run(arguments, text, sizeof(text)), 0);
    cJSON *list = cJSON_Parse(text);
    assert_int_equal(cJSON_GetArraySize(list), 1);
    cJSON_Delete(list);
    assert_int_equal(run("", text, sizeof(text)), 0); /* without a url it has nothing to do */
    assert_non_null(strstr(text, "1 waiting"));
    setenv("PIECEMEAL_AGGREGATOR_URL", "http://127.0.0.1:1", 1);
    assert_int_equal(run("--deadline 1", text, sizeof(text)), 1);
    unsetenv("PIECEMEAL_AGGREGATOR_URL");
    assert_int_equal(server_requests(world->server), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {
        TEST(it_prints_exactly_what_is_then_sent),
        TEST(it_says_why_something_would_not_be_sent),
        TEST(it_prints_what_was_refused_and_may_be_sent_again),
        TEST(the_program_keeps_its_exit_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
