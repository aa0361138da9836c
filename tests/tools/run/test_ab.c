/* What `piecemeal run --ab` says of what the layer wrote. */
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include "tools/common/gain.h"
#include "tools/run/ab.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char folder[96], path[160];
static FILE *lines;

static int open_lines(void **state)
{
    (void)state;
    temporary_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/ab", folder);
    lines = fopen(path, "w");
    return lines ? 0 : 1;
}

static int remove_lines(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

static void device(int process)
{
    fprintf(lines, "{\"process\":%d,\"device\":\"a device\",\"block\":32,\"dropped\":8}\n",
            process);
}

static void shader(int process, const char *key)
{
    fprintf(lines, "{\"process\":%d,\"shader\":\"%s\"}\n", process, key);
}

static void software(int process, const char *name)
{
    fprintf(lines,
            "{\"process\":%d,\"device\":\"a device\",\"software\":\"%s\",\"block\":32,"
            "\"dropped\":8}\n",
            process, name);
}

static void variant(int process, const char *key, const char *of)
{
    fprintf(lines, "{\"process\":%d,\"shader\":\"%s\",\"variant\":\"%s\"}\n", process, of, key);
}

static void block(int process, unsigned pair, bool optimized, double milliseconds,
                  unsigned recordings, unsigned shaders)
{
    fprintf(lines,
            "{\"process\":%d,\"pair\":%u,\"optimized\":%s,\"frames\":24,\"nanoseconds\":%.0f,"
            "\"recordings\":%u,\"binds\":%u,\"shaders\":%u}\n",
            process, pair, optimized ? "true" : "false", 24e6 * milliseconds, recordings,
            optimized ? recordings : 0, shaders);
}

static void unbound_block(int process, unsigned pair, double milliseconds)
{
    fprintf(lines,
            "{\"process\":%d,\"pair\":%u,\"optimized\":true,\"frames\":24,"
            "\"nanoseconds\":%.0f,\"recordings\":24,\"binds\":0,\"shaders\":1}\n",
            process, pair, 24e6 * milliseconds);
}

/* Either order within a pair. */
static void pair(int process, unsigned number, double original, double optimized)
{
    const bool first = number % 2 != 0;
    block(process, number, first, first ? optimized : original, 24, 1);
    block(process, number, !first, first ? original : optimized, 24, 1);
}

static void end(int process, unsigned heartbeats, unsigned recordings)
{
    fprintf(lines, "{\"process\":%d,\"heartbeats\":%u,\"recordings\":%u}\n", process, heartbeats,
            recordings);
}

static struct pm_ab_report read_report(void)
{
    struct pm_ab_report report;
    struct pm_error error = {0};
    fclose(lines);
    if (!pm_ab_read(path, &report, &error))
        fail_msg("%s", error.message);
    return report;
}

/* What is printed of it, all of which must have the prefix. The caller frees. */
static char *print(struct pm_ab_report *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    pm_ab_print(report, "run: ", out);
    fclose(out);
    assert_true(size > 0 && text[size - 1] == '\n');
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strncmp(line, "run: ", 5) == 0);
    pm_ab_report_finish(report);
    return text;
}

static void assert_says(struct pm_ab_report *report, const char *expected)
{
    char *text = print(report);
    if (!strstr(text, expected))
        fail_msg("said: %s\nwithout: %s", text, expected);
    free(text);
}

static void a_gain(void **state)
{
    (void)state;
    device(7);
    shader(7, "0123456789abcdef");
    /* Frames get slower in the course of it, both sides alike. */
    for (unsigned i = 0; i < 20; i++)
        pair(7, i, 10 + i, (10 + i) * (0.8 + 0.01 * (i % 3)));
    end(7, 1400, 1400);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_MEASURED);
    assert_int_equal(report.pairs, 20);
    assert_int_equal(report.frames, 20 * 48);
    assert_true(fabs(report.time.ratio - 0.81) < 0.002);
    assert_true(report.time.low > 0.80 && report.time.high < 0.82);
    assert_true(report.time.low < report.time.ratio && report.time.ratio < report.time.high);
    char *text = print(&report);
    assert_non_null(strstr(text, "run: 1 specialized shader in use: 0123456789ab\n"));
    assert_non_null(strstr(text, "run: +23."));
    assert_non_null(strstr(text, "960 frames on a device, in 20 pairs of blocks of 32"));
    assert_non_null(strstr(text, "geometric means\n"));
    free(text);
}

/* An interval around no change says so if it is narrow, and that nothing is known yet if it is not.
 */
static void a_gain_that_may_be_none(void **state)
{
    (void)state;
    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        if (wide)
            lines = fopen(path, "w");
        assert_non_null(lines);
        device(7);
        shader(7, "a");
        for (unsigned i = 0; i < 40; i++)
            pair(7, i, 10, 10 * (i % 2 == 0 ? wide ? 3 : 1.02 : wide ? 0.4 : 0.98));
        struct pm_ab_report report = read_report();
        assert_int_equal(report.outcome, PM_AB_MEASURED);
        assert_true(report.time.low < 1 && report.time.high > 1);
        char *text = print(&report);
        const bool none = strstr(text, "means; no measurable change\n") != NULL;
        const bool unknown = strstr(text, "means; too unsure to tell: a longer ") != NULL;
        assert_true(wide ? unknown && !none : none && !unknown);
        free(text);
    }
}

/* What was measured is there for the report. */
static void a_gain_is_kept(void **state)
{
    (void)state;
    static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef";
    struct pm_gain gain;
    struct pm_error error = {0};
    struct pm_arena *arena = pm_arena_create(0);
    device(7);
    shader(7, key);
    shader(7, "no key");
    for (unsigned i = 0; i < 20; i++)
        pair(7, i, 10, 8 + 0.01 * (i % 3));
    struct pm_ab_report report = read_report();
    assert_int_equal(setenv("XDG_DATA_HOME", folder, 1), 0);
    assert_true(pm_ab_keep(&report, "a game", &error));
    assert_true(pm_gain_read("a game", arena, &gain, &error));
    assert_true(gain.ratio == report.time.ratio && gain.low == report.time.low &&
                gain.high == report.time.high);
    assert_true(gain.original == report.original && gain.optimized == report.optimized);
    assert_int_equal(gain.pairs, 20);
    assert_int_equal(gain.block, 32);
    assert_string_equal(gain.device, "a device");
    assert_int_equal(gain.shader_count, 1);
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&gain.shaders[0], text);
    assert_string_equal(text, key);
    pm_ab_report_finish(&report);
    pm_arena_destroy(arena);
}

/* A session with this variant of a shader finds a ratio. */
static struct pm_ab_report a_session(double ratio, const char *key, const char *with)
{
    struct pm_error error = {0};
    lines = fopen(path, "w");
    assert_non_null(lines);
    software(7, with);
    variant(7, key, "2123456789abcdef0123456789abcdef0123456789abcdef");
    for (unsigned i = 0; i < 20; i++)
        pair(7, i, 10, 10 * ratio + 0.001 * (i % 3));
    struct pm_ab_report report = read_report();
    assert_true(pm_ab_keep(&report, "a game", &error));
    return report;
}

/* One process may be faster than the next by more than the pairs of one say. */
static void sessions_are_compared(void **state)
{
    (void)state;
    static const char key[] = "0123456789abcdef0123456789abcdef0123456789abcdef",
                      another[] = "1123456789abcdef0123456789abcdef0123456789abcdef";
    const double ratios[] = {0.8, 1.2, 0.9, 1.1};
    fclose(lines);
    assert_int_equal(setenv("XDG_DATA_HOME", folder, 1), 0);
    for (unsigned i = 0; i < 4; i++) {
        struct pm_ab_report report = a_session(ratios[i], key, "1 1");
        assert_int_equal(report.sessions.count, i + 1);
        assert_true(i == 0 || (report.sessions.low < 0.95 && report.sessions.high > 1.02));
        char *text = print(&report);
        assert_non_null(strstr(text, i == 0   ? "of this session; another one"
                                     : i == 1 ? "over 2 sessions with these shaders"
                                     : i == 2 ? "over 3 sessions with these shaders +"
                                              : "over 4 sessions with these shaders +"));
        free(text);
    }
    /* Of another variant of the shader nothing is known. */
    for (unsigned i = 0; i < PM_GAIN_SESSIONS + 5; i++) {
        struct pm_ab_report report = a_session(0.8, another, "1 1");
        assert_int_equal(report.sessions.count,
                         i + 1 < PM_GAIN_SESSIONS ? i + 1 : PM_GAIN_SESSIONS);
        pm_ab_report_finish(&report);
    }
    /* Nor of what another driver makes of it. */
    struct pm_ab_report report = a_session(0.8, another, "1 2");
    assert_int_equal(report.sessions.count, 1);
    pm_ab_report_finish(&report);
}

/* What is printed fits together, however much slower the program gets in the course of it. */
static void one_estimate(void **state)
{
    (void)state;
    double gain, original, optimized;
    device(7);
    shader(7, "0123456789abcdef");
    for (unsigned i = 0; i < 40; i++)
        pair(7, i, i < 20 ? 10 : 100, i < 20 ? 5 : 95);
    struct pm_ab_report report = read_report();
    char *text = print(&report);
    const char *line = strstr(text, "run: +");
    assert_non_null(line);
    assert_int_equal(
        sscanf(line, "run: %lf %% frames (95 %% interval %*f to %*f %%): %lf ms original, %lf ms",
               &gain, &original, &optimized),
        3);
    assert_true(fabs(100 * (original / optimized - 1) - gain) < 0.02);
    free(text);
}

/* Pairs from before all shaders were in use, of other processes, and halves do not count. */
static void only_whole_pairs(void **state)
{
    (void)state;
    device(7);
    device(8);
    block(7, 0, false, 10, 24, 0);
    block(7, 0, true, 10, 24, 0);
    shader(7, "a");
    block(8, 0, false, 10, 24, 1);
    for (unsigned i = 1; i < 4; i++) {
        pair(7, i, 10, 9);
        block(8, i, true, 500, 24, 1);
    }
    fprintf(lines, "{\"process\":7,\"pair\":4,\"optim\n\nnonsense\n{}\n");
    block(7, 4, true, 1, 24, 1);
    block(7, 5, false, 1, 24, 1);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_MEASURED);
    assert_int_equal(report.pairs, 3);
    assert_true(fabs(report.time.ratio - 0.9) < 1e-9);
    assert_true(fabs(report.original - 10e6) < 1 && fabs(report.optimized - 9e6) < 1);
    pm_ab_report_finish(&report);
}

/* Trials came between its blocks: what was measured of it is in no pair. */
static void a_pair_that_was_given_up(void **state)
{
    (void)state;
    device(7);
    shader(7, "a");
    for (unsigned i = 0; i < 8; i += 2) {
        block(7, i, true, 1, 24, 1);
        block(7, i + 1, false, 10, 24, 1);
        block(7, i + 1, true, 9, 24, 1);
    }
    /* One of a layer that did not count it. */
    block(7, 8, true, 9, 24, 1);
    block(7, 8, false, 10, 24, 1);
    block(7, 8, true, 1, 24, 1);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_MEASURED);
    assert_int_equal(report.pairs, 5);
    assert_true(fabs(report.time.ratio - 0.9) < 1e-9);
    pm_ab_report_finish(&report);
}

/* A process has two devices, of which the second is another's: what is said is of one of them. */
static void two_devices(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        fprintf(
            lines,
            "{\"process\":7,\"number\":%u,\"device\":\"number %u\",\"block\":%u,\"dropped\":8}\n"
            "{\"process\":7,\"number\":%u,\"shader\":\"%u\"}\n",
            i, i, i ? 16u : 32u, i, i);
    for (unsigned i = 0; i < 8; i++) {
        for (unsigned side = 0; side < 2; side++) {
            for (unsigned of = 0; of < (i < 4 ? 2u : 1u); of++)
                fprintf(lines,
                        "{\"process\":7,\"number\":%u,\"pair\":%u,\"optimized\":%s,"
                        "\"frames\":24,\"nanoseconds\":%u,\"recordings\":24,\"binds\":%u,"
                        "\"shaders\":1}\n",
                        of, i, side == of ? "true" : "false",
                        of     ? 24000u
                        : side ? 48000000u
                               : 24000000u,
                        side == of ? 24u : 0u);
        }
    }
    fprintf(lines, "{\"process\":8,\"number\":0,\"device\":\"a launcher's\",\"block\":64,"
                   "\"dropped\":16}\n");
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_MEASURED);
    assert_int_equal(report.pairs, 8);
    assert_true(fabs(report.time.ratio - 0.5) < 1e-9);
    assert_string_equal(report.device, "number 0");
    assert_int_equal(report.block, 32);
    assert_int_equal(report.shader_count, 1);
    assert_string_equal(report.shaders[0], "0");
    pm_ab_report_finish(&report);
}

static void without_the_layer(void **state)
{
    (void)state;
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_NOT_LOADED);
    assert_says(&report, "the layer had nothing to do in the program, or was not in it");
}

static void nothing_specialized(void **state)
{
    (void)state;
    device(7);
    for (unsigned i = 0; i < 4; i++) {
        block(7, i, false, 10, 24, 0);
        block(7, i, true, 10, 24, 0);
    }
    end(7, 256, 256);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_NOTHING);
    assert_says(&report, "no specialized shader came into use on a device");
}

/* What is in use was away, being tried again: both blocks were the game's own, and the program does
 * record. */
static void nothing_was_bound(void **state)
{
    (void)state;
    device(7);
    shader(7, "a");
    for (unsigned i = 0; i < 4; i++) {
        block(7, i, false, 10, 24, 1);
        unbound_block(7, i, 10);
    }
    end(7, 256, 256);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_UNBOUND);
    assert_says(&report, "in 4 pairs of blocks no specialized shader was bound");
}

/* Pairs in which it was bound count, and they alone. */
static void sometimes_bound(void **state)
{
    (void)state;
    device(7);
    shader(7, "a");
    for (unsigned i = 0; i < 4; i++) {
        block(7, i, false, 10, 24, 1);
        unbound_block(7, i, 10);
    }
    for (unsigned i = 4; i < 8; i++)
        pair(7, i, 10, 5);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_MEASURED);
    assert_int_equal(report.pairs, 4);
    assert_float_equal(report.time.ratio, 0.5, 1e-9);
    assert_says(&report, "+100.00 % frames");
}

static void recorded_once(void **state)
{
    (void)state;
    device(7);
    shader(7, "a");
    for (unsigned i = 0; i < 4; i++) {
        block(7, i, false, 10, 0, 1);
        block(7, i, true, 10, 0, 1);
    }
    end(7, 256, 3);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_RECORDED_ONCE);
    assert_says(&report, "records its command buffers once");
}

/* Before anything was proven: its one recording could not be tried either. */
static void recorded_once_and_untried(void **state)
{
    (void)state;
    device(7);
    end(7, 256, 3);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_RECORDED_ONCE);
    assert_says(&report, "records its command buffers once");
}

static void too_short(void **state)
{
    (void)state;
    device(7);
    shader(7, "a");
    pair(7, 0, 10, 9);
    end(7, 70, 70);
    struct pm_ab_report report = read_report();
    assert_int_equal(report.outcome, PM_AB_TOO_SHORT);
    assert_says(&report, "ended before two pairs");
}

static void no_file(void **state)
{
    (void)state;
    struct pm_ab_report report;
    struct pm_error error = {0};
    fclose(lines);
    assert_false(pm_ab_read("/nonexistent/ab", &report, &error));
    assert_int_not_equal(error.code, PM_OK);
}

#define AB_TEST(name) cmocka_unit_test_setup_teardown(name, open_lines, remove_lines)

int main(void)
{
    const struct CMUnitTest tests[] = {
        AB_TEST(a_gain),
        AB_TEST(a_gain_is_kept),
        AB_TEST(sessions_are_compared),
        AB_TEST(one_estimate),
        AB_TEST(only_whole_pairs),
        AB_TEST(a_pair_that_was_given_up),
        AB_TEST(two_devices),
        AB_TEST(without_the_layer),
        AB_TEST(nothing_specialized),
        AB_TEST(a_gain_that_may_be_none),
        AB_TEST(nothing_was_bound),
        AB_TEST(sometimes_bound),
        AB_TEST(recorded_once),
        AB_TEST(recorded_once_and_untried),
        AB_TEST(too_short),
        AB_TEST(no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
