#include "tests/gpu/gpu.h"

struct pm_gpu pm_test_gpu;

int pm_gpu_set_up(void **state)
{
    (void)state;
    pm_gpu_create(&pm_test_gpu);
    return 0;
}

int pm_gpu_tear_down(void **state)
{
    (void)state;
    pm_gpu_destroy(&pm_test_gpu);
    return 0;
}
