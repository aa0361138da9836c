#include "profile/trace_events.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"

#include "base/clock.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends the event and takes its line. */
static void written(const struct pm_trace_event *event, char *line, int size)
{
    char path[] = "/tmp/piecemeal-test-XXXXXX";
    struct pm_error error = {0};
    size_t bytes;
    close(mkstemp(path));
    const int file = pm_trace_events_open(path, &error);
    assert_true(file >= 0);
    assert_true(pm_trace_events_write(file, event, &bytes));
    close(file);
    FILE *in = fopen(path, "r");
    assert_non_null(fgets(line, size, in));
    assert_int_equal(strlen(line), bytes);
    assert_int_equal(fgetc(in), EOF);
    fclose(in);
    unlink(path);
}

static void an_event_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct pm_trace_event event = {.type = PM_TRACE_FRAME,
                                   .device = UINT32_MAX,
                                   .track = "frames",
                                   .name = "17",
                                   .shader = "0123",
                                   .detail = "a tab\t, a line's end\n, and \x7F",
                                   .counts = {1, 0, INT64_MAX, 4}};
    struct pm_trace_event read;
    struct pm_error error = {0};
    char line[1024];
    const int64_t before = pm_now();
    written(&event, line, sizeof line);
    assert_true(pm_trace_events_parse(line, &read, &error));
    assert_int_equal(read.type, PM_TRACE_FRAME);
    assert_int_equal(read.process, getpid());
    assert_true(read.at >= before && read.at <= pm_now());
    assert_int_equal(read.device, UINT32_MAX);
    assert_string_equal(read.track, "frames");
    assert_string_equal(read.name, "17");
    assert_string_equal(read.shader, "0123");
    assert_string_equal(read.detail, "a tab , a line's end , and  ");
    assert_memory_equal(read.counts, event.counts, sizeof event.counts);
}

static void texts_that_are_too_long_are_cut(void **state)
{
    (void)state;
    struct pm_trace_event event = {.type = PM_TRACE_CLOCKS}, read;
    char line[1024];
    memset(event.track, 'x', PM_TRACE_TEXT);
    memset(event.name, 'x', PM_TRACE_TEXT);
    memset(event.shader, 'x', PM_TRACE_TEXT);
    memset(event.detail, 'x', PM_TRACE_TEXT);
    event.counts[0] = event.counts[1] = INT64_MAX;
    written(&event, line, sizeof line);
    assert_true(pm_trace_events_parse(line, &read, NULL));
    assert_int_equal(strlen(read.detail), PM_TRACE_TEXT - 1);
}

static void what_is_no_event_is_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "\n",
        "begin",
        "sometime\t1\t1\t0\t5\t\tname\t\t",
        "begin\t1\t1\t0\t5\t\tname\t",
        "begin\t1\t1\t0\t5\t\tname\t\t\t7",
        "begin\t1\t1\t4294967296\t5\t\tname\t\t",
        "begin\t1\t1\t0\t-5\t\tname\t\t",
        "begin\t1\t1\t0\t9223372036854775808\t\tname\t\t",
        "begin\t1\t1\t0\t5x\t\tname\t\t",
        "frame\t1\t1\t0\t5\tframes\t1\t\t\t1\t2\t3",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct pm_trace_event event;
        struct pm_error error = {0};
        char line[256];
        snprintf(line, sizeof line, "%s", lines[i]);
        if (pm_trace_events_parse(line, &event, &error))
            fail_msg("'%s' was taken for an event", lines[i]);
        assert_int_equal(error.code, PM_ERROR_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_read_as_it_was_written),
        cmocka_unit_test(texts_that_are_too_long_are_cut),
        cmocka_unit_test(what_is_no_event_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
