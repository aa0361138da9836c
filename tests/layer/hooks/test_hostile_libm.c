/* A game that has functions of libm's names, which do something else: nothing that the layer
 * computes is by them (HAZARDS 23). */
#include "tests/layer/hooks/hostile_libm.h"
#include "tests/layer/trial/trying.h"

#include <dlfcn.h>
#include <stdlib.h>

/* The program's functions are found before libm's. */
static void they_are_the_programs(void **state)
{
    (void)state;
    Dl_info own, its;
    assert_int_not_equal(dladdr((void *)hostile_libm_calls, &own), 0);
    assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "log"), &its), 0);
    assert_ptr_equal(its.dli_fbase, own.dli_fbase);
}

/* Which calls are sampled is by lot, with logarithms. */
static void lots(void **state)
{
    (void)state;
    trying.kinds = "block,zero";
    trying.sampled = "0.5";
    trying_open(80000, NULL);
    trying_run_frames(trying_dispatch, TRYING_ONCE, 16);
    trying_close();
    assert_true(pm_layered_logged("sampling on") > 0);
    assert_int_equal(hostile_libm_calls(), 0);
}

/* What a trial comes to is an interval. */
static void trials(void **state)
{
    (void)state;
    trying_open(80000, NULL);
    assert_true(trying_run_until(trying_dispatch, TRYING_ONCE, "is used from now on"));
    trying_close();
    assert_int_equal(hostile_libm_calls(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_the_programs),
        PM_LAYERED_TEST(lots),
        PM_LAYERED_TEST(trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
