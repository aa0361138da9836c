/* Uploads that wait for what another holds, and their games. */
#include "aggregator/service/service_state.h"

#include <stdio.h>

#include "tests/cmocka_includes.h"

static const struct pm_error held = {.code = PM_ERROR_CONFLICT, .message = "held"};

static struct pm_request request_of(const char *game, uint8_t number)
{
    struct pm_request request = {.profile = {.game = game}};
    request.profile.upload_id[0] = number;
    return request;
}

/* Who was not waited for longest is next. */
static void test_turns(void **state)
{
    (void)state;
    struct pm_apart apart = {0};
    struct pm_request a = request_of("a", 1), b = request_of("b", 2), x = request_of("x", 3),
                      y = request_of("y", 4);
    struct pm_request *group[] = {&b, &x, &a, &y};
    assert_int_equal(pm_apart_sort(&apart, group, 4), 0);
    pm_apart_note(&apart, &a.profile, &held);
    pm_apart_note(&apart, &b.profile, &held);
    assert_false(pm_apart_is_due(&apart));
    assert_string_equal(apart.reason.message, "held");
    assert_int_equal(pm_apart_sort(&apart, group, 4), 2);
    assert_ptr_equal(group[0], &x);
    assert_ptr_equal(group[1], &y);
    assert_ptr_equal(group[2], &a);
    assert_ptr_equal(group[3], &b);
    pm_apart_note(&apart, &a.profile, &held);
    assert_int_equal(pm_apart_sort(&apart, group, 4), 2);
    assert_ptr_equal(group[2], &b);
    assert_ptr_equal(group[3], &a);
    pm_apart_note(&apart, &b.profile, NULL);
    assert_true(pm_apart_is_due(&apart));
    assert_int_equal(pm_apart_sort(&apart, group, 4), 1);
    assert_ptr_equal(group[3], &a);
}

/* A second upload of it waits: then all do, until one of them does not. */
static void test_a_game(void **state)
{
    (void)state;
    struct pm_apart apart = {0};
    struct pm_request one = request_of("a", 1), two = request_of("a", 2), new = request_of("a", 3),
                      other = request_of("b", 4);
    struct pm_request *group[] = {&new, &other};
    pm_apart_note(&apart, &one.profile, &held);
    pm_apart_note(&apart, &one.profile, &held);
    assert_false(pm_apart_knows(&apart, &new.profile));
    pm_apart_note(&apart, &two.profile, &held);
    assert_true(pm_apart_knows(&apart, &new.profile));
    assert_false(pm_apart_knows(&apart, &other.profile));
    assert_int_equal(pm_apart_sort(&apart, group, 2), 1);
    assert_ptr_equal(group[0], &other);
    pm_apart_note(&apart, &new.profile, NULL);
    assert_false(pm_apart_knows(&apart, &new.profile));
    assert_true(pm_apart_knows(&apart, &one.profile));
    pm_apart_note(&apart, &one.profile, NULL);
    pm_apart_note(&apart, &two.profile, NULL);
    assert_int_equal(pm_apart_sort(&apart, group, 2), 0);
}

static void test_a_game_comes_last(void **state)
{
    (void)state;
    struct pm_request one = request_of("a", 1), two = request_of("b", 2),
                      three = request_of("a", 3), four = request_of("c", 4);
    struct pm_request *group[] = {&one, &two, &three, &four};
    pm_apart_game_last("a", group, 4);
    assert_ptr_equal(group[0], &two);
    assert_ptr_equal(group[1], &four);
    assert_ptr_equal(group[2], &one);
    assert_ptr_equal(group[3], &three);
}

/* Too many: the one that was seen longest ago is forgotten, also where one between went. */
static void test_too_many(void **state)
{
    (void)state;
    struct pm_apart apart = {0};
    struct pm_request requests[PM_APART_UPLOADS + 1];
    char names[PM_APART_UPLOADS + 1][8];
    for (size_t i = 0; i <= PM_APART_UPLOADS; i++) {
        snprintf(names[i], sizeof(names[i]), "%zu", i);
        requests[i] = request_of(names[i], (uint8_t)i);
        if (i < PM_APART_UPLOADS)
            pm_apart_note(&apart, &requests[i].profile, &held);
    }
    pm_apart_note(&apart, &requests[5].profile, NULL);
    pm_apart_note(&apart, &requests[5].profile, &held);
    pm_apart_note(&apart, &requests[PM_APART_UPLOADS].profile, &held);
    assert_false(pm_apart_knows(&apart, &requests[0].profile));
    for (size_t i = 1; i <= PM_APART_UPLOADS; i++)
        assert_true(pm_apart_knows(&apart, &requests[i].profile));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_a_game),
        cmocka_unit_test(test_a_game_comes_last),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests_name("apart", tests, NULL, NULL);
}
