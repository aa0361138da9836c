/* Where the PGO database does not lie packed, as after an update of the layer: it is packed in the
 * background (database.h), and no device waits for it. */
#include "tests/layer/optimized.h"
#include "tests/patience.h"
#include "tests/resident.h"

#include "aggregator_client/disk/database_cache.h"
#include "base/clock.h"
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct pm_harness h;

static void learn(void)
{
    char path[200], full[200];
    snprintf(path, sizeof path, "%s/game.pmpack", pm_layered_home());
    snprintf(full, sizeof full, "%s/game.pmpack/full", pm_layered_home());
    rmdir(full);
    rmdir(path);
    optimized_learn();
    optimized_make_large();
    optimized_enable(true);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "false", 1);
}

static void take_away(bool can_be_kept)
{
    char path[200], full[200];
    snprintf(path, sizeof path, "%s/game.pmpack", pm_layered_home());
    snprintf(full, sizeof full, "%s/game.pmpack/full", pm_layered_home());
    assert_int_equal(unlink(path), 0);
    if (can_be_kept)
        return;
    /* Where a folder is no file can be put. */
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(mkdir(full, 0700), 0);
}

static void lies_unpacked(bool can_be_kept)
{
    learn();
    take_away(can_be_kept);
}

/* A pipeline is bound again and again until it is specialized. */
static bool is_specialized(struct pm_harness *harness)
{
    VkPipeline pipeline = optimized_compute(harness);
    uint64_t until = 0;
    while (optimized_effective(harness, pipeline, VK_PIPELINE_BIND_POINT_COMPUTE) == pipeline &&
           patience(&until))
        ;
    const bool specialized =
        optimized_effective(harness, pipeline, VK_PIPELINE_BIND_POINT_COMPUTE) != pipeline;
    harness->vk.DestroyPipeline(harness->device, pipeline, NULL);
    return specialized;
}

static void a_session_packs_and_uses_it(void **state)
{
    (void)state;
    lies_unpacked(true);
    pm_harness_open(&h, NULL);
    assert_int_equal(optimized_packed(), 0);
    assert_true(is_specialized(&h));
    assert_int_not_equal(optimized_packed(), 0);
    optimized_assert_logged("the PGO database was packed", 1);
    pm_harness_close(&h);
}

static void where_it_cannot_be_kept_too(void **state)
{
    (void)state;
    lies_unpacked(false);
    pm_harness_open(&h, NULL);
    assert_true(is_specialized(&h));
    pm_harness_close(&h);
}

/* A session that has no use for variants packs it for its samples, and so for the next one's. */
static void where_nothing_is_optimized_too(void **state)
{
    (void)state;
    uint64_t until = 0;
    lies_unpacked(true);
    setenv("PIECEMEAL_OPTIMIZE_ZERO", "false", 1);
    setenv("PIECEMEAL_OPTIMIZE_BLOCKS", "false", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.5", 1);
    pm_harness_open(&h, NULL);
    while (optimized_packed() == 0 && patience(&until))
        usleep(5000);
    pm_harness_close(&h);
    unsetenv("PIECEMEAL_OPTIMIZE_ZERO");
    unsetenv("PIECEMEAL_OPTIMIZE_BLOCKS");
    assert_int_not_equal(optimized_packed(), 0);
}

/* It is said once that nothing comes of it, and what waited goes on without. */
static void a_damaged_one_is_not_packed(void **state)
{
    (void)state;
    char path[200];
    uint64_t until = 0;
    lies_unpacked(true);
    snprintf(path, sizeof path, "%s/game.pmdb", pm_layered_home());
    assert_int_equal(truncate(path, 100), 0);
    pm_harness_open(&h, NULL);
    while (optimized_logged("the PGO database is not used") == 0 && patience(&until))
        usleep(5000);
    pm_harness_close(&h);
    optimized_assert_logged("the PGO database is not used", 1);
    optimized_assert_logged("the PGO database was packed", 0);
}

/* What vkCreateDevice takes of its thread, nanoseconds, and of memory, bytes. */
struct creation {
    int64_t took;
    int64_t grown;
};

static struct creation create_device(void)
{
    pm_harness_open_instance(&h, &(struct pm_harness_options){0});
    const int64_t before = resident_bytes();
    const int64_t began = pm_used_by_thread();
    PM_CHECK(pm_harness_create_device(&h, &(struct pm_harness_options){0}));
    const struct creation creation = {pm_used_by_thread() - began, resident_bytes() - before};
    pm_harness_close(&h);
    return creation;
}

enum { PACKED, UNPACKED, NEVER_KEPT, STATES };

/* It takes less than 2 ms and 1 MiB more than where the database lies packed. */
static void no_device_waits_for_it(void **state)
{
    (void)state;
    enum { TIMES = 6 };
    struct creation least[STATES];
    setenv("PIECEMEAL_LIMITS_COUNTER_MEMORY_MIB", "1", 1);
    for (int i = 0; i < STATES; i++) {
        least[i] = (struct creation){INT64_MAX, INT64_MAX};
        /* The first session of all loads libraries. */
        for (int n = 0; n < TIMES; n++) {
            learn();
            if (i != PACKED)
                take_away(i != NEVER_KEPT);
            const struct creation creation = create_device();
            least[i].took = creation.took < least[i].took ? creation.took : least[i].took;
            least[i].grown = creation.grown < least[i].grown ? creation.grown : least[i].grown;
        }
        print_message("%ld us, %ld KiB\n", (long)(least[i].took / 1000),
                      (long)(least[i].grown / 1024));
        assert_true(least[i].took < least[PACKED].took + 2 * PM_MILLISECOND);
        assert_true(least[i].grown < least[PACKED].grown + (1 << 20));
    }
    optimized_assert_logged("the PGO database was packed", 0);
}

/* One packs it, and all go on with it. */
static void two_devices(void **state)
{
    (void)state;
    lies_unpacked(true);
    pm_harness_open(&h, NULL);
    struct pm_harness second = h;
    PM_CHECK(pm_harness_create_device(&second, &(struct pm_harness_options){0}));
    pm_harness_open_rest(&second);
    assert_true(is_specialized(&second));
    assert_true(is_specialized(&h));
    optimized_assert_logged("the PGO database was packed", 1);
    pm_harness_close_device(&second);
    pm_harness_close(&h);
}

/* Processor time. */
static clock_t packing_takes(void)
{
    lies_unpacked(true);
    const clock_t began = clock();
    struct pm_packed_database *database = pm_database_cache_open("game", NULL);
    const clock_t took = clock() - began;
    assert_non_null(database);
    pm_packed_database_close(database);
    return took;
}

/* The device goes while its thread is at it, of which it does not wait for much: the next one goes
 * on with it. */
static void a_device_goes_meanwhile(void **state)
{
    (void)state;
    uint64_t until = 0;
    uint32_t tries = 0;
    const clock_t most = packing_takes() / 2;
    /* On a busy machine it may be done before this thread sees that it began. */
    do {
        if (tries > 0)
            pm_harness_close(&h);
        lies_unpacked(true);
        pm_harness_open(&h, NULL);
        while (optimized_logged("the PGO database is being packed") == tries && patience(&until))
            ;
        tries++;
        const clock_t began = clock();
        pm_harness_close_device(&h);
        const clock_t took = clock() - began;
        print_message("%ld us of %ld\n", (long)took, (long)most);
        assert_true(took < most);
    } while (optimized_packed() != 0 && patience(&until));
    assert_int_equal(optimized_packed(), 0);
    optimized_assert_logged("the PGO database is being packed", tries);
    optimized_assert_logged("the PGO database was packed", tries - 1);
    PM_CHECK(pm_harness_create_device(&h, &(struct pm_harness_options){0}));
    pm_harness_open_rest(&h);
    assert_true(is_specialized(&h));
    optimized_assert_logged("the PGO database was packed", tries);
    pm_harness_close(&h);
}

/* The file is replaced while it is read: the new one is packed. */
static void it_is_replaced_meanwhile(void **state)
{
    (void)state;
    char path[200];
    uint64_t until = 0;
    lies_unpacked(true);
    snprintf(path, sizeof path, "%s/game.pmdb", pm_layered_home());
    pm_harness_open(&h, NULL);
    while (optimized_logged("the PGO database is being packed") == 0 && patience(&until))
        ;
    while (optimized_logged("the PGO database is being packed") < 2 && patience(&until)) {
        assert_int_equal(utimensat(AT_FDCWD, path, NULL, 0), 0);
        usleep(1000);
    }
    assert_true(is_specialized(&h));
    pm_harness_close(&h);
}

int main(void)
{
    /* What is large goes back to the system at once, and is new each time: the driver's memory for
     * counters, which it clears, and lists of the loader's. Whether malloc has as much left that is
     * there is chance otherwise. */
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_session_packs_and_uses_it),
        PM_LAYERED_TEST(where_it_cannot_be_kept_too),
        PM_LAYERED_TEST(where_nothing_is_optimized_too),
        PM_LAYERED_TEST(a_damaged_one_is_not_packed),
        PM_LAYERED_TEST(no_device_waits_for_it),
        PM_LAYERED_TEST(two_devices),
        PM_LAYERED_TEST(a_device_goes_meanwhile),
        PM_LAYERED_TEST(it_is_replaced_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
