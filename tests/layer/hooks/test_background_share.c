/* What the layer's threads use of the processor in a game of many shaders with a PGO database of
 * many: limits.background_share at its default, and no more. */
#include "tests/layer/levels.h"
#include "tests/layer/optimized.h"

#include "base/clock.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pm_harness h;

/* Of the compile threads, or of the others that the layer has started, seconds. */
static double used(bool compiling)
{
    double sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks));) {
        char path[300], name[32] = "";
        unsigned long long nanoseconds = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        assert_non_null(fgets(name, sizeof name, file));
        fclose(file);
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
        if (strncmp(name, "piecemeal", 9) != 0 || compiling != (strcmp(name, "piecemeal\n") == 0) ||
            !(file = fopen(path, "r")))
            continue;
        assert_int_equal(fscanf(file, "%llu", &nanoseconds), 1);
        fclose(file);
        sum += (double)nanoseconds * 1e-9;
    }
    closedir(tasks);
    return sum;
}

enum {
    SHADERS = 3000, /* several times what is canonicalized meanwhile */
    AT_ONCE = 10,   /* seconds whose share may be used at once */
    FRAMES_A_SECOND = 20
};

/* With the optimizer alone: the game draws with all of its shaders for so many seconds, and of each
 * it is to be known whether the database has it. share: NULL: the default, 0.05. */
static void play(const char *share, double of_a_core, int64_t seconds)
{
    struct level level;
    optimized_learn();
    optimized_make_large();
    optimized_enable(false);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
    setenv("PM_NULL_RECORD", "0", 1);
    unsetenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE");
    if (share != NULL)
        setenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE", share, 1);
    const int64_t began = pm_now();
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    level_make(&level, &h, 0, SHADERS, 1);
    double late = 0;
    int64_t late_since = 0;
    const int64_t loaded = pm_now();
    while (pm_now() - loaded < seconds * PM_SECOND) {
        level_frame(&level, &h, buffer);
        usleep(1000000 / FRAMES_A_SECOND);
        if (late_since == 0 && pm_now() - loaded > seconds * PM_SECOND / 2) {
            late = used(true);
            late_since = pm_now();
        }
    }
    const int64_t now = pm_now();
    const double all = used(true), others = used(false), lately = all - late;
    level_destroy(&level, &h);
    pm_harness_close(&h);
    const double may = of_a_core * ((double)(now - began) * 1e-9 + AT_ONCE);
    const double may_lately = of_a_core * (double)(now - late_since) * 1e-9;
    print_message("%.2f s of %.2f in %.1f s, then %.2f of %.2f in %.1f s; others %.2f\n", all, may,
                  (double)(now - began) * 1e-9, lately, may_lately,
                  (double)(now - late_since) * 1e-9, others);
    assert_true(all > 0 && all <= 1.1 * may + 0.05); /* beyond it, one job */
    /* What compresses each module's words, once. */
    assert_true(others <= SHADERS * 0.0003);
    /* Nor was it through before: it still uses what it may; unless other programs leave less than
     * that to threads of the lowest priority, which tells nothing. */
    if (lately < may_lately / 2)
        skip();
}

static void a_large_database_is_looked_up_slowly(void **state)
{
    (void)state;
    play(NULL, 0.05, 25);
}

/* Less than what such threads get on a machine with ten times as much to do as it has cores. */
static void a_smaller_share_is_kept_too(void **state)
{
    (void)state;
    play("0.01", 0.01, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {PM_LAYERED_TEST(a_large_database_is_looked_up_slowly),
                                       PM_LAYERED_TEST(a_smaller_share_is_kept_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
