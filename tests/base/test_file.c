#include "base/file.h"
#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char folder[128];

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make(void **state)
{
    (void)state;
    temporary_make(folder, sizeof(folder));
    return 0;
}

static int clean(void **state)
{
    (void)state;
    temporary_remove(folder);
    return 0;
}

static void assert_place(enum pm_place place, const char *name, const char *want)
{
    char *path = pm_place_path(place, name);
    assert_string_equal(path, want);
    free(path);
}

static void places_follow_xdg(void **state)
{
    (void)state;
    setenv("HOME", "/h", 1);
    unsetenv("XDG_CONFIG_HOME");
    setenv("XDG_DATA_HOME", "", 1);
    setenv("XDG_CACHE_HOME", "relative", 1); /* invalid by the specification, so ignored */
    assert_place(PM_PLACE_CONFIG, "a.json", "/h/.config/piecemeal/a.json");
    assert_place(PM_PLACE_DATA, NULL, "/h/.local/share/piecemeal");
    assert_place(PM_PLACE_CACHE, "x/y", "/h/.cache/piecemeal/x/y");
    setenv("XDG_CONFIG_HOME", "/c", 1);
    setenv("XDG_DATA_HOME", "/d", 1);
    setenv("XDG_CACHE_HOME", "/k", 1);
    assert_place(PM_PLACE_CONFIG, NULL, "/c/piecemeal");
    assert_place(PM_PLACE_DATA, "spool", "/d/piecemeal/spool");
    assert_place(PM_PLACE_CACHE, "k", "/k/piecemeal/k");
    unsetenv("HOME");
    unsetenv("XDG_CONFIG_HOME");
    char *path = pm_place_path(PM_PLACE_CONFIG, NULL); /* from the password database */
    assert_non_null(path);
    assert_int_equal(path[0], '/');
    free(path);
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    struct pm_error error;
    struct stat status;
    assert_true(pm_make_folder(in_folder("a/b//c/"), &error));
    assert_true(pm_make_folder(in_folder("a/b/c"), &error));
    assert_int_equal(stat(in_folder("a/b/c"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_true(pm_file_write(in_folder("f"), "x", 1, &error));
    assert_false(pm_make_folder(in_folder("f/g"), &error));
    assert_false(pm_make_folder(in_folder("f"), &error));
    assert_non_null(strstr(error.message, "Not a directory"));
    assert_false(pm_make_folder("", &error));
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_buffer back;
    static char data[100000];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)(i * 7);
    pm_buffer_init(&back, sizeof(data) + 3);
    assert_true(pm_buffer_append_string(&back, "in:"));
    assert_true(pm_file_write(in_folder("f"), "old", 3, &error));
    assert_true(pm_file_write(in_folder("f"), data, sizeof(data), &error));
    assert_true(pm_file_read(in_folder("f"), &back, &error));
    assert_int_equal(back.size, sizeof(data) + 3);
    assert_memory_equal(back.data + 3, data, sizeof(data));
    struct stat status;
    assert_int_equal(stat(in_folder("f"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    pm_buffer_finish(&back);

    pm_buffer_init(&back, sizeof(data) - 1);
    assert_true(pm_buffer_append_string(&back, "kept"));
    assert_false(pm_file_read(in_folder("f"), &back, &error));
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    assert_string_equal((char *)back.data, "kept");
    assert_false(pm_file_read(in_folder("missing"), &back, &error));
    assert_int_equal(error.code, PM_ERROR_IO);
    assert_false(pm_file_read(folder, &back, &error));
    pm_buffer_finish(&back);
}

static int files_in_folder(void)
{
    DIR *directory = opendir(folder);
    int count = -2; /* . and .. */
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* A reader at any moment, and a writer that is killed at any moment: the file is one of the two,
 * whole. */
static void replacing_is_all_or_nothing(void **state)
{
    (void)state;
    static char a[30000], b[70000];
    memset(a, 'a', sizeof(a));
    memset(b, 'b', sizeof(b));
    struct pm_error error;
    assert_true(pm_file_write(in_folder("f"), a, sizeof(a), &error));
    /* Until one is killed in the middle of writing, too. */
    for (int round = 0; round < 20 || (files_in_folder() < 2 && round < 1000); round++) {
        pid_t child = fork();
        if (child == 0) {
            for (;;) {
                if (!pm_file_write(in_folder("f"), b, sizeof(b), NULL) ||
                    !pm_file_write(in_folder("f"), a, sizeof(a), NULL))
                    _exit(1);
            }
        }
        for (int i = 0; i < 30; i++) {
            struct pm_buffer seen;
            pm_buffer_init(&seen, 1 << 20);
            if (i == 29) {
                kill(child, SIGKILL);
                int status;
                waitpid(child, &status, 0);
                assert_true(WIFSIGNALED(status));
            }
            assert_true(pm_file_read(in_folder("f"), &seen, &error));
            bool whole = (seen.size == sizeof(a) && memcmp(seen.data, a, sizeof(a)) == 0) ||
                         (seen.size == sizeof(b) && memcmp(seen.data, b, sizeof(b)) == 0);
            assert_true(whole);
            pm_buffer_finish(&seen);
        }
    }
    /* What the killed ones left is found and removed, and nothing else is. */
    assert_true(pm_file_write(in_folder("a.new-files"), "x", 1, &error));
    pm_file_remove_leftovers(folder, 60);
    assert_true(files_in_folder() > 2);
    pm_file_remove_leftovers(folder, 0);
    assert_int_equal(files_in_folder(), 2);
}

static void a_failed_write_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    struct pm_error error;
    assert_true(pm_file_write(in_folder("f"), "old", 3, &error));
    pid_t child = fork();
    if (child == 0) {
        static char data[10000];
        struct rlimit limit = {5000, 5000};
        setrlimit(RLIMIT_FSIZE, &limit);
        bool written = pm_file_write(in_folder("f"), data, sizeof(data), &error);
        _exit(!written && error.code == PM_ERROR_IO && strstr(error.message, "File too large") ? 0
                                                                                               : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0); /* and no SIGXFSZ */
    struct pm_buffer back;
    pm_buffer_init(&back, 100);
    assert_true(pm_file_read(in_folder("f"), &back, &error));
    assert_string_equal((char *)back.data, "old");
    pm_buffer_finish(&back);
    assert_int_equal(unlink(in_folder("f")), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
    assert_int_equal(mkdir(folder, 0700), 0);
}

static int signals_seen;
static void count_signal(int number)
{
    (void)number;
    signals_seen++;
}

static void writing_raises_no_signal_and_takes_none_away(void **state)
{
    (void)state;
    int ends[2];
    struct sigaction count = {.sa_handler = count_signal}, old;
    sigaction(SIGPIPE, &count, &old);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(pm_write_all(ends[1], "x", 1), EPIPE);
    assert_int_equal(signals_seen, 0);

    /* One of the program's own, which waits blocked, is still there afterwards. */
    sigset_t block, before;
    sigemptyset(&block);
    sigaddset(&block, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &block, &before);
    raise(SIGPIPE);
    assert_int_equal(pm_write_all(ends[1], "x", 1), EPIPE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(signals_seen, 1);
    sigaction(SIGPIPE, &old, NULL);
    close(ends[1]);
}

struct slow_reader {
    int fd;
    size_t got;
    volatile bool stop;
    pthread_t writer;
};

static void *read_slowly(void *user)
{
    struct slow_reader *reader = user;
    char bytes[1000];
    for (ssize_t n; (n = read(reader->fd, bytes, sizeof(bytes))) > 0;) {
        reader->got += (size_t)n;
        pthread_kill(reader->writer, SIGUSR1);
        usleep(200);
    }
    return NULL;
}

static void interrupted_writes_go_on(void **state)
{
    (void)state;
    int ends[2];
    struct sigaction count = {.sa_handler = count_signal}, old; /* without SA_RESTART */
    sigaction(SIGUSR1, &count, &old);
    assert_int_equal(pipe(ends), 0);
    struct slow_reader reader = {.fd = ends[0], .writer = pthread_self()};
    pthread_t thread;
    pthread_create(&thread, NULL, read_slowly, &reader);
    static char data[300000];
    signals_seen = 0;
    assert_int_equal(pm_write_all(ends[1], data, sizeof(data)), 0);
    close(ends[1]);
    pthread_join(thread, NULL);
    assert_int_equal(reader.got, sizeof(data));
    assert_true(signals_seen > 10);
    close(ends[0]);
    sigaction(SIGUSR1, &old, NULL);
}

static void assert_safe(const char *name, const char *want)
{
    char *safe = pm_file_safe_name(name);
    assert_string_equal(safe, want);
    free(safe);
}

static void safe_names_are_safe_and_differ(void **state)
{
    (void)state;
    assert_safe("Game-1.0_x", "Game-1.0_x");
    assert_safe("a/b c%", "a%2Fb%20c%25");
    assert_safe("..", "%2E.");
    assert_safe(".hidden", "%2Ehidden");
    assert_safe("\xC3\xA4", "%C3%A4");
    assert_safe("", "%");
    char a[400], b[400];
    memset(a, 'n', sizeof(a));
    a[399] = '\0';
    memcpy(b, a, sizeof(a));
    b[398] = 'm';
    char *x = pm_file_safe_name(a), *y = pm_file_safe_name(b);
    assert_true(strlen(x) <= 200 && strlen(y) <= 200);
    assert_string_not_equal(x, y);
    free(x);
    free(y);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(places_follow_xdg),
        TEST(folders_are_made_with_their_parents),
        TEST(what_is_written_is_read),
        TEST(replacing_is_all_or_nothing),
        TEST(a_failed_write_leaves_the_old_file_and_nothing_else),
        TEST(writing_raises_no_signal_and_takes_none_away),
        TEST(interrupted_writes_go_on),
        TEST(safe_names_are_safe_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
