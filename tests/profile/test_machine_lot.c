/* Lots that a machine draws once (profile/machine_lot.h). */
#include "profile/machine_lot.h"

#include "base/file.h"
#include "base/random.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS = 20000 };

static char home[96];

static int set_up(void **state)
{
    (void)state;
    temporary_make(home, sizeof home);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temporary_remove(home);
    return 0;
}

static void path_of(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", home, name);
}

static void it_is_drawn_once(void **state)
{
    (void)state;
    char path[128], other[128];
    struct stat before, after;
    path_of(path, "deep/lot");
    path_of(other, "other");
    const uint64_t lot = pm_machine_lot(path);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(before.st_mode & 0777, 0600);
    assert_true(pm_machine_lot(path) == lot && pm_machine_lot(path) == lot);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_true(pm_machine_lot(other) != lot);
}

static void what_is_damaged_is_drawn_anew(void **state)
{
    (void)state;
    static const char *const damaged[] = {"",
                                          "\n",
                                          "0123456789abcde\n",
                                          "0123456789abcdefg\n",
                                          "0123456789abcde \n",
                                          "0123456789ABCDEF\n"};
    char path[128];
    path_of(path, "lot");
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        assert_true(pm_file_write(path, damaged[i], strlen(damaged[i]), NULL));
        const uint64_t lot = pm_machine_lot(path);
        assert_true(pm_machine_lot(path) == lot);
    }
    assert_true(pm_file_write(path, "00000000000000ff\n", 17, NULL));
    assert_true(pm_machine_lot(path) == 0xff);
}

static void without_a_place_there_is_one_all_the_same(void **state)
{
    (void)state;
    char path[128];
    path_of(path, "file");
    assert_true(pm_file_write(path, "", 0, NULL));
    path_of(path, "file/lot");
    assert_true(pm_machine_lot(path) != pm_machine_lot(path));
}

/* Of shaders on one machine, and of machines for one shader. */
static void it_falls_on_a_share(void **state)
{
    (void)state;
    struct pm_random random;
    struct pm_shader_key key = {{7}};
    unsigned shaders = 0, machines = 0;
    pm_random_init(&random, 5);
    for (int i = 0; i < KEYS; i++) {
        machines += pm_lot_falls(pm_random_next(&random), &key, 0.05);
        assert_false(pm_lot_falls(pm_random_next(&random), &key, 0));
        assert_true(pm_lot_falls(pm_random_next(&random), &key, 1));
    }
    for (int i = 0; i < KEYS; i++) {
        const uint64_t bits = pm_random_next(&random);
        memcpy(key.bytes, &bits, sizeof bits);
        shaders += pm_lot_falls(99, &key, 0.05);
    }
    /* Six standard deviations of 30.8. */
    assert_in_range(shaders, KEYS / 20 - 185, KEYS / 20 + 185);
    assert_in_range(machines, KEYS / 20 - 185, KEYS / 20 + 185);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_drawn_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_drawn_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_a_place_there_is_one_all_the_same, set_up,
                                        tear_down),
        cmocka_unit_test(it_falls_on_a_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
