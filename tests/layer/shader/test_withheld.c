/* optimize.withhold: which parts of which shaders a file withholds. */
#include "layer/shader/withheld.h"
#include "tests/cmocka_includes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_A "000000000000000000000000000000000000000000000001"
#define KEY_B "000000000000000000000000000000000000000000000002"

static struct pm_withheld read_text(const char *text, bool good)
{
    char path[] = "/tmp/withheld-XXXXXX";
    struct pm_withheld withheld;
    struct pm_error error = {0};
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    assert_int_equal(pm_withheld_read(&withheld, path, &error), good);
    assert_int_equal(error.code == PM_OK, good);
    unlink(path);
    return withheld;
}

/* text: what is withheld of the two. */
static void expect(const char *text, uint32_t of_a, uint32_t of_b)
{
    struct pm_withheld withheld = read_text(text, true);
    struct pm_shader_key a, b;
    assert_true(pm_shader_key_parse(KEY_A, &a) && pm_shader_key_parse(KEY_B, &b));
    assert_int_equal(pm_withheld_parts(&withheld, &a), of_a);
    assert_int_equal(pm_withheld_parts(&withheld, &b), of_b);
    pm_withheld_finish(&withheld);
}

static void lines_name_shaders_and_parts(void **state)
{
    (void)state;
    expect("", 0, 0);
    expect(KEY_A "\n", PM_PARTS_ALL, 0);
    expect(KEY_A " zeros\n", PM_PART_ZEROS, 0);
    expect(KEY_A " zeros,passes\n" KEY_A " blocks\n" KEY_B " words",
           PM_PART_ZEROS | PM_PART_PASSES | PM_PART_BLOCKS, PM_PART_WORDS);
    expect("*\n", PM_PARTS_ALL, PM_PARTS_ALL);
    expect("*\n!" KEY_A "\n", 0, PM_PARTS_ALL);
    expect("*\n!" KEY_A " recipe\n!" KEY_A " pushed\n",
           PM_PARTS_ALL & ~(uint32_t)(PM_PART_RECIPE | PM_PART_PUSHED), PM_PARTS_ALL);
}

static void what_cannot_be_read_withholds_all(void **state)
{
    static const char *const wrong[] = {"nonsense\n", KEY_A "x\n", KEY_A " zero\n", KEY_A " \n",
                                        KEY_A " zeros words\n"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pm_withheld withheld = read_text(wrong[i], false);
        struct pm_shader_key b;
        assert_true(pm_shader_key_parse(KEY_B, &b));
        assert_int_equal(pm_withheld_parts(&withheld, &b), PM_PARTS_ALL);
        pm_withheld_finish(&withheld);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_name_shaders_and_parts),
        cmocka_unit_test(what_cannot_be_read_withholds_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
