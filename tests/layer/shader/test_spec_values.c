#include "layer/shader/spec_values.h"
#include "tests/cmocka_includes.h"
#include <spirv/unified1/spirv.h>
#include <string.h>

#define OP(opcode, length) ((uint32_t)(length) << SpvWordCountShift | (uint32_t)(opcode))

enum { INT = 20, BOOL = 21, LONG = 22 };

/* Constants 7 (32 bits, 5), 3 (bool, true), 9 (64 bits, 0x200000001); id 50 has no SpecId. */
static const uint32_t module[] = {
    SpvMagicNumber,
    0x10000,
    0,
    100,
    0,
    OP(SpvOpDecorate, 4),
    10,
    SpvDecorationSpecId,
    7,
    OP(SpvOpDecorate, 4),
    11,
    SpvDecorationSpecId,
    3,
    OP(SpvOpDecorate, 3),
    50,
    SpvDecorationRelaxedPrecision,
    OP(SpvOpDecorate, 4),
    12,
    SpvDecorationSpecId,
    9,
    OP(SpvOpSpecConstant, 4),
    INT,
    10,
    5,
    OP(SpvOpSpecConstantTrue, 3),
    BOOL,
    11,
    OP(SpvOpSpecConstant, 5),
    LONG,
    12,
    1,
    2,
    OP(SpvOpSpecConstant, 4),
    INT,
    50,
    77,
};
#define COUNT (sizeof module / sizeof module[0])

static void assert_value(const struct pm_spec_value *value, uint32_t id, uint32_t size,
                         uint64_t bits)
{
    assert_int_equal(value->spec_id, id);
    assert_int_equal(value->size, size);
    assert_int_equal(value->bits, bits);
}

static struct pm_spec_values used(const uint32_t *words, size_t count,
                                  const VkSpecializationInfo *info)
{
    struct pm_error error;
    struct pm_spec_values set, result;
    assert_true(pm_spec_values_set(info, &set, &error));
    assert_true(pm_spec_values_used(words, count, &set, &result, &error));
    pm_spec_values_finish(&set);
    return result;
}

static void defaults_are_the_modules(void **state)
{
    (void)state;
    struct pm_spec_values values = used(module, COUNT, NULL);
    assert_int_equal(values.count, 3);
    assert_value(&values.data[0], 3, 4, 1);
    assert_value(&values.data[1], 7, 4, 5);
    assert_value(&values.data[2], 9, 8, UINT64_C(0x200000001));
    pm_spec_values_finish(&values);
}

static void set_values_win_and_unused_ones_do_not_count(void **state)
{
    (void)state;
    struct {
        uint64_t wide;
        uint32_t unused;
        uint16_t narrow;
        uint8_t byte;
    } data = {UINT64_C(0x1122334455667788), 1, 0xfffe, 0x80};
    const VkSpecializationMapEntry entries[] = {
        {9, 0, 8},
        {1000, 8, 4},
        {7, 12, 2},
        {3, 14, 1},
    };
    const VkSpecializationInfo info = {4, entries, sizeof data, &data};
    struct pm_spec_values values = used(module, COUNT, &info);
    assert_int_equal(values.count, 3);
    assert_value(&values.data[0], 3, 4, 0x80);
    assert_value(&values.data[1], 7, 4, 0xfffe);
    assert_value(&values.data[2], 9, 8, UINT64_C(0x1122334455667788));
    pm_spec_values_finish(&values);
}

static void groups_keep_every_set_value(void **state)
{
    (void)state;
    uint32_t words[COUNT + 2];
    memcpy(words, module, sizeof module);
    words[COUNT] = OP(SpvOpDecorationGroup, 2);
    words[COUNT + 1] = 60;
    const uint32_t data = 4;
    const VkSpecializationMapEntry entry = {1000, 0, 4};
    const VkSpecializationInfo info = {1, &entry, sizeof data, &data};
    struct pm_spec_values values = used(words, COUNT + 2, &info);
    assert_int_equal(values.count, 1);
    assert_value(&values.data[0], 1000, 4, 4);
    pm_spec_values_finish(&values);
}

static void nonsense_is_walked_safely(void **state)
{
    (void)state;
    for (size_t count = 0; count <= COUNT; count++) {
        struct pm_spec_values values = used(module, count, NULL);
        assert_true(values.count <= 3);
        pm_spec_values_finish(&values);
    }
    uint32_t words[COUNT];
    memcpy(words, module, sizeof module);
    words[5] = OP(SpvOpDecorate, 0xffff);
    struct pm_spec_values values = used(words, COUNT, NULL);
    assert_int_equal(values.count, 0);
    pm_spec_values_finish(&values);
}

static void entries_outside_the_data_are_refused(void **state)
{
    (void)state;
    const uint32_t data[2] = {1, 2};
    const VkSpecializationMapEntry bad[] = {{1, 5, 4}, {1, 8, 4}, {1, 0xffffffff, 4}, {1, 0, 3},
                                            {1, 4, 8}, {1, 0, 0}, {1, 0, SIZE_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const VkSpecializationInfo info = {1, &bad[i], sizeof data, data};
        struct pm_spec_values set;
        struct pm_error error;
        assert_false(pm_spec_values_set(&info, &set, &error));
        assert_int_equal(error.code, PM_ERROR_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_modules),
        cmocka_unit_test(set_values_win_and_unused_ones_do_not_count),
        cmocka_unit_test(groups_keep_every_set_value),
        cmocka_unit_test(nonsense_is_walked_safely),
        cmocka_unit_test(entries_outside_the_data_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
