/* Where SPIRV-Tools' optimizer gives up, the module is kept as it is, and whoever asks is told why;
 * where the thread is asked to stop, between steps or within one, there is no module. */
#include "base/stop.h"
#include "shader_rewrite/canonical/optimizer.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* A sum that simplifying makes one of. */
static const char shader[] =
    "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n"
    "OpDecorate %block Block\nOpMemberDecorate %block 0 Offset 0\n"
    "OpDecorate %out DescriptorSet 0\nOpDecorate %out Binding 0\n"
    "%void = OpTypeVoid\n%uint = OpTypeInt 32 0\n%u0 = OpConstant %uint 0\n"
    "%u1 = OpConstant %uint 1\n%u2 = OpConstant %uint 2\n%block = OpTypeStruct %uint\n"
    "%buffer = OpTypePointer StorageBuffer %block\n%element = OpTypePointer StorageBuffer %uint\n"
    "%function = OpTypeFunction %void\n%out = OpVariable %buffer StorageBuffer\n"
    "%main = OpFunction %void None %function\n%entry = OpLabel\n"
    "%sum = OpIAdd %uint %u1 %u2\n%to = OpAccessChain %element %out %u0\nOpStore %to %sum\n"
    "OpReturn\nOpFunctionEnd\n";

static bool gives_up;
static int steps, stops_in; /* 0: in none */
static _Atomic bool asked;
static bool in_step;
static int looks, stops_at; /* in steps, whether it is asked to stop; 0: at none */

/* Linked in their places. */
bool __wrap_pm_stop_asked(void);
bool __real_pm_stop_asked(void);
enum pm_optimizer_result __wrap_pm_optimizer_run(enum pm_optimizer_step step, const uint32_t *words,
                                                 size_t count, uint32_t **out, size_t *out_count,
                                                 char *message, size_t message_size);
enum pm_optimizer_result __real_pm_optimizer_run(enum pm_optimizer_step step, const uint32_t *words,
                                                 size_t count, uint32_t **out, size_t *out_count,
                                                 char *message, size_t message_size);

enum pm_optimizer_result __wrap_pm_optimizer_run(enum pm_optimizer_step step, const uint32_t *words,
                                                 size_t count, uint32_t **out, size_t *out_count,
                                                 char *message, size_t message_size)
{
    atomic_store(&asked, ++steps == stops_in);
    if (gives_up && step == PM_STEP_SIMPLIFY) {
        snprintf(message, message_size, "it has had enough");
        return PM_OPTIMIZER_GAVE_UP;
    }
    in_step = true;
    const enum pm_optimizer_result result =
        __real_pm_optimizer_run(step, words, count, out, out_count, message, message_size);
    in_step = false;
    return result;
}

bool __wrap_pm_stop_asked(void)
{
    if (in_step && ++looks == stops_at)
        atomic_store(&asked, true);
    return __real_pm_stop_asked();
}

static bool canonicalize(const struct pm_words *original, struct pm_error *kept,
                         struct pm_words *out, struct pm_error *error)
{
    steps = looks = 0;
    atomic_store(&asked, false);
    const struct pm_canonicalize_info info = {.words = original->data,
                                              .word_count = original->count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = {.vulkan_minor = 1},
                                              .kept = kept};
    return pm_canonicalize(&info, out, error);
}

static struct pm_words canonical_of(const struct pm_words *original, struct pm_error *kept)
{
    struct pm_error error = {0};
    struct pm_words out;
    if (!canonicalize(original, kept, &out, &error))
        fail_msg("%s", error.message);
    return out;
}

static void test_kept(void **state)
{
    (void)state;
    struct pm_words original = pm_test_assemble(shader, 3);
    struct pm_error kept = {.message = "of before"};
    gives_up = false;
    struct pm_words simple = canonical_of(&original, &kept);
    assert_string_equal(kept.message, "");
    assert_int_equal(pm_test_count(&simple, "OpIAdd"), 0);
    gives_up = true;
    struct pm_words as_it_is = canonical_of(&original, &kept);
    assert_int_equal(kept.code, PM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(kept.message, "it has had enough"));
    assert_int_equal(pm_test_count(&as_it_is, "OpIAdd"), 1);
    pm_words_finish(&simple);
    pm_words_finish(&as_it_is);
    as_it_is = canonical_of(&original, NULL);
    pm_words_finish(&as_it_is);
    pm_words_finish(&original);
}

/* In whichever step it is asked, that is the last. */
static void test_stopped(void **state)
{
    (void)state;
    struct pm_words original = pm_test_assemble(shader, 3);
    gives_up = false;
    stops_in = 0;
    struct pm_words whole = canonical_of(&original, NULL);
    const int all = steps;
    pm_stop_watch(&asked);
    for (stops_in = 1; stops_in <= all; stops_in++) {
        struct pm_error error = {0};
        struct pm_words out;
        assert_false(canonicalize(&original, NULL, &out, &error));
        assert_int_equal(error.code, PM_ERROR_STOPPED);
        assert_int_equal(steps, stops_in);
        assert_null(out.data);
    }
    pm_stop_watch(NULL);
    pm_words_finish(&whole);
    pm_words_finish(&original);
}

/* So it is between any two passes of a step: simplifying has 16. */
static void test_stopped_within(void **state)
{
    (void)state;
    struct pm_words original = pm_test_assemble(shader, 3);
    gives_up = false;
    stops_in = stops_at = 0;
    struct pm_words whole = canonical_of(&original, NULL);
    const int all = looks;
    assert_true(all >= steps + 15);
    pm_stop_watch(&asked);
    for (stops_at = 1; stops_at <= all; stops_at++) {
        struct pm_error error = {0};
        struct pm_words out;
        assert_false(canonicalize(&original, NULL, &out, &error));
        assert_int_equal(error.code, PM_ERROR_STOPPED);
        assert_int_equal(looks, stops_at);
        assert_null(out.data);
    }
    stops_at = 0;
    pm_stop_watch(NULL);
    pm_words_finish(&whole);
    pm_words_finish(&original);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_stopped_within),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
