/* piecemeal-sync as a process: killed at any moment, and several at once. */
#include "aggregator_client/disk/spool_format.h"
#include "base/random.h"
#include "tests/aggregator_client/world.h"
#include "tests/cmocka_includes.h"
#include "tests/patience.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start_sync(const struct world *world, const char *deadline)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int out = open(world_path(world, "sync.out"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(out, 1);
        dup2(out, 2);
        setenv("PIECEMEAL_AGGREGATOR_URL", world->config.aggregator.url, 1);
        execl(getenv("PM_SYNC"), "piecemeal-sync", "--game", "A Game", "--deadline", deadline,
              NULL);
        _exit(127);
    }
    return child;
}

static int exit_status(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool has_ended(pid_t child)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

/* Killed while the aggregator holds the upload, which it may have counted already: the next one
 * says the same. */
static void a_killed_sync_repeats_itself_exactly(void **state)
{
    struct world *world = *state;
    free(world_session(world, "A Game", 7, 5, NULL));
    const struct server_answer script[] = {
        {.manner = SERVER_NEVER}, {.status = 204}, {.status = 404}};
    server_script(world->server, script, 3);
    pid_t child = start_sync(world, "60");
    uint64_t until = 0;
    while (server_requests(world->server) == 0 && patience(&until))
        ;
    assert_int_equal(server_requests(world->server), 1);
    kill(child, SIGKILL);
    assert_int_equal(exit_status(child), 1000 + SIGKILL);
    assert_int_equal(world_count(world, WORLD_SPOOL, PM_SPOOL_UPLOAD_SUFFIX), 1);
    assert_int_equal(exit_status(start_sync(world, "60")), 0);
    assert_int_equal(server_requests(world->server), 3); /* and the pull */
    world_same_requests(world, 0, 1);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
}

/* Killed again and again at any moment: in the end every session was sent, and whatever was sent
 * twice was the same bytes under the same id, which an aggregator counts once. */
static void killed_syncs_lose_nothing_and_contradict_nothing(void **state)
{
    enum { SESSIONS = 10, LONGEST_WAIT = 12 /* milliseconds */ };
    struct world *world = *state;
    struct pm_random random;
    pm_random_init(&random, 5);
    for (uint64_t i = 0; i < SESSIONS; i++)
        free(world_session(world, "A Game", 100 + i, 3, NULL));
    int killed = 0;
    for (int round = 0; world_count(world, WORLD_SPOOL, PM_SPOOL_SUFFIX) > 0 && round < 300;
         round++) {
        pid_t child = start_sync(world, "20");
        /* At the first request from now on or the second, on machines of any speed; every other one
         * earlier, if its time is up. */
        const size_t requests = server_requests(world->server) + 1 + pm_random_below(&random, 2);
        uint32_t wait = round % 2 ? pm_random_below(&random, LONGEST_WAIT) : UINT32_MAX;
        uint64_t until = 0;
        while (server_requests(world->server) < requests && !has_ended(child) && wait-- > 0 &&
               patience(&until))
            ;
        kill(child, SIGKILL);
        killed += exit_status(child) == 1000 + SIGKILL;
    }
    assert_true(world_upload(world)); /* undisturbed, and tidies up */
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    assert_true(killed > 3);
    struct pm_arena *arena = pm_arena_create(0);
    size_t different = 0, posts[512], count = 0;
    for (size_t i = 0; i < server_requests(world->server); i++) {
        if (strncmp(server_request(world->server, i)->head, "POST", 4) == 0)
            posts[count++] = i;
    }
    for (size_t i = 0; i < count; i++) {
        struct pm_profile profile, other;
        bool repeated = false;
        world_decode(server_request(world->server, posts[i]), arena, &profile);
        for (size_t k = 0; k < i; k++) {
            world_decode(server_request(world->server, posts[k]), arena, &other);
            if (memcmp(profile.upload_id, other.upload_id, PM_UPLOAD_ID_BYTES) == 0) {
                repeated = true;
                world_same_requests(world, posts[k], posts[i]);
            }
        }
        different += !repeated;
    }
    assert_int_equal(different, SESSIONS);
    pm_arena_destroy(arena);
}

static void two_at_once_send_nothing_twice(void **state)
{
    enum { SESSIONS = 12, PROCESSES = 4 };
    struct world *world = *state;
    for (uint64_t i = 0; i < SESSIONS; i++)
        free(world_session(world, "A Game", i, 3, NULL));
    server_script(world->server, &(struct server_answer){.status = 204}, 1);
    /* The pull is answered 204 too, which is no database: they fail in the end, with 1. */
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start_sync(world, "4");
    for (int i = 0; i < PROCESSES; i++)
        assert_int_equal(exit_status(children[i]), 1);
    assert_true(world_upload(world)); /* what their deadline was too short for */
    struct pm_arena *arena = pm_arena_create(0);
    uint8_t ids[SESSIONS][PM_UPLOAD_ID_BYTES];
    size_t posts = 0;
    for (size_t i = 0; i < server_requests(world->server); i++) {
        const struct server_request *request = server_request(world->server, i);
        if (strncmp(request->head, "POST", 4) != 0)
            continue;
        struct pm_profile profile;
        assert_true(posts < SESSIONS);
        world_decode(request, arena, &profile);
        memcpy(ids[posts], profile.upload_id, PM_UPLOAD_ID_BYTES);
        for (size_t k = 0; k < posts; k++)
            assert_memory_not_equal(ids[k], ids[posts], PM_UPLOAD_ID_BYTES);
        posts++;
    }
    assert_int_equal(posts, SESSIONS);
    assert_int_equal(world_count(world, WORLD_SPOOL, ""), 0);
    pm_arena_destroy(arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_remove)
    const struct CMUnitTest tests[] = {
        TEST(a_killed_sync_repeats_itself_exactly),
        TEST(killed_syncs_lose_nothing_and_contradict_nothing),
        TEST(two_at_once_send_nothing_twice),
    };
    return cmocka_run_group_tests_name("sync_process", tests, NULL, NULL);
}
