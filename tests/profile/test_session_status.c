#include "profile/session_status.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    temporary_make(folder, sizeof(folder));
    setenv("XDG_DATA_HOME", folder, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

struct seen {
    unsigned count;
    struct pm_session_status last;
};

static void see(void *user, const struct pm_session_status *status)
{
    struct seen *seen = user;
    seen->count++;
    seen->last = *status;
}

static struct seen look(const char *game)
{
    struct seen seen = {0};
    pm_session_status_each(game, see, &seen);
    return seen;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct pm_session_status status = {.game = "A Game/..",
                                       .device = "a device",
                                       .run = "0123456789abcdef",
                                       .why_not = "",
                                       .process = getpid(),
                                       .began = 1700000000,
                                       .written = 1700000001,
                                       .ended = true,
                                       .keeps_recordings = true,
                                       .synchronous = true,
                                       .heartbeats = 1ull << 40,
                                       .windows = 2,
                                       .calls = 3000,
                                       .sampled = 41,
                                       .api_probability = 0.01,
                                       .window_probability = 0.5,
                                       .shaders = 14,
                                       .shaders_sampled = 2,
                                       .points = 100,
                                       .points_sampled = 31,
                                       .specialized = 1,
                                       .fastest = 3.1,
                                       .slowest = 3.1,
                                       .of_passes = true,
                                       .frames_more = 7};
    assert_int_equal(look(NULL).count, 0);
    assert_true(pm_session_status_write(NULL, &status, 3, true, NULL));
    const struct seen seen = look("A Game/..");
    assert_int_equal(seen.count, 1);
    assert_memory_equal(&seen.last, &status, sizeof(status));
    assert_int_equal(look("another").count, 0);
    assert_int_equal(look(NULL).count, 1);
    /* The next replaces it; another device stands beside it. */
    status.sampled = 42;
    assert_true(pm_session_status_write(NULL, &status, 3, false, NULL));
    assert_int_equal(look(NULL).last.sampled, 42);
    assert_true(pm_session_status_write(NULL, &status, 4, true, NULL));
    assert_int_equal(look("A Game/..").count, 2);
}

static void a_process_that_is_over_makes_room(void **state)
{
    (void)state;
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    struct pm_session_status status = {.game = "over", .process = child};
    assert_true(pm_session_status_write(NULL, &status, 0, true, NULL));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(look("over").count, 1);
    status.process = getpid();
    assert_true(pm_session_status_write(NULL, &status, 0, true, NULL));
    const struct seen seen = look("over");
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.last.process, getpid());
}

/* A number is soon another process's after the next boot. */
static void a_number_that_another_process_has_is_over_too(void **state)
{
    (void)state;
    char path[256];
    const time_t now = time(NULL);
    const struct timespec before[] = {{.tv_sec = now - 86400}, {.tv_sec = now - 86400}};
    struct pm_session_status status = {.game = "again", .process = getpid(), .written = now};
    assert_true(pm_session_status_write(NULL, &status, 0, true, NULL));
    snprintf(path, sizeof(path), "%s/piecemeal/status/again/%d-0.json", folder, (int)getpid());
    assert_true(pm_session_status_write(NULL, &status, 1, true, NULL));
    assert_int_equal(look("again").count, 2);
    assert_int_equal(utimensat(AT_FDCWD, path, before, 0), 0);
    assert_true(pm_session_status_write(NULL, &status, 1, true, NULL));
    assert_int_equal(look("again").count, 1);
    assert_true(pm_session_runs(&status));
    status.written = now - 86400;
    assert_false(pm_session_runs(&status));
    status.written = now;
    status.ended = true;
    assert_false(pm_session_runs(&status));
}

static void what_is_damaged_is_passed_over(void **state)
{
    (void)state;
    char path[256];
    struct pm_session_status status = {.game = "g", .process = getpid()};
    assert_true(pm_session_status_write(NULL, &status, 0, true, NULL));
    snprintf(path, sizeof(path), "%s/piecemeal/status/g/1-1.json", folder);
    FILE *file = fopen(path, "w");
    fputs("{\"sampled\": -1, \"calls\": \"x\", \"shaders\": 1e300, \"game\": 7", file);
    fclose(file);
    assert_int_equal(look("g").count, 1);
    file = fopen(path, "a");
    fputs("}", file);
    fclose(file);
    assert_int_equal(look("g").count, 2);
}

static void pausing(void **state)
{
    (void)state;
    assert_false(pm_session_is_paused("a/b"));
    assert_true(pm_session_pause("a/b", false, NULL));
    assert_true(pm_session_pause("a/b", true, NULL));
    assert_true(pm_session_is_paused("a/b"));
    assert_false(pm_session_is_paused("a"));
    assert_true(pm_session_pause("a/b", false, NULL));
    assert_false(pm_session_is_paused("a/b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_process_that_is_over_makes_room),
        cmocka_unit_test(a_number_that_another_process_has_is_over_too),
        cmocka_unit_test(what_is_damaged_is_passed_over),
        cmocka_unit_test(pausing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
