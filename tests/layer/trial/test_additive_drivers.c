/* What the self-test of timestamps around draws finds on a driver (additive.h). On lavapipe they
 * are not additive (HAZARDS 14); on others it may say either, but always the same thing of an
 * instance as its draws. */
#include "tools/doctor/timing_test.h"

#include "tests/cmocka_includes.h"
#include "tests/gpu/gpu.h"
#include <string.h>

static void what_a_driver_says(void **state)
{
    (void)state;
    struct pm_gpu gpu;
    struct pm_timing_found found;
    uint64_t mask = 0;
    pm_gpu_create(&gpu);
    assert_int_equal(pm_timing_family(gpu.physical, &mask), gpu.queue_family);
    assert_true(mask != 0);
    pm_timing_test(gpu.physical, gpu.device, gpu.queue_family, mask, &found);
    assert_null(found.why);
    assert_false(found.hangs);
    assert_true(found.round.alone[1] > 0);
    print_message("%s: %s\n", gpu.name, found.additive ? "additive" : "not additive");
    if (strstr(gpu.name, "llvmpipe") != NULL)
        assert_false(found.additive);
    pm_gpu_destroy(&gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_driver_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
