/* A thread that is asked to stop (base/stop.h) while points are put into a large shader puts in no
 * more of them. */
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/spirv_text.h"

#include "base/stop.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { SELECTIONS = 600, TIMES = 48, LEAST_TIMES_AS_LONG = 2 };

static const char head[] =
    "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
    "OpEntryPoint Fragment %main \"main\" %in %out\nOpExecutionMode %main OriginUpperLeft\n"
    "OpDecorate %in Location 0\nOpDecorate %out Location 0\n"
    "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%float = OpTypeFloat 32\n"
    "%bool = OpTypeBool\n%pi = OpTypePointer Input %float\n%po = OpTypePointer Output %float\n"
    "%in = OpVariable %pi Input\n%out = OpVariable %po Output\n%half = OpConstant %float 0.5\n"
    "%main = OpFunction %void None %fn\n%first = OpLabel\n%x0 = OpLoad %float %in\n"
    "OpBranch %l0\n%l0 = OpLabel\n";

/* Each value is written in a block of its own, so that both kinds of points are many. */
static struct pm_words selections(void)
{
    enum { ROOM = 400 };
    char *text = malloc(sizeof head + (SELECTIONS + 1) * ROOM), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", head);
    for (int i = 0; i < SELECTIONS; i++)
        at += sprintf(at,
                      "%%c%d = OpFOrdGreaterThan %%bool %%x%d %%half\nOpSelectionMerge %%l%d None\n"
                      "OpBranchConditional %%c%d %%b%d %%l%d\n%%b%d = OpLabel\n"
                      "%%y%d = OpFMul %%float %%x%d %%half\nOpBranch %%l%d\n%%l%d = OpLabel\n"
                      "%%x%d = OpPhi %%float %%x%d %%l%d %%y%d %%b%d\n",
                      i, i, i + 1, i, i, i + 1, i, i, i, i + 1, i + 1, i + 1, i, i, i, i);
    sprintf(at, "OpStore %%out %%x%d\nOpReturn\nOpFunctionEnd\n", SELECTIONS);
    struct pm_words words = pm_test_assemble(text, 3);
    free(text);
    return words;
}

typedef bool (*instrumenter)(const uint32_t *words, size_t count,
                             const struct pm_instrument_info *info, struct pm_instrumented *out,
                             struct pm_error *error);

/* Nanoseconds of the pass alone: what comes behind it is SPIRV-Tools' validator, which stops
 * nowhere. */
static uint64_t time_pass(instrumenter instrument, const struct pm_words *words, uint32_t points,
                          bool stops)
{
    uint32_t *chosen = malloc(points * sizeof *chosen);
    assert_non_null(chosen);
    for (uint32_t i = 0; i < points; i++)
        chosen[i] = i;
    struct pm_pass_times times = {.count = 0};
    struct pm_instrumented out = {.counts_occluded = false};
    struct pm_error error = {0};
    const struct pm_instrument_info info = {.points = chosen,
                                            .point_count = points,
                                            .slot_count = 16,
                                            .all_candidates = true,
                                            .times = &times};
    /* What it says first of a fragment shader that counts occluded ones is what asks it to stop, so
     * that it is neither before nor behind the pass. */
    if (stops)
        pm_stop_watch((const _Atomic bool *)&out.counts_occluded);
    const bool ok = instrument(words->data, words->count, &info, &out, &error);
    pm_stop_watch(NULL);
    assert_int_equal(ok, !stops);
    if (stops)
        assert_int_equal(error.code, PM_ERROR_STOPPED);
    uint64_t took = 0;
    for (uint32_t i = 0; i < times.count; i++)
        if (strncmp(times.rows[i].name, "instrument_", 11) == 0)
            took += times.rows[i].nanoseconds;
    assert_true(took > 0);
    pm_instrumented_finish(&out);
    free(chosen);
    return took;
}

/* The least of some, as the machine may be busy. */
static void stops_within(instrumenter instrument, const char *name, uint32_t points)
{
    struct pm_words words = selections();
    uint64_t whole = UINT64_MAX, cut = UINT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        const bool stops = i % 8 != 0; /* the others take as long as the validator does */
        const uint64_t took = time_pass(instrument, &words, points, stops);
        uint64_t *least = stops ? &cut : &whole;
        *least = took < *least ? took : *least;
    }
    print_message("%s: %.2f ms, cut short %.2f ms\n", name, (double)whole / 1e6, (double)cut / 1e6);
    assert_true(cut * LEAST_TIMES_AS_LONG < whole);
    pm_words_finish(&words);
}

static void test_blocks(void **state)
{
    (void)state;
    stops_within(pm_instrument_blocks, "blocks", 2 * SELECTIONS);
}

static void test_zeros(void **state)
{
    (void)state;
    stops_within(pm_instrument_zero, "zeros", SELECTIONS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
