#include "base/paired.h"
#include "base/student.h"
#include "tests/cmocka_includes.h"
#include <math.h>

/* From tables of the distribution; of 1 and 2 degrees there is a formula. */
static void test_known_values(void **state)
{
    (void)state;
    static const struct {
        double degrees, error, t;
    } known[] = {{3, 0.01, 5.84091},   {5, 0.001, 6.86883},  {10, 0.02, 2.76377},
                 {20, 0.002, 3.55181}, {29, 0.001, 3.65941}, {30, 0.001, 3.64596},
                 {40, 0.01, 2.70446},  {60, 0.002, 3.23171}, {120, 0.001, 3.37345}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        const double t = pm_student_t(known[i].error, known[i].degrees);
        if (fabs(t / known[i].t - 1) > 1e-4)
            fail_msg("%g degrees, %g: %g and not %g", known[i].degrees, known[i].error, t,
                     known[i].t);
    }
    for (double error = 1e-10; error < 0.5; error *= 3) {
        const double one = 1 / tan(acos(-1) * error / 2);
        const double two = (1 - error) * sqrt(2 / (error * (2 - error)));
        assert_true(fabs(pm_student_t(error, 1) / one - 1) < 1e-6);
        assert_true(fabs(pm_student_t(error, 2) / two - 1) < 1e-6);
    }
}

/* Each is the other's inverse, and nothing jumps where the expansion begins. */
static void test_inverse(void **state)
{
    (void)state;
    for (double error = 1e-9; error < 0.4; error *= 2.7) {
        for (double degrees = 1; degrees < 1e6; degrees *= 1.37) {
            const double t = pm_student_t(error, degrees);
            const double back = pm_student_error(t * (1 - 1e-3), degrees);
            const double on = pm_student_error(t * (1 + 1e-3), degrees);
            if (!(on < error && error < back))
                fail_msg("%g degrees, %g: %g to %g", degrees, error, on, back);
        }
    }
    assert_true(pm_student_error(0, 7) == 1);
    assert_true(fabs(pm_student_error(1.959964, 1e30) - 0.05) < 1e-7);
}

static void test_bounds(void **state)
{
    (void)state;
    assert_true(pm_student_t(0.05, 7) == pm_student_quantile(7));
    assert_true(pm_student_t(0, 50) == pm_student_t(1e-12, 50));
    assert_true(pm_student_t(0.9, 50) == pm_student_t(0.5, 50));
    assert_true(pm_student_t(0.01, NAN) == pm_student_t(0.01, 1));
    assert_true(pm_student_t(0.01, -3) == pm_student_t(0.01, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
