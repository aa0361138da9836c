/* When the layer opens the PGO database, and how often it packs it. */
#include "tests/layer/optimized.h"

#include <stdio.h>
#include <unistd.h>

static struct pm_harness h;

/* A session in which a pipeline is specialized or not. */
static bool specializes(void)
{
    const uint32_t before = optimized_logged("is used from now on");
    pm_harness_open(&h, &(struct pm_harness_options){0});
    VkPipeline pipeline = optimized_compute(&h);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
    return optimized_logged("is used from now on") > before;
}

static void a_device_opens_it(void **state)
{
    (void)state;
    char path[200];
    optimized_learn();
    snprintf(path, sizeof path, "%s/game.pmpack", pm_layered_home());
    unlink(path);
    optimized_enable(true);
    pm_harness_open_instance(&h, &(struct pm_harness_options){0});
    assert_int_equal(optimized_packed(), 0);
    PM_CHECK(pm_harness_create_device(&h, &(struct pm_harness_options){0}));
    const uint64_t first = optimized_packed();
    assert_int_not_equal(first, 0);
    pm_harness_close_device(&h);
    pm_harness_close(&h);
    /* Once for all sessions. */
    assert_true(specializes());
    assert_true(optimized_packed() == first);
    /* Damaged, or of something else, it is made again. */
    assert_int_equal(truncate(path, 50), 0);
    assert_true(specializes());
    assert_int_not_equal(optimized_packed(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_device_opens_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
