/* What finding regions costs: it grows with the shader as its size does, it ends where it may take
 * no longer, and what is far from a candidate is found all the same. */
#include "tests/shader_rewrite/zero/specialize_subject.h"

#include "base/buffer.h"
#include "shader_rewrite/ir/ir_module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

/* ---- shaders of any size ---- */

static void say(struct pm_buffer *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct pm_buffer *text, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    assert_in_range(length, 1, sizeof(line) - 1);
    assert_true(pm_buffer_append(text, line, (size_t)length));
}

static struct subject assemble(struct pm_buffer *text)
{
    assert_true(pm_buffer_append(text, "", 1));
    struct subject s = subject_assemble("", "", "", (const char *)text->data);
    pm_buffer_finish(text);
    return s;
}

/* Each term of a sum is a product of factors that other terms have too. */
static void say_sums(struct pm_buffer *text, uint32_t terms)
{
    say(text, "%%a0 = OpFMul %%float %%v0 %%v1\n%%s0 = OpFAdd %%float %%v0 %%v1\n");
    for (uint32_t i = 1; i < terms; i++)
        say(text,
            "%%a%u = OpFAdd %%float %%a%u %%v0\n%%m%u = OpFMul %%float %%a%u %%a%u\n"
            "%%s%u = OpFAdd %%float %%s%u %%m%u\n",
            i, i - 1, i, i, i < 5 ? 0 : i - 5, i, i - 1, i);
    say(text, "%%result = OpFAdd %%float %%s%u %%v1\n", terms - 1);
}

/* Each of them in a selection of its own. */
static void say_selections(struct pm_buffer *text, uint32_t terms)
{
    say(text, "%%s0 = OpFAdd %%float %%v0 %%v1\n"
              "OpBranch %%l0\n%%l0 = OpLabel\n");
    for (uint32_t i = 1; i < terms; i++) {
        say(text,
            "%%a%u = OpFAdd %%float %%s%u %%v0\n%%c%u = OpFOrdGreaterThan %%bool %%a%u %%v1\n"
            "OpSelectionMerge %%l%u None\nOpBranchConditional %%c%u %%t%u %%l%u\n%%t%u = OpLabel\n"
            "%%m%u = OpFMul %%float %%a%u %%v1\n%%n%u = OpFAdd %%float %%s%u %%m%u\n"
            "OpBranch %%l%u\n%%l%u = OpLabel\n",
            i, i - 1, i, i, i, i, i, i, i, i, i, i, i - 1, i, i, i);
        say(text, "%%s%u = OpPhi %%float %%s%u %%l%u %%n%u %%t%u\n", i, i - 1, i - 1, i, i);
    }
    say(text, "%%result = OpFAdd %%float %%s%u %%v1\n", terms - 1);
}

static struct subject subject_of(void (*shape)(struct pm_buffer *, uint32_t), uint32_t terms)
{
    struct pm_buffer text;
    pm_buffer_init(&text, 16 << 20);
    shape(&text, terms);
    struct subject s = assemble(&text);
    for (uint32_t i = 0; i < s.points.count; i++)
        s.zero[i] = 0.9;
    return s;
}

/* ---- work ---- */

static double work_of(void (*shape)(struct pm_buffer *, uint32_t), uint32_t terms)
{
    struct subject s = subject_of(shape, terms);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.most_transforms = 1;
    struct pm_specialized out = subject_specialize(&s, &info);
    cJSON *root = cJSON_Parse(out.report);
    double work = subject_number(root, "work");
    assert_true(work > terms);
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
    return work;
}

/* Four times the shader, and at most 4^1.15 times the work. */
static void assert_linear(void (*shape)(struct pm_buffer *, uint32_t))
{
    double less = work_of(shape, 500), more = work_of(shape, 2000);
    if (more > 4.92 * less)
        fail_msg("work %.0f for 500 terms, %.0f for 2000", less, more);
}

static void test_straight_code(void **state)
{
    (void)state;
    assert_linear(say_sums);
}

static void test_selections(void **state)
{
    (void)state;
    assert_linear(say_selections);
}

/* Regions that span one another double the module each time; it is bounded all the same. */
static void test_growth(void **state)
{
    (void)state;
    struct subject s = subject_of(say_selections, 60);
    const uint32_t before = s.words.data[3]; /* ids */
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    info.most_transforms = 12;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_true(out.transforms > 1);
    const uint32_t ids = out.words.data[3], most = 4 * (before > 512 ? before : 512);
    if (ids > most + most / 8) /* a few for checks and OpPhi */
        fail_msg("%u ids of %u, of which %u would do", ids, before, most);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

static void test_limit(void **state)
{
    (void)state;
    struct subject s = subject_of(say_sums, 200);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.take_all = true;
    info.most_work = 1000;
    struct pm_specialized out = subject_specialize(&s, &info);
    assert_int_equal(out.transforms, 0);
    cJSON *root;
    const cJSON *last = subject_report(&out, s.points.count - 1, &root);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(last, "reason")),
                        "the shader is too large for the time it may take");
    assert_true(subject_number(root, "work") < 10000);
    cJSON_Delete(root);
    pm_specialized_finish(&out);

    info.most_work = 0;
    out = subject_specialize(&s, &info);
    assert_int_not_equal(out.transforms, 0);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* ---- what is far away ---- */

enum { FAR = 1000 };

static void say_chain(struct pm_buffer *text)
{
    say(text, "%%x0 = OpFMul %%float %%v1 %%v1\n");
    for (uint32_t i = 1; i < FAR; i++)
        say(text, "%%x%u = OpFMul %%float %%x%u %%v1\n", i, i - 1);
}

/* The candidate is what OpFSub is; it is the factor of the end of a long chain. */
static void check_chain(const char *before, const char *behind)
{
    struct pm_buffer text;
    pm_buffer_init(&text, 1 << 20);
    say(&text, "%%y = OpFAdd %%float %%v0 %%v1\n%s", before);
    say_chain(&text);
    say(&text, "%s%%m = OpFMul %%float %%x%d %%z\n%%result = OpFAdd %%float %%y %%m\n", behind,
        FAR - 1);
    struct subject s = assemble(&text);
    uint32_t candidate = subject_candidate(&s, SpvOpFSub, 0);
    s.zero[candidate] = 1;
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    info.float_zero = PM_FLOAT_ZERO_ALLOW;
    struct pm_specialized out = subject_specialize(&s, &info);
    cJSON *root;
    const cJSON *c = subject_report(&out, candidate, &root);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(c, "reason")), "taken");
    assert_true(subject_number(c, "T_R") >= FAR);
    assert_true(subject_number(c, "T_S") < subject_number(c, "T_R") / 100);
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

static void test_used_far_behind(void **state)
{
    (void)state;
    check_chain("%z = OpFSub %float %v0 %v1\n", "");
}

static void test_dead_far_before(void **state)
{
    (void)state;
    check_chain("", "%z = OpFSub %float %v0 %v1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight_code),   cmocka_unit_test(test_selections),
        cmocka_unit_test(test_growth),          cmocka_unit_test(test_limit),
        cmocka_unit_test(test_used_far_behind), cmocka_unit_test(test_dead_far_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
