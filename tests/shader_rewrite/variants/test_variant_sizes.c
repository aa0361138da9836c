/* Which subgroup sizes a compute shader may be tried with: none that it could tell. */
#include "shader_rewrite/variants/variants.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/variants/sized.h"

#include "tests/cmocka_includes.h"

/* Sizes from 8 to 64 of a module of the corpus of subjects, and of the same with something in it.
 */
static uint32_t sizes_of(const char *assembly)
{
    const struct pm_subgroup_sizes sizes = {.own = 32, .least = 8, .most = 64, .most_subgroups = 4};
    struct pm_words words = pm_test_assemble(assembly, 3);
    const uint32_t found = pm_variant_subgroup_sizes(words.data, words.count, &sizes);
    pm_words_finish(&words);
    return found;
}

#define BUFFER                                                                                     \
    "%pointer = OpTypePointer StorageBuffer %uint\n%buffer = OpVariable %pointer StorageBuffer\n"
#define VISIBLE(scope) "%a = OpLoad %uint %buffer MakePointerVisible|NonPrivatePointer " scope "\n"

static void test_subgroup_sizes(void **state)
{
    (void)state;
    const struct pm_subgroup_sizes none = {.own = 32};
    struct pm_words words = pm_test_assemble(SIZED("", "64", "", ""), 3);
    assert_int_equal(pm_variant_subgroup_sizes(words.data, words.count, &none), 0);
    pm_words_finish(&words);
    assert_int_equal(sizes_of(SIZED("", "32", "", "")), 8 | 16 | 64);
    /* Four subgroups at most. */
    assert_int_equal(sizes_of(SIZED("", "64", "", "")), 16 | 64);
    /* Lanes that are behind each other's back. */
    assert_int_equal(sizes_of(SIZED("", "32", SHARED, "")), 64);
    assert_int_equal(
        sizes_of(SIZED("", "32", SHARED, "%a = OpAtomicIAdd %uint %shared %two %none %two\n")), 0);
    /* What could tell. */
    assert_int_equal(sizes_of(SIZED("OpCapability GroupNonUniform\n", "32", "%bool = OpTypeBool\n",
                                    "%e = OpGroupNonUniformElect %bool %three\n")),
                     0);
    assert_int_equal(sizes_of(SIZED("", "32", "", "OpControlBarrier %three %three %acquire\n")), 0);
    assert_int_equal(sizes_of(SIZED("", "32", "", "OpMemoryBarrier %three %acquire\n")), 0);
    assert_int_equal(sizes_of(SIZED("", "32", "", "OpControlBarrier %two %two %acquire\n")),
                     8 | 16 | 64);
    assert_int_equal(
        sizes_of(SIZED("", "32", BUFFER, "%a = OpAtomicIAdd %uint %buffer %two %none %two\n")),
        8 | 16);
    assert_int_equal(
        sizes_of(SIZED("", "32", BUFFER, "%a = OpAtomicIAdd %uint %buffer %three %none %two\n")),
        0);
    assert_int_equal(sizes_of(SIZED("", "32", BUFFER, VISIBLE("%two"))), 8 | 16 | 64);
    assert_int_equal(sizes_of(SIZED("", "32", BUFFER, VISIBLE("%three"))), 0);
    assert_int_equal(sizes_of(SIZED("", "32", BUFFER,
                                    "OpStore %buffer %two Aligned|MakePointerAvailable|"
                                    "NonPrivatePointer 4 %three\n")),
                     0);
    assert_int_equal(sizes_of(SIZED("", "32", BUFFER,
                                    "OpCopyMemory %buffer %buffer MakePointerAvailable|"
                                    "NonPrivatePointer %three\n")),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_subgroup_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
