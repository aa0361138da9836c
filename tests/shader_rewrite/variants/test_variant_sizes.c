/* Which subgroup sizes a compute shader may be tried with: none that it could tell. */
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/variants/variants.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/variants/sized.h"

#include "tests/cmocka_includes.h"

#define ALL (8 | 16 | 64)

/* Sizes from 8 to 64 of a shader, 32 being its own, with four subgroups at most. */
static uint32_t sizes_of(const char *assembly)
{
    const struct pm_subgroup_sizes sizes = {.own = 32, .least = 8, .most = 64, .most_subgroups = 4};
    struct pm_error error = {0};
    struct pm_words words = pm_test_assemble(assembly, 3);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    if (!module)
        fail_msg("%s", error.message); /* which has no sizes either */
    pm_ir_module_destroy(module);
    const uint32_t found = pm_variant_subgroup_sizes(words.data, words.count, &sizes);
    pm_words_finish(&words);
    return found;
}

struct row {
    const char *what, *assembly;
    uint32_t sizes;
};

static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t found = sizes_of(rows[i].assembly);
        if (found != rows[i].sizes)
            fail_msg("%s: sizes are 0x%x, not 0x%x", rows[i].what, found, rows[i].sizes);
    }
}
#define CHECK(rows) check(rows, sizeof(rows) / sizeof *(rows))

#define BODY(text) SIZED("", "32", "", text)
#define GLOBALS(text, body) SIZED("", "32", text, body)

#define BUFFER                                                                                     \
    "%pointer = OpTypePointer StorageBuffer %uint\n%buffer = OpVariable %pointer StorageBuffer\n"
#define VISIBLE(scope) "%a = OpLoad %uint %buffer MakePointerVisible|NonPrivatePointer " scope "\n"
#define STORED(scope)                                                                              \
    "OpStore %buffer %two Aligned|MakePointerAvailable|NonPrivatePointer 4 " scope "\n"
#define COPIED(scope)                                                                              \
    "OpCopyMemory %buffer %buffer MakePointerAvailable|NonPrivatePointer " scope "\n"
#define ADDED(scope) "%a = OpAtomicIAdd %uint %buffer " scope " %none %two\n"

static void test_sizes(void **state)
{
    (void)state;
    const struct pm_subgroup_sizes none = {.own = 32};
    struct pm_words words = pm_test_assemble(SIZED("", "64", "", ""), 3);
    assert_int_equal(pm_variant_subgroup_sizes(words.data, words.count, &none), 0);
    pm_words_finish(&words);
    static const struct row rows[] = {
        {"nothing that could tell", BODY(""), ALL},
        {"more than four subgroups of 8", SIZED("", "64", "", ""), 16 | 64},
        /* Lanes that are behind each other's back. */
        {"workgroup memory", GLOBALS(SHARED, ""), 64},
        {"atomics", GLOBALS(BUFFER, ADDED("%two")), 8 | 16},
        {"atomics in workgroup memory",
         GLOBALS(SHARED, "%a = OpAtomicIAdd %uint %shared %two %none %two\n"), 0},
    };
    CHECK(rows);
}

/* A scope of a subgroup could tell, as could one that is specialized; a workgroup's could not. */
static void test_scopes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"barrier", BODY("OpControlBarrier %two %two %acquire\n"), ALL},
        {"barrier of a subgroup", BODY("OpControlBarrier %three %two %acquire\n"), 0},
        {"barrier of a subgroup's memory", BODY("OpControlBarrier %two %three %acquire\n"), 0},
        {"memory barrier", BODY("OpMemoryBarrier %two %acquire\n"), ALL},
        {"memory barrier of a subgroup", BODY("OpMemoryBarrier %three %acquire\n"), 0},
        {"atomic of a subgroup", GLOBALS(BUFFER, ADDED("%three")), 0},
        {"atomic of a specialized scope",
         GLOBALS("%scope = OpSpecConstant %uint 2\n" BUFFER, ADDED("%scope")), 0},
        {"load", GLOBALS(BUFFER, VISIBLE("%two")), ALL},
        {"load of a subgroup", GLOBALS(BUFFER, VISIBLE("%three")), 0},
        {"store", GLOBALS(BUFFER, STORED("%two")), ALL},
        {"store of a subgroup", GLOBALS(BUFFER, STORED("%three")), 0},
        {"copy", GLOBALS(BUFFER, COPIED("%two")), ALL},
        {"copy of a subgroup", GLOBALS(BUFFER, COPIED("%three")), 0},
    };
    CHECK(rows);
}

#define IMAGE                                                                                      \
    "%float = OpTypeFloat 32\n%float4 = OpTypeVector %float 4\n%uint2 = OpTypeVector %uint 2\n"    \
    "%sparse = OpTypeStruct %uint %float4\n%image = OpTypeImage %float 2D 0 0 0 2 Rgba32f\n"       \
    "%images = OpTypePointer UniformConstant %image\n"                                             \
    "%at = OpConstantNull %uint2\n%texel = OpConstantNull %float4\n"                               \
    "%variable = OpVariable %images UniformConstant\n"
#define IMAGED(text) GLOBALS(IMAGE, "%i = OpLoad %image %variable\n" text)
#define SEEN(scope) " MakeTexelVisible|NonPrivateTexel " scope "\n"
#define SHOWN(scope) " MakeTexelAvailable|NonPrivateTexel " scope "\n"

static void test_image_scopes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"image read", IMAGED("%a = OpImageRead %float4 %i %at\n"), ALL},
        {"image read, visible", IMAGED("%a = OpImageRead %float4 %i %at" SEEN("%two")), ALL},
        {"image read of a subgroup", IMAGED("%a = OpImageRead %float4 %i %at" SEEN("%three")), 0},
        {"image read of a sample", IMAGED("%a = OpImageRead %float4 %i %at Sample %three\n"), ALL},
        {"image read of a sample and a subgroup",
         IMAGED("%a = OpImageRead %float4 %i %at "
                "Sample|MakeTexelVisible|NonPrivateTexel %two %three\n"),
         0},
        {"sparse read", IMAGED("%a = OpImageSparseRead %sparse %i %at" SEEN("%two")), ALL},
        {"sparse read of a subgroup",
         IMAGED("%a = OpImageSparseRead %sparse %i %at" SEEN("%three")), 0},
        {"image write", IMAGED("OpImageWrite %i %at %texel\n"), ALL},
        {"image write, available", IMAGED("OpImageWrite %i %at %texel" SHOWN("%two")), ALL},
        {"image write of a subgroup", IMAGED("OpImageWrite %i %at %texel" SHOWN("%three")), 0},
    };
    CHECK(rows);
}

/* Decorations stand before all types. */
#define DECORATED(decoration)                                                                      \
    SIZED("", "32 1 1\nOpDecorate %in " decoration "\n;",                                          \
          "%inputs = OpTypePointer Input %uint\n%in = OpVariable %inputs Input\n",                 \
          "%a = OpLoad %uint %in\n")
#define BUILT_IN(name) DECORATED("BuiltIn " name)

static void test_built_ins(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"LocalInvocationIndex", BUILT_IN("LocalInvocationIndex"), ALL},
        {"ViewIndex", BUILT_IN("ViewIndex"), ALL},
        {"SubgroupSize", BUILT_IN("SubgroupSize"), 0},
        {"NumSubgroups", BUILT_IN("NumSubgroups"), 0},
        {"SubgroupId", BUILT_IN("SubgroupId"), 0},
        {"SubgroupLocalInvocationId", BUILT_IN("SubgroupLocalInvocationId"), 0},
        {"SubgroupEqMask", BUILT_IN("SubgroupEqMask"), 0},
        {"SubgroupGeMask", BUILT_IN("SubgroupGeMask"), 0},
        {"SubgroupGtMask", BUILT_IN("SubgroupGtMask"), 0},
        {"SubgroupLeMask", BUILT_IN("SubgroupLeMask"), 0},
        {"SubgroupLtMask", BUILT_IN("SubgroupLtMask"), 0},
        /* The same number, which is no built-in's. */
        {"location", DECORATED("Location 36"), ALL},
        {"no number", DECORATED("Flat"), ALL},
    };
    CHECK(rows);
}

#define BOOL "%bool = OpTypeBool\n%yes = OpConstantTrue %bool\n"
#define EXTENDED(name) SIZED("OpExtension \"" name "\"\n", "32", "", "")

static void test_subgroup_operations(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"elect", GLOBALS(BOOL, "%a = OpGroupNonUniformElect %bool %three\n"), 0},
        {"ballot of GL_ARB_shader_ballot",
         GLOBALS(BOOL "%uint4 = OpTypeVector %uint 4\n", "%a = OpSubgroupBallotKHR %uint4 %yes\n"),
         0},
        {"vote of GL_ARB_shader_group_vote", GLOBALS(BOOL, "%a = OpSubgroupAllKHR %bool %yes\n"),
         0},
        {"first of GL_ARB_shader_ballot",
         GLOBALS("", "%a = OpSubgroupFirstInvocationKHR %uint %two\n"), 0},
        {"sum of AMD's", GLOBALS("", "%a = OpGroupIAddNonUniformAMD %uint %three Reduce %two\n"),
         0},
    };
    CHECK(rows);
}

/* Of what an extension adds the grammar may have no class. */
static void test_extensions(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"an extension", EXTENDED("SPV_KHR_storage_buffer_storage_class"), ALL},
        {"vote", EXTENDED("SPV_KHR_subgroup_vote"), 0},
        {"ballot", EXTENDED("SPV_KHR_shader_ballot"), 0},
        {"matrices", EXTENDED("SPV_KHR_cooperative_matrix"), 0},
        {"reconvergence", EXTENDED("SPV_KHR_maximal_reconvergence"), 0},
        {"Intel's", EXTENDED("SPV_INTEL_shader_integer_functions2"), 0},
    };
    CHECK(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_image_scopes),
        cmocka_unit_test(test_built_ins),
        cmocka_unit_test(test_subgroup_operations),
        cmocka_unit_test(test_extensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
