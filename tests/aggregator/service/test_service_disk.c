/* A serving process on a file system that is really full, again and again: what was acknowledged is
 * there, and once there is space it goes on by itself. The disk is the file's, or that of a
 * PostgreSQL (with_postgres.sh --small). */
#include "tests/aggregator/service/http.h"
#include "tests/aggregator/service/server.h"
#include "tests/full_disk.h"
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cmocka_includes.h"

#define DISK_KIB 16384
#define ROUNDS 4

static const char *not_here; /* why there is no file system of our own */

/* What is served of it, and the file that takes all of it. */
struct disk {
    char *folder, *storage, *filler;
};

static struct disk disk_create(void)
{
    struct disk disk = {.folder = make_folder()};
    if (getenv("PM_TEST_SMALL")) {
        disk.storage = strdup(getenv("PM_TEST_STORAGE"));
        disk.filler = join(getenv("PM_TEST_ENGINE"), "filler");
    } else {
        disk.storage = join(disk.folder, "test.db");
        disk.filler = join(disk.folder, "filler");
        assert_true(full_disk_mount(disk.folder, DISK_KIB));
    }
    return disk;
}

static void disk_destroy(struct disk *disk)
{
    umount2(disk->folder, MNT_DETACH);
    free(disk->filler);
    free(disk->storage);
    remove_folder(disk->folder);
}

/* Full to the last byte, or with some pages left that the next write needs more than. */
static void test_full(void **state)
{
    (void)state;
    static const size_t left[ROUNDS] = {0, 8192, 65536, 0};
    if (not_here) {
        print_message("cannot have a mount namespace here (%s)\n", not_here);
        skip();
    }
    struct disk disk = disk_create();
    struct load_sum sum = {0};
    struct server server = server_start(disk.storage);
    struct load *load = load_start(&server, (uint64_t)time(NULL));
    for (size_t i = 0; i < ROUNDS; i++) {
        load_wait(load, 204, 50);
        assert_true(full_disk_fill(disk.filler, left[i]));
        load_wait(load, 507, 50);
        if (left[i] == 0)
            assert_int_equal(server_health(&server), 503);
        assert_int_equal(unlink(disk.filler), 0);
        load_wait(load, 204, 50);
        assert_int_equal(server_health(&server), 200);
    }
    /* And killed while it is full. */
    assert_true(full_disk_fill(disk.filler, 0));
    load_wait(load, 507, 20);
    server_end(&server, SIGKILL);
    load_stop(load, true);
    assert_int_equal(unlink(disk.filler), 0);
    server = server_start(disk.storage);
    load_check(load, &server, &sum);
    server_end(&server, SIGTERM);
    printf("%d times full: acknowledged %u; not: %u that were kept, %u that were not\n", ROUNDS + 1,
           sum.confirmed, sum.kept, sum.lost);
    assert_true(sum.lost >= 50 * ROUNDS);
    load_check_stored(disk.storage, &sum);
    disk_destroy(&disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full)};
    if (!getenv("PM_TEST_SMALL") && !full_disk_namespace())
        not_here = strerror(errno);
    setvbuf(stdout, NULL, _IOLBF, 0);
    curl_global_init(CURL_GLOBAL_ALL);
    const int failed = cmocka_run_group_tests_name("service_disk", tests, NULL, NULL);
    curl_global_cleanup();
    return failed;
}
