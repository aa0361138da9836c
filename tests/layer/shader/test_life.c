/* A game that `piecemeal run` has started shows that its frames go through, so that its end can be
 * told from a hang's (profile/journal_asked.h). */
#include "tests/layer/optimized.h"

#include "base/clock.h"
#include "tests/patience.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RUN "0123456789abcdef"

static struct pm_harness h;
static VkPipeline compute;

static void open_it(void)
{
    optimized_open(&h);
    compute = optimized_compute(&h);
}

static void close_it(void)
{
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_RUN");
}

static void frame(void)
{
    (void)optimized_effective(&h, compute, VK_PIPELINE_BIND_POINT_COMPUTE);
}

/* The session's file, whose name ends so. */
static void path_of(const char *end, char path[600])
{
    char folder[200];
    snprintf(folder, sizeof folder, "%s/piecemeal/journal/game", pm_layered_home());
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    path[0] = '\0';
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (strstr(entry->d_name, end))
            snprintf(path, 600, "%s/%s", folder, entry->d_name);
    }
    closedir(directory);
    assert_true(path[0] != '\0');
}

static void make_old(const char *path)
{
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_old(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mtim.tv_sec == 1000;
}

static void while_frames_go_through(void **state)
{
    (void)state;
    char path[600];
    uint64_t until = 0;
    setenv("PIECEMEAL_RUN", RUN, 1);
    open_it();
    frame();
    path_of("-" RUN ".session", path);
    for (int i = 0; i < 2; i++) {
        make_old(path);
        while (is_old(path) && patience(&until))
            frame();
        assert_false(is_old(path));
    }
    /* The last frame may not have been told yet; then nothing is. */
    make_old(path);
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    make_old(path);
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    assert_true(is_old(path));
    close_it();
}

/* Who has no run that could ask has no thread for it, nor is anything touched. */
static void not_without_a_run(void **state)
{
    (void)state;
    char path[600];
    open_it();
    frame();
    path_of(".session", path);
    make_old(path);
    for (const int64_t start = pm_now(); pm_now() - start < 3 * PM_SECOND / 2;)
        frame();
    assert_true(is_old(path));
    close_it();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(while_frames_go_through),
        PM_LAYERED_TEST(not_without_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
