/* Uploads that were recorded while the clock was off: which day they are of, and when they are sent
 * again. The aggregator's clock is what its answers say. */
#include "aggregator_client/disk/spool_format.h"
#include "aggregator_client/redate.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define DAY INT64_C(86400)
#define TODAY 20000
#define NOON (TODAY * DAY + DAY / 2)

static void the_day_that_it_should_have_been(void **state)
{
    (void)state;
    static const struct {
        uint32_t day;
        int64_t ours;
        uint32_t anew;
    } cases[] = {
        /* It may have been taken, whatever our clock says. */
        {TODAY, NOON, TODAY},
        {TODAY + 1, NOON + DAY, TODAY + 1},
        {TODAY + 2, NOON + 2 * DAY, TODAY + 2},
        {TODAY - 300, NOON - 300 * DAY, TODAY - 300},
        {0, NOON + 900 * DAY, 0},
        /* Our clock is still as far off: it was so many days ago. */
        {TODAY + 3, NOON + 3 * DAY, TODAY},
        {TODAY + 360, NOON + 365 * DAY, TODAY - 5},
        {2, NOON - (TODAY - 4) * DAY, TODAY - 2},
        /* It is right again, or off by something else. */
        {TODAY + 365, NOON, TODAY},
        {3, NOON, TODAY},
        {TODAY + 365, NOON + 2 * DAY, TODAY},
        {3, NOON - 9000 * DAY, TODAY},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(pm_day_anew(cases[i].day, cases[i].ours, NOON), cases[i].anew);
        assert_int_equal(pm_day_anew(cases[i].day, cases[i].ours, 0), cases[i].day);
    }
    assert_false(pm_day_is_ahead(TODAY + 1, NOON));
    assert_true(pm_day_is_ahead(TODAY + 2, NOON));
    assert_false(pm_day_is_ahead(TODAY + 2, 0));
}

/* A session that was last written to so many days from now, by our clock. */
static void record(struct world *world, uint64_t seed, int days)
{
    char *path = world_session(world, "A Game", seed, 2, NULL);
    const struct timespec then = {.tv_sec = time(NULL) + (time_t)days * DAY};
    const struct timespec times[] = {then, then};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(path);
}

static uint32_t day_of(struct world *world, size_t request, uint8_t id[static PM_UPLOAD_ID_BYTES])
{
    struct pm_profile profile;
    struct pm_arena *arena = pm_arena_create(0);
    world_decode(server_request(world->server, request), arena, &profile);
    memcpy(id, profile.upload_id, PM_UPLOAD_ID_BYTES);
    pm_arena_destroy(arena);
    return profile.day;
}

/* Nothing would ever take what is of a day a year from now: it is dated by the server's clock, on
 * disk before it is sent, so that it stays one upload though nobody answers then. */
static void far_ahead_is_dated_anew(void **state)
{
    struct world *world = *state;
    char text[128];
    uint8_t id[3][PM_UPLOAD_ID_BYTES];
    const struct server_answer answers[] = {{.status = 400, .headers = world_headers(text, 0)},
                                            {.status = 401}};
    server_script(world->server, answers, 2);
    record(world, 1, 365);
    world_upload(world);
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_int_equal(server_requests(world->server), 2);
    const uint32_t first = day_of(world, 0, id[0]), anew = day_of(world, 1, id[1]);
    assert_in_range(first - anew, 364, 366); /* midnight may be between */

    server_script(world->server, &(struct server_answer){.status = 204}, 1);
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_uploaded, 1);
    assert_int_equal(world->report.sessions_refused, 0);
    assert_int_equal(day_of(world, 0, id[2]), anew);
    assert_memory_equal(id[0], id[1], PM_UPLOAD_ID_BYTES);
    assert_memory_equal(id[0], id[2], PM_UPLOAD_ID_BYTES);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
}

/* What is two days ahead for one server may not be for another, which has it perhaps: it is kept,
 * and is sent as it is once its day can be. */
static void a_little_ahead_waits(void **state)
{
    struct world *world = *state;
    char text[128];
    uint8_t id[2][PM_UPLOAD_ID_BYTES];
    const struct server_answer refusal = {.status = 400, .headers = world_headers(text, 0)};
    server_script(world->server, &refusal, 1);
    record(world, 1, 2);
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_refused, 1);
    assert_int_equal(server_requests(world->server), 2); /* sent, and asked what is refused */
    const uint32_t day = day_of(world, 0, id[0]);

    const struct server_answer same = {.status = 200, .headers = world_headers(text, 0)};
    server_script(world->server, &same, 1);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 1); /* asked alone */
    assert_int_equal(world->report.uploads_again, 0);

    const struct server_answer tomorrow[] = {{.status = 200, .headers = world_headers(text, -1)},
                                             {.status = 204}};
    server_script(world->server, tomorrow, 2);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 2);
    assert_int_equal(world->report.uploads_again, 1);
    assert_int_equal(day_of(world, 1, id[1]), day);
    assert_memory_equal(id[0], id[1], PM_UPLOAD_ID_BYTES);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", ""), 0);
}

/* What an earlier version set aside for its day, where it put down no date. */
static void what_was_set_aside_before_is_dated_anew(void **state)
{
    struct world *world = *state;
    char text[128];
    uint8_t id[PM_UPLOAD_ID_BYTES];
    server_script(world->server,
                  &(struct server_answer){.status = 400, .headers = "Piecemeal-Rules: aa\r\n"}, 1);
    record(world, 1, 90);
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_refused, 1);
    const struct server_answer answers[] = {{.status = 200, .headers = world_headers(text, 0)},
                                            {.status = 400, .headers = world_headers(text, 0)},
                                            {.status = 204}};
    server_script(world->server, answers, 3);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 3);
    assert_int_equal(world->report.uploads_again, 1);
    assert_in_range(day_of(world, 1, id) - day_of(world, 2, id), 89, 91);
    assert_int_equal(world_count(world, WORLD_SPOOL "/refused", ""), 0);
}

static int refused(const struct world *world)
{
    return world_count(world, WORLD_SPOOL "/refused", PM_SPOOL_UPLOAD_SUFFIX);
}

/* What was refused is too old only where an aggregator's clock says so, too. */
static void a_clock_that_is_ahead_forgets_nothing(void **state)
{
    struct world *world = *state;
    char text[128], *command = NULL;
    server_script(world->server,
                  &(struct server_answer){.status = 400, .headers = "Piecemeal-Rules: aa\r\n"}, 1);
    record(world, 1, 0);
    assert_true(world_upload(world));
    assert_int_equal(refused(world), 1);
    assert_true(asprintf(&command,
                         "find '%s/refused' -name '*.upload' -exec touch -d '40 days ago' {} +",
                         world->spool) > 0);
    assert_int_equal(system(command), 0);
    free(command);
    /* Nobody says what time it is; then it is the day on which it was refused. */
    server_script(world->server, &(struct server_answer){.status = 404}, 1);
    assert_true(world_upload(world));
    assert_int_equal(refused(world), 1);
    server_script(world->server,
                  &(struct server_answer){.status = 404, .headers = world_headers(text, 40)}, 1);
    assert_true(world_upload(world));
    assert_int_equal(refused(world), 1);
    server_script(world->server,
                  &(struct server_answer){.status = 404, .headers = world_headers(text, 0)}, 1);
    assert_true(world_upload(world));
    assert_int_equal(refused(world), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_day_that_it_should_have_been),
        TEST(far_ahead_is_dated_anew),
        TEST(a_little_ahead_waits),
        TEST(what_was_set_aside_before_is_dated_anew),
        TEST(a_clock_that_is_ahead_forgets_nothing),
    };
    return cmocka_run_group_tests_name("redate", tests, NULL, NULL);
}
