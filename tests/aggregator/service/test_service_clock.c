/*
 * A service whose clock jumps: nothing is lost, nothing is counted twice, and what the retention
 * deletes waits until the clock can be trusted again. The clock is that of this process, whose
 * time() and clock_gettime() come before the C library's.
 */
#include "aggregator/service/service.h"
#include "aggregator/statistics/steady.h"
#include "tests/aggregator/service/http.h"
#include "tests/aggregator/service/server.h"
#include <curl/curl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define MIDNIGHT (20000 * DAY)
#define AT_ONCE 6 /* uploads after each jump */
#define MOST 200

/* ---- the clock ---- */

static atomic_llong wall_offset, boot_offset; /* seconds beside the true ones */

#define VISIBLE __attribute__((visibility("default")))

VISIBLE int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        time->tv_sec += atomic_load(&wall_offset);
    else if (clock == CLOCK_BOOTTIME)
        time->tv_sec += atomic_load(&boot_offset);
    return result;
}

VISIBLE time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

static void set_clock(int64_t seconds)
{
    atomic_fetch_add(&wall_offset, seconds - time(NULL));
}

/* ---- the service ---- */

struct place {
    char *folder, *path;
    struct pm_aggregator *aggregator;
    struct pm_service *service;
    struct pm_arena *arena;
    struct pm_random random;
    struct load_sum sum;
    const struct pm_profile *profiles[MOST];
};

static void start(struct place *place)
{
    const struct pm_aggregator_info info = {
        .publish_all = true, .half_life_days = 14, .retention_days = 60};
    struct pm_error error = {0};
    place->aggregator = pm_aggregator_open(place->path, &info, &error);
    const struct pm_service_info service = {.aggregator = place->aggregator, .curate_seconds = 1};
    place->service = place->aggregator ? pm_service_create(&service, &error) : NULL;
    if (!place->service)
        fail_msg("%s", error.message);
}

static void stop(struct place *place)
{
    pm_service_destroy(place->service);
    pm_aggregator_destroy(place->aggregator);
}

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    place->folder = make_folder();
    place->path = join(place->folder, "test.db");
    place->arena = pm_arena_create(0);
    pm_random_init(&place->random, 1);
    set_clock(MIDNIGHT - 10);
    start(place);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    pm_arena_destroy(place->arena);
    free(place->path);
    remove_folder(place->folder);
    free(place);
    return 0;
}

static void upload_some(struct place *place)
{
    for (unsigned i = 0; i < AT_ONCE; i++) {
        const struct pm_profile *profile =
            load_profile(place->arena, &place->random, &place->sum.lanes);
        assert_true(place->sum.uploads < MOST);
        place->profiles[place->sum.uploads++] = profile;
        assert_int_equal(http_upload(pm_service_port(place->service), NULL, profile), 204);
    }
}

/* A client that never had its answer may ask whenever it likes. */
static void upload_all_again(struct place *place)
{
    for (unsigned i = 0; i < place->sum.uploads; i++)
        assert_int_equal(http_upload(pm_service_port(place->service), NULL, place->profiles[i]),
                         200);
}

/* What the background does, and that what it publishes is sane. */
static bool keep_up(struct place *place)
{
    struct pm_error error = {0};
    struct pm_database database;
    struct pm_arena *arena = pm_arena_create(0);
    bool expired = false;
    if (!pm_aggregator_upkeep(place->aggregator, &expired, &error) ||
        !pm_aggregator_curate(place->aggregator, "game", &error) ||
        !pm_aggregator_estimates(place->aggregator, "game", NULL, arena, &database, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < database.shader_count; i++) {
        const struct pm_shader_estimates *shader = &database.shaders[i];
        for (uint32_t j = 0; shader->points && j < shader->space; j++) {
            const struct pm_ratio *ratio = &shader->points[j].measures[0];
            assert_true(isfinite(ratio->mean) && ratio->mean >= 0);
            assert_true(ratio->mean_low <= ratio->mean && ratio->mean <= ratio->mean_high);
        }
    }
    pm_arena_destroy(arena);
    return expired;
}

/* ---- */

static void test_jumps(void **state)
{
    struct place *place = *state;
    static const int64_t times[] = {
        MIDNIGHT + 10,        MIDNIGHT - 30,        MIDNIGHT + 5,    MIDNIGHT + 400 * DAY,
        MIDNIGHT - 400 * DAY, MIDNIGHT + 400 * DAY, MIDNIGHT - DAY,  0,
        MIDNIGHT + 60 * DAY,  4000000000,           MIDNIGHT + 3600,
    };
    upload_some(place);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        set_clock(times[i]);
        upload_some(place);
        assert_false(keep_up(place));
        upload_all_again(place);
        if (i % 3 == 2) {
            stop(place);
            start(place);
            upload_all_again(place);
        }
    }
    stop(place);
    load_check_stored(place->path, &place->sum);
}

static uint64_t newest_sessions(struct place *place)
{
    struct pm_error error = {0};
    struct pm_database database;
    struct pm_arena *arena = pm_arena_create(0);
    assert_true(pm_aggregator_estimates(place->aggregator, "game", NULL, arena, &database, &error));
    const uint64_t sessions =
        database.shader_count > 0 ? database.shaders[0].points[0].sessions : 0;
    pm_arena_destroy(arena);
    return sessions;
}

/* A year ahead by mistake, what is old is not shown; back again, it is; and where the year has
 * truly gone by, it is deleted. */
static void test_retention(void **state)
{
    struct place *place = *state;
    upload_some(place);
    assert_false(keep_up(place));
    assert_int_equal(newest_sessions(place), AT_ONCE);
    set_clock(MIDNIGHT + 400 * DAY);
    upload_some(place);
    assert_false(keep_up(place));
    assert_int_equal(newest_sessions(place), AT_ONCE);
    set_clock(MIDNIGHT + 60);
    assert_false(keep_up(place));
    /* What came from the future is of today. */
    assert_int_equal(newest_sessions(place), 2 * AT_ONCE);

    set_clock(MIDNIGHT + 400 * DAY);
    assert_false(keep_up(place));
    atomic_fetch_add(&wall_offset, PM_STEADY_SECONDS + 1);
    atomic_fetch_add(&boot_offset, PM_STEADY_SECONDS + 1);
    /* The background may have been first. */
    for (int i = 0; i < 3; i++)
        keep_up(place);
    set_clock(MIDNIGHT + 60);
    assert_int_equal(newest_sessions(place), AT_ONCE);
    stop(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_jumps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_retention, set_up, tear_down),
    };
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
