/* Which bodies of databases stay in memory. */
#include "aggregator/service/service_bodies.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
/* cmocka wants these before it. */
#include <cmocka.h>

static const char etag[PM_ETAG_TEXT] = "one", other_etag[PM_ETAG_TEXT] = "other";

/* How large it is, is only said. */
static void keep(struct pm_bodies *bodies, const char *name, size_t bytes)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    assert_non_null(response);
    assert_true(pm_bodies_keep(bodies, name, etag, response, bytes));
    assert_ptr_equal(pm_bodies_find(bodies, name, etag), response);
}

static void test_bytes_are_bounded(void **state)
{
    (void)state;
    static struct pm_bodies bodies;
    const size_t half = PM_BODIES_BYTES / 2;
    pm_bodies_init(&bodies);
    keep(&bodies, "a", half);
    keep(&bodies, "b", half);
    assert_non_null(pm_bodies_find(&bodies, "a", etag));
    keep(&bodies, "c", half); /* b was used longest ago */
    assert_null(pm_bodies_find(&bodies, "b", etag));
    assert_non_null(pm_bodies_find(&bodies, "a", etag));
    assert_int_equal(bodies.bytes, PM_BODIES_BYTES);
    keep(&bodies, "a", 1); /* in its own place */
    assert_int_equal(bodies.bytes, half + 1);
    assert_null(pm_bodies_find(&bodies, "a", other_etag));
    /* One that is larger than all may be is alone, and makes way for the next. */
    keep(&bodies, "huge", 3 * PM_BODIES_BYTES);
    assert_null(pm_bodies_find(&bodies, "a", etag));
    assert_null(pm_bodies_find(&bodies, "c", etag));
    keep(&bodies, "a", 1);
    assert_null(pm_bodies_find(&bodies, "huge", etag));
    assert_int_equal(bodies.bytes, 1);
    pm_bodies_finish(&bodies);
    assert_int_equal(bodies.bytes, 0);
}

static void test_number_is_bounded(void **state)
{
    (void)state;
    static struct pm_bodies bodies;
    char name[16];
    pm_bodies_init(&bodies);
    for (int i = 0; i <= PM_BODIES; i++) {
        snprintf(name, sizeof(name), "%d", i);
        keep(&bodies, name, 2);
    }
    assert_null(pm_bodies_find(&bodies, "0", etag));
    assert_non_null(pm_bodies_find(&bodies, "1", etag));
    assert_int_equal(bodies.bytes, 2 * PM_BODIES);
    pm_bodies_finish(&bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_are_bounded),
        cmocka_unit_test(test_number_is_bounded),
    };
    return cmocka_run_group_tests_name("bodies", tests, NULL, NULL);
}
