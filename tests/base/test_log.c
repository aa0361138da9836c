#include "base/buffer.h"
#include "base/file.h"
#include "base/log.h"
#include "tests/cmocka_includes.h"
#include "tests/kernel_clock.h"
#include "tests/temporary.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[128], path[256];

static int make(void **state)
{
    (void)state;
    temporary_make(folder, sizeof(folder));
    snprintf(path, sizeof(path), "%s/log", folder);
    return 0;
}

static int clean(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

static void assert_file(const char *want)
{
    struct pm_buffer text;
    struct pm_error error;
    pm_buffer_init(&text, 1 << 20);
    assert_true(pm_file_read(path, &text, &error));
    assert_string_equal(text.data ? (char *)text.data : "", want);
    pm_buffer_finish(&text);
}

static void lines_go_to_the_file_by_level(void **state)
{
    (void)state;
    struct pm_log *log = pm_log_create(path, -1, PM_LOG_INFO, NULL);
    errno = 77;
    pm_log_error(log, "one %d", 1);
    pm_log_warning(log, "two\nlines");
    pm_log_info(log, "%s", "three");
    pm_log_debug(log, "not this");
    assert_int_equal(errno, 77);
    pm_log_destroy(log);
    assert_file("piecemeal: error: one 1\npiecemeal: warning: two lines\npiecemeal: info: three\n");
    log = pm_log_create(path, -1, PM_LOG_ERROR, NULL); /* appended to */
    pm_log_error(log, "four");
    pm_log_warning(log, "not this");
    pm_log_destroy(log);
    assert_file("piecemeal: error: one 1\npiecemeal: warning: two lines\npiecemeal: info: three\n"
                "piecemeal: error: four\n");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    pm_log_error(NULL, "dropped");
    pm_log_destroy(NULL);
}

static void a_file_that_cannot_be_opened_is_said(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_log *log = pm_log_create("/nonexistent/log", -1, PM_LOG_INFO, &error);
    assert_non_null(log);
    assert_string_equal(error.message,
                        "/nonexistent/log: cannot open the log file: No such file or directory");
    pm_log_error(log, "goes nowhere");
    pm_log_destroy(log);
}

static void a_descriptor_stays_open(void **state)
{
    (void)state;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    struct pm_log *log = pm_log_create(NULL, fd, PM_LOG_INFO, NULL);
    pm_log_info(log, "x");
    pm_log_destroy(log);
    assert_int_equal(write(fd, "y", 1), 1);
    close(fd);
    assert_file("piecemeal: info: x\ny");
}

/* A reader of our output that hangs must not hang the game; one that is gone must not end it. */
static void a_full_or_closed_pipe_does_not_hold_up(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct pm_log *log = pm_log_create(NULL, ends[1], PM_LOG_INFO, NULL);
    struct timespec start, end;
    char fill[4096] = {0};
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], fill, sizeof(fill)) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0); /* a blocking one, as a standard error is */
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < 10; i++)
        pm_log_info(log, "nobody reads");
    clock_gettime(CLOCK_MONOTONIC, &end);
    /* Ten milliseconds a line, and what a busy machine adds; for ever is what must not be. */
    assert_true(end.tv_sec - start.tv_sec <= 30);
    close(ends[0]);
    pm_log_info(log, "nobody is there");
    pm_log_destroy(log);
    close(ends[1]);
}

struct seen {
    int count;
    enum pm_log_level level;
    char message[3000];
    struct pm_log *log;
};

static void see(void *user, enum pm_log_level level, const char *message)
{
    struct seen *seen = user;
    seen->count++;
    seen->level = level;
    snprintf(seen->message, sizeof(seen->message), "%s", message);
    pm_log_error(seen->log, "from within"); /* forbidden, but it must not hang */
}

static void the_callback_gets_the_message_alone(void **state)
{
    (void)state;
    struct pm_log *log = pm_log_create(NULL, -1, PM_LOG_WARNING, NULL);
    struct seen seen = {.log = log};
    pm_log_warning(log, "before");
    pm_log_set_callback(log, see, &seen);
    pm_log_warning(log, "a\nb %d", 5);
    assert_int_equal(seen.count, 1);
    assert_int_equal(seen.level, PM_LOG_WARNING);
    assert_string_equal(seen.message, "a b 5");
    pm_log_info(log, "too quiet");
    assert_int_equal(seen.count, 1);
    char text[2500];
    memset(text, 'l', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    pm_log_error(log, "%s", text);
    assert_string_equal(seen.message, text);
    pm_log_set_callback(log, NULL, NULL);
    pm_log_error(log, "after");
    assert_int_equal(seen.count, 2);
    pm_log_destroy(log);
}

static void long_lines_are_whole_up_to_a_bound(void **state)
{
    (void)state;
    static char text[100000];
    memset(text, 'x', sizeof(text) - 1);
    for (size_t length = 990; length < 1030; length++) {
        unlink(path);
        struct pm_log *log = pm_log_create(path, -1, PM_LOG_INFO, NULL);
        pm_log_info(log, "%.*s", (int)length, text);
        pm_log_destroy(log);
        struct stat status;
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_size, length + strlen("piecemeal: info: \n"));
    }
    unlink(path);
    struct pm_log *log = pm_log_create(path, -1, PM_LOG_INFO, NULL);
    pm_log_info(log, "%s", text);
    pm_log_destroy(log);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 65536);
}

enum { THREADS = 4, LINES = 400 };

static void count_only(void *user, enum pm_log_level level, const char *message)
{
    (void)level;
    (void)message;
    ++*(int *)user;
}

static void *write_lines(void *user)
{
    for (int i = 0; i < LINES; i++)
        pm_log_info(user, "line %d of thirty-odd characters that must stay together", i);
    return NULL;
}

static void threads_do_not_mix_lines(void **state)
{
    (void)state;
    struct pm_log *log = pm_log_create(path, -1, PM_LOG_INFO, NULL);
    int calls = 0;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, write_lines, log);
    for (int i = 0; i < 50; i++) {
        pm_log_set_callback(log, count_only, &calls);
        pm_log_set_callback(log, NULL, NULL);
    }
    pm_log_set_callback(log, count_only, &calls);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pm_log_destroy(log);
    assert_true(calls <= THREADS * LINES);
    FILE *file = fopen(path, "r");
    char line[256];
    int count = 0, number;
    while (fgets(line, sizeof(line), file)) {
        char rest[64] = "";
        assert_int_equal(sscanf(line, "piecemeal: info: line %d of %63[^\n]", &number, rest), 2);
        assert_string_equal(rest, "thirty-odd characters that must stay together");
        count++;
    }
    fclose(file);
    assert_int_equal(count, THREADS * LINES);
}

static void levels_have_names(void **state)
{
    (void)state;
    enum pm_log_level level = PM_LOG_INFO;
    assert_true(pm_log_level_parse("error", &level));
    assert_int_equal(level, PM_LOG_ERROR);
    assert_true(pm_log_level_parse("debug", &level));
    assert_int_equal(level, PM_LOG_DEBUG);
    assert_false(pm_log_level_parse("Debug", &level));
    assert_false(pm_log_level_parse("", &level));
    assert_int_equal(level, PM_LOG_DEBUG);
}

static void descriptors_as_text(void **state)
{
    (void)state;
    char text[64], other[80];
    assert_false(pm_log_descriptor_format(-1, text, sizeof(text)));
    assert_false(pm_log_descriptor_format(0, text, 3));
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(pm_log_descriptor_format(ends[1], text, sizeof(text)));
    assert_int_equal(pm_log_descriptor_parse(text), ends[1]);
    snprintf(other, sizeof(other), "%s1", text);
    assert_int_equal(pm_log_descriptor_parse(other), -1);
    const char *const not_ours[] = {NULL, "", "2", "2:1", "2:1:1x", "-1:1:1", "x"};
    for (size_t i = 0; i < sizeof(not_ours) / sizeof(not_ours[0]); i++)
        assert_int_equal(pm_log_descriptor_parse(not_ours[i]), -1);
    close(ends[1]);
    assert_int_equal(pm_log_descriptor_parse(text), -1);
    close(ends[0]);
}

/* ---- a server's log ---- */

static atomic_long monotonic_offset; /* seconds */

/* Before the C library's. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
    const int result = kernel_clock(clock, time);
    if (clock == CLOCK_MONOTONIC)
        time->tv_sec += atomic_load(&monotonic_offset);
    return result;
}

static void say(struct pm_log *log, int number)
{
    pm_log_error(log, "number %d", number);
}

static void one_place_has_so_many_lines_a_minute(void **state)
{
    (void)state;
    struct pm_error error;
    struct pm_log *log = pm_log_create(path, -1, PM_LOG_INFO, &error);
    pm_log_set_limit(log, 2);
    for (int i = 0; i < 1000; i++)
        say(log, i);
    pm_log_info(log, "another place");
    atomic_fetch_add(&monotonic_offset, 59);
    say(log, 1000);
    atomic_fetch_add(&monotonic_offset, 2);
    for (int i = 1001; i < 1005; i++)
        say(log, i);
    atomic_fetch_add(&monotonic_offset, 61);
    say(log, 1005);
    pm_log_destroy(log);
    assert_file("piecemeal: error: number 0\npiecemeal: error: number 1\n"
                "piecemeal: info: another place\n"
                "piecemeal: error: (999 lines like this were left out) number 1001\n"
                "piecemeal: error: number 1002\n"
                "piecemeal: error: (2 lines like this were left out) number 1005\n");
}

static void the_journal_gets_levels_as_numbers(void **state)
{
    (void)state;
    struct pm_error error;
    struct stat status;
    char stream[64];
    struct pm_log *log = pm_log_create(path, -1, PM_LOG_DEBUG, &error);
    const int fd = open(path, O_WRONLY | O_APPEND);
    unsetenv("JOURNAL_STREAM");
    assert_int_equal(pm_log_style_of(fd), PM_LOG_TIMED);
    assert_int_equal(fstat(fd, &status), 0);
    snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    setenv("JOURNAL_STREAM", stream, 1);
    assert_int_equal(pm_log_style_of(fd), PM_LOG_JOURNAL);
    assert_int_equal(pm_log_style_of(1), PM_LOG_TIMED);
    unsetenv("JOURNAL_STREAM");
    close(fd);
    pm_log_set_style(log, PM_LOG_JOURNAL);
    pm_log_error(log, "a");
    pm_log_warning(log, "b");
    pm_log_info(log, "c");
    pm_log_debug(log, "d");
    pm_log_destroy(log);
    assert_file("<3>a\n<4>b\n<6>c\n<7>d\n");
}

static void lines_have_their_time(void **state)
{
    (void)state;
    struct pm_error error;
    struct pm_buffer text;
    struct tm parts = {0};
    struct pm_log *log = pm_log_create(path, -1, PM_LOG_INFO, &error);
    pm_log_set_style(log, PM_LOG_TIMED);
    const time_t before = time(NULL);
    pm_log_info(log, "now");
    pm_log_destroy(log);
    pm_buffer_init(&text, 1 << 10);
    assert_true(pm_file_read(path, &text, &error));
    const char *rest = strptime((const char *)text.data, "%Y-%m-%dT%H:%M:%SZ", &parts);
    assert_non_null(rest);
    assert_string_equal(rest, " piecemeal: info: now\n");
    const time_t said = timegm(&parts);
    assert_true(said >= before && said <= time(NULL));
    pm_buffer_finish(&text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(lines_go_to_the_file_by_level),
        TEST(a_file_that_cannot_be_opened_is_said),
        TEST(a_descriptor_stays_open),
        TEST(a_full_or_closed_pipe_does_not_hold_up),
        TEST(the_callback_gets_the_message_alone),
        TEST(long_lines_are_whole_up_to_a_bound),
        TEST(threads_do_not_mix_lines),
        TEST(levels_have_names),
        TEST(one_place_has_so_many_lines_a_minute),
        TEST(the_journal_gets_levels_as_numbers),
        TEST(lines_have_their_time),
        cmocka_unit_test(descriptors_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
