/* Nothing leaves without consent. */
#include "aggregator_client/disk/spool_format.h"
#include "base/file.h"
#include "base/random.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include "tests/profile/random_profile.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void nothing_leaves_without_consent(void **state)
{
    struct world *world = *state;
    free(world_session(world, "A Game", 1, 2, NULL));
    assert_true(pm_consent_write(PM_CONSENT_REVOKED, &world->error));
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_waiting, 1);
    assert_true(pm_consent_write(PM_CONSENT_UNASKED, &world->error));
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_waiting, 1);

    /* A consent file that cannot be understood is no consent. */
    const char *consent = world_path(world, "config/piecemeal/consent.json");
    static const char *const damaged[] = {"",
                                          "{",
                                          "{\"upload\": true}",
                                          "{\"upload\": \"Granted\"}",
                                          "{\"UPLOAD\": \"granted\"}",
                                          "\"granted\"",
                                          "[\"granted\"]"};
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        assert_true(pm_file_write(consent, damaged[i], strlen(damaged[i]), &world->error));
        assert_false(world_upload(world));
        assert_int_equal(world->error.code, PM_ERROR_INPUT);
    }
    assert_true(pm_consent_write(PM_CONSENT_GRANTED, &world->error));

    world->config.consent_withheld = true; /* the configuration withholds it… */
    assert_true(world_upload(world));
    world->config.consent_withheld = false;
    world_configure(world, "A Game", "{\"consent\": {\"upload\": false}}"); /* …or the game's own */
    assert_true(world_upload(world));
    world_configure(world, "A Game", "{\"consent\": {\"upload\": fals}}"); /* …even a bad one */
    assert_true(world_upload(world));
    assert_true(world_logged(world, "A%20Game.json:1:24: expected a value"));
    world_configure(world, "A Game", "{}");
    setenv("PIECEMEAL_CONSENT_UPLOAD", "false", 1); /* …or the environment */
    assert_true(world_upload(world));
    unsetenv("PIECEMEAL_CONSENT_UPLOAD");
    char *url = world->config.aggregator.url;
    world->config.aggregator.url = NULL; /* or there is no url */
    assert_true(world_upload(world));
    assert_int_equal(world->report.sessions_waiting, 1);
    world->config.aggregator.url = url;
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_SUFFIX), 1);

    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 1);
}

/* consent.upload was false in the game's own process, of which a later sync knows nothing. */
static void what_was_recorded_without_consent_never_leaves(void **state)
{
    struct world *world = *state;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_random random;
    pm_random_init(&random, 3);
    struct pm_spool_writer *writer = pm_spool_writer_create(NULL, 1 << 20, &world->error);
    struct pm_profile profile = pm_random_profile(&random, arena, 4, 4);
    pm_spool_writer_withhold(writer);
    assert_true(pm_spool_append(writer, &profile, &world->error));
    pm_spool_writer_destroy(writer);
    assert_true(world_upload(world));
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world->report.sessions_waiting, 1);
    struct pm_buffer out;
    pm_buffer_init(&out, 1 << 20);
    assert_true(pm_sync_dry_run(&world->info, &out, &world->error));
    assert_non_null(strstr((char *)out.data, "consent.upload was false when it was recorded"));
    assert_null(strstr((char *)out.data, "\"would_be_sent\":\ttrue"));
    pm_buffer_finish(&out);
    pm_arena_destroy(arena);
}

struct revoking {
    struct world *world;
    int lock; /* given up then; -1: none, and it waits for a request */
};

/* Somebody changes their mind while a sync waits for another one, or is at work. */
static void *revoke_meanwhile(void *user)
{
    const struct revoking *revoking = user;
    struct pm_error error;
    if (revoking->lock >= 0)
        usleep(500000);
    while (revoking->lock < 0 && server_requests(revoking->world->server) == 0)
        usleep(10000);
    if (!pm_consent_write(PM_CONSENT_REVOKED, &error))
        abort();
    if (revoking->lock >= 0)
        close(revoking->lock);
    return NULL;
}

static int lock_file(const struct world *world, const char *name)
{
    const int lock = open(world_path(world, name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(lock >= 0);
    assert_int_equal(flock(lock, LOCK_EX | LOCK_NB), 0);
    return lock;
}

static void revoking_stops_a_sync(void **state)
{
    struct world *world = *state;
    struct revoking revoking = {world, -1};
    pthread_t thread;
    for (uint64_t i = 1; i <= 2; i++)
        free(world_session(world, "A Game", i, 2, NULL));
    /* One that waits for another sync. */
    revoking.lock = lock_file(world, WORLD_SPOOL "/.sync.lock");
    assert_int_equal(pthread_create(&thread, NULL, revoke_meanwhile, &revoking), 0);
    assert_true(world_upload(world));
    pthread_join(thread, NULL);
    assert_int_equal(server_requests(world->server), 0);
    assert_int_equal(world->report.sessions_waiting, 2);
    assert_string_equal(world->report.waits_for, "there is no consent: `piecemeal consent grant`");

    /* One that is about to try again. */
    revoking.lock = -1;
    assert_true(pm_consent_write(PM_CONSENT_GRANTED, &world->error));
    const struct server_answer script[] = {{.status = 429, .headers = "Retry-After: 2\r\n"},
                                           {.status = 204}};
    server_script(world->server, script, 2);
    assert_int_equal(pthread_create(&thread, NULL, revoke_meanwhile, &revoking), 0);
    assert_false(world_upload(world));
    pthread_join(thread, NULL);
    assert_int_equal(server_requests(world->server), 1);
    assert_int_equal(world->report.sessions_waiting, 2);
    assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_SUFFIX), 2);

    /* A pull, which says which games are played. */
    assert_true(pm_consent_write(PM_CONSENT_GRANTED, &world->error));
    server_script(world->server, &(struct server_answer){.status = 404}, 1);
    assert_true(pm_sync_pull(&world->info, &world->report, &world->error)); /* makes the folder */
    assert_int_equal(server_requests(world->server), 1);
    server_script(world->server, &(struct server_answer){.status = 404}, 1);
    revoking.lock = lock_file(world, "cache/piecemeal/databases/.lock");
    assert_int_equal(pthread_create(&thread, NULL, revoke_meanwhile, &revoking), 0);
    assert_true(pm_sync_pull(&world->info, &world->report, &world->error));
    pthread_join(thread, NULL);
    assert_int_equal(server_requests(world->server), 0);

    /* One that is about to try again. */
    revoking.lock = -1;
    assert_true(pm_consent_write(PM_CONSENT_GRANTED, &world->error));
    server_script(world->server, script, 2);
    world->info.game = "A Game";
    assert_int_equal(pthread_create(&thread, NULL, revoke_meanwhile, &revoking), 0);
    assert_false(pm_sync_pull(&world->info, &world->report, &world->error));
    pthread_join(thread, NULL);
    assert_non_null(strstr(world->error.message, "consent was revoked meanwhile"));
    assert_int_equal(server_requests(world->server), 1);
}

static void consent_is_kept_private(void **state)
{
    struct world *world = *state;
    enum pm_consent consent;
    struct stat status;
    assert_true(pm_consent_read(&consent, &world->error));
    assert_int_equal(consent, PM_CONSENT_GRANTED);
    assert_int_equal(stat(world_path(world, "config/piecemeal/consent.json"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(pm_consent_write(PM_CONSENT_REVOKED, &world->error));
    assert_true(pm_consent_read(&consent, &world->error));
    assert_int_equal(consent, PM_CONSENT_REVOKED);
    assert_true(pm_consent_write(PM_CONSENT_UNASKED, &world->error));
    assert_true(pm_consent_write(PM_CONSENT_UNASKED, &world->error));
    assert_true(pm_consent_read(&consent, &world->error));
    assert_int_equal(consent, PM_CONSENT_UNASKED);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {
        TEST(nothing_leaves_without_consent),
        TEST(what_was_recorded_without_consent_never_leaves),
        TEST(revoking_stops_a_sync),
        TEST(consent_is_kept_private),
    };
    return cmocka_run_group_tests_name("consent", tests, NULL, NULL);
}
