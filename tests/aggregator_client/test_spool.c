#include "aggregator_client/disk/spool.h"
#include "aggregator_client/disk/spool_format.h"
#include "base/file.h"
#include "tests/cmocka_includes.h"
#include "tests/full_disk.h"
#include "tests/profile/random_profile.h"
#include "tests/temporary.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ROOM ((uint64_t)64 << 20)

static int make_folder(void **state)
{
    char *folder = malloc(128);
    temporary_make(folder, 128);
    *state = folder;
    return 0;
}

static int remove_folder(void **state)
{
    temporary_remove(*state);
    free(*state);
    return 0;
}

/* The index-th checkpoint of a session that began with seed. */
static struct pm_profile checkpoint(uint64_t seed, uint64_t index, struct pm_arena *arena)
{
    struct pm_random random;
    pm_random_init(&random, seed * 1000003 + index);
    return pm_random_profile(&random, arena, 1 + (uint32_t)index % 7, 12);
}

static bool append(struct pm_spool_writer *writer, uint64_t seed, uint64_t index,
                   struct pm_error *error)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile profile = checkpoint(seed, index, arena);
    bool appended = pm_spool_append(writer, &profile, error);
    pm_arena_destroy(arena);
    return appended;
}

/* Counts records, each of which must be the next of the session. */
struct expected {
    uint64_t seed, next;
};

static bool expect_next(void *user, const struct pm_profile *profile, struct pm_error *error)
{
    struct expected *expected = user;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile want = checkpoint(expected->seed, expected->next, arena);
    bool same = pm_same_profile(profile, &want);
    pm_arena_destroy(arena);
    if (!same)
        return pm_fail(error, PM_ERROR_STATE, "record %d differs", (int)expected->next);
    expected->next++;
    return true;
}

static char *only_session(const char *folder, bool live)
{
    struct pm_spool_session *sessions;
    size_t count;
    struct pm_error error = {0};
    if (!pm_spool_list(folder, &sessions, &count, &error))
        fail_msg("%s", error.message);
    assert_int_equal(count, 1);
    assert_int_equal(sessions[0].live, live);
    char *path = strdup(sessions[0].path);
    pm_spool_list_free(sessions, count);
    return path;
}

static void what_is_appended_is_read(void **state)
{
    struct pm_error error = {0};
    struct pm_spool_writer *writer = pm_spool_writer_create(*state, ROOM, &error);
    struct pm_spool_session *sessions;
    size_t count;
    assert_true(pm_spool_list(*state, &sessions, &count, &error));
    assert_int_equal(count, 0); /* no file before the first append */
    pm_spool_list_free(sessions, count);
    for (uint64_t i = 0; i < 20; i++) {
        if (!append(writer, 1, i, &error))
            fail_msg("%s", error.message);
        /* Readable at once, while the writer lives. */
        char *path = only_session(*state, true);
        struct expected expected = {.seed = 1};
        uint64_t damaged_at;
        if (!pm_spool_read(path, expect_next, &expected, &damaged_at, &error))
            fail_msg("%s", error.message);
        assert_true(damaged_at == UINT64_MAX);
        assert_int_equal(expected.next, i + 1);
        free(path);
    }
    char *path = only_session(*state, true);
    assert_false(pm_spool_remove_ended(path));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    pm_spool_writer_destroy(writer);
    free(path);
    path = only_session(*state, false);
    assert_int_equal(strlen(strrchr(path, '/') + 1), PM_SPOOL_NAME + strlen(PM_SPOOL_SUFFIX));
    assert_true(pm_spool_remove_ended(path));
    free(path);
}

static void an_invalid_checkpoint_is_refused_and_leaves_no_trace(void **state)
{
    struct pm_error error = {0};
    struct pm_spool_writer *writer = pm_spool_writer_create(*state, ROOM, &error);
    assert_true(append(writer, 1, 0, &error));
    struct pm_profile bad = {.game = "", .scene = "", .layer_version = ""};
    assert_false(pm_spool_append(writer, &bad, &error));
    assert_string_equal(error.message, "profile: field game is empty");
    assert_true(append(writer, 1, 1, &error));
    pm_spool_writer_destroy(writer);
    char *path = only_session(*state, false);
    struct expected expected = {.seed = 1};
    uint64_t damaged_at;
    assert_true(pm_spool_read(path, expect_next, &expected, &damaged_at, &error));
    assert_int_equal(expected.next, 2);
    free(path);
}

/* A spool file in memory, with the offset at which each record ends. */
static void build(const char *folder, struct pm_buffer *file, size_t ends[], size_t records)
{
    struct pm_error error = {0};
    struct pm_spool_writer *writer = pm_spool_writer_create(folder, ROOM, &error);
    for (size_t i = 0; i < records; i++) {
        struct stat status;
        assert_true(append(writer, 3, i, &error));
        char *path = only_session(folder, true);
        assert_int_equal(stat(path, &status), 0);
        ends[i] = (size_t)status.st_size;
        free(path);
    }
    pm_spool_writer_destroy(writer);
    char *path = only_session(folder, false);
    assert_true(pm_file_read(path, file, &error));
    free(path);
}

static void every_cut_keeps_every_whole_record(void **state)
{
    enum { RECORDS = 6 };
    struct pm_buffer file;
    size_t ends[RECORDS];
    pm_buffer_init(&file, 1 << 20);
    build(*state, &file, ends, RECORDS);
    for (size_t cut = 0; cut <= file.size; cut++) {
        struct expected expected = {.seed = 3};
        struct pm_error error = {0};
        uint64_t damaged_at;
        /* Exactly as many bytes as there are, so that the sanitizer sees a read beyond. */
        unsigned char *copy = malloc(cut ? cut : 1);
        memcpy(copy, file.data, cut);
        bool read = pm_spool_parse(copy, cut, expect_next, &expected, &damaged_at, &error);
        free(copy);
        assert_int_equal(read, cut >= PM_SPOOL_HEADER);
        size_t whole = 0, start = PM_SPOOL_HEADER;
        while (whole < RECORDS && ends[whole] <= cut)
            start = ends[whole++];
        assert_int_equal(expected.next, whole);
        if (!read || start == cut)
            assert_true(damaged_at == UINT64_MAX);
        else
            assert_int_equal(damaged_at, start);
        if (!read || start != cut)
            assert_true(error.message[0] != '\0');
    }
    pm_buffer_finish(&file);
}

static void every_flipped_bit_is_noticed(void **state)
{
    enum { RECORDS = 3 };
    struct pm_buffer file;
    size_t ends[RECORDS];
    pm_buffer_init(&file, 1 << 20);
    build(*state, &file, ends, RECORDS);
    for (size_t bit = 0; bit < file.size * 8; bit++) {
        struct expected expected = {.seed = 3};
        struct pm_error error = {0};
        uint64_t damaged_at;
        file.data[bit / 8] = (unsigned char)(file.data[bit / 8] ^ 1u << (bit % 8));
        bool read =
            pm_spool_parse(file.data, file.size, expect_next, &expected, &damaged_at, &error);
        file.data[bit / 8] = (unsigned char)(file.data[bit / 8] ^ 1u << (bit % 8));
        if (bit / 8 < PM_SPOOL_HEADER) {
            assert_false(read);
            continue;
        }
        size_t record = 0;
        while (ends[record] <= bit / 8)
            record++;
        assert_true(read);
        assert_int_equal(expected.next, record);
        assert_int_equal(damaged_at, record ? ends[record - 1] : PM_SPOOL_HEADER);
    }
    pm_buffer_finish(&file);
}

static bool stop_at_second(void *user, const struct pm_profile *profile, struct pm_error *error)
{
    (void)profile;
    return ++*(int *)user < 2 || pm_fail(error, PM_ERROR_STATE, "enough");
}

static void a_visitor_can_stop(void **state)
{
    struct pm_buffer file;
    size_t ends[3];
    int seen = 0;
    struct pm_error error;
    uint64_t damaged_at;
    pm_buffer_init(&file, 1 << 20);
    build(*state, &file, ends, 3);
    assert_false(pm_spool_parse(file.data, file.size, stop_at_second, &seen, &damaged_at, &error));
    assert_string_equal(error.message, "enough");
    assert_int_equal(seen, 2);
    assert_true(damaged_at == UINT64_MAX);
    pm_buffer_finish(&file);
}

/* Whatever moment a writer is killed at, what it was told is on disk can be read. */
static void killed_writers_lose_nothing_acknowledged(void **state)
{
    struct pm_random random;
    pm_random_init(&random, 99);
    uint64_t most = 0;
    for (uint64_t round = 0; round < 60; round++) {
        int acknowledged[2];
        assert_int_equal(pipe(acknowledged), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct pm_error error;
            struct pm_spool_writer *writer = pm_spool_writer_create(*state, ROOM, &error);
            for (uint64_t i = 0;; i++) {
                if (!append(writer, round, i, &error))
                    _exit(1);
                if (write(acknowledged[1], "x", 1) != 1)
                    _exit(2);
            }
        }
        close(acknowledged[1]);
        /* Some are killed while they create their file, most while they append. */
        uint64_t told = 0;
        char bytes[4096];
        for (uint32_t some = round % 4 == 0 ? 0 : pm_random_below(&random, 20); told < some; told++)
            assert_int_equal(read(acknowledged[0], bytes, 1), 1);
        usleep(pm_random_below(&random, 2000));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        for (ssize_t n; (n = read(acknowledged[0], bytes, sizeof(bytes))) > 0;)
            told += (uint64_t)n;
        close(acknowledged[0]);

        struct pm_spool_session *sessions;
        size_t count;
        struct pm_error error = {0};
        assert_true(pm_spool_list(*state, &sessions, &count, &error));
        assert_true(count == 1 || (count == 0 && told == 0));
        if (count == 1) {
            struct expected expected = {.seed = round};
            uint64_t damaged_at;
            assert_false(sessions[0].live);
            if (!pm_spool_read(sessions[0].path, expect_next, &expected, &damaged_at, &error))
                fail_msg("%s", error.message);
            assert_true(expected.next == told || expected.next == told + 1);
            assert_true(pm_spool_remove_ended(sessions[0].path));
            most = expected.next > most ? expected.next : most;
        }
        pm_spool_list_free(sessions, count);
    }
    assert_true(most > 5);
}

static void the_oldest_ended_sessions_make_room(void **state)
{
    enum { SESSIONS = 8 };
    struct pm_error error = {0};
    char *paths[SESSIONS];
    for (uint64_t s = 0; s < SESSIONS; s++) {
        struct pm_spool_writer *writer = pm_spool_writer_create(*state, ROOM, &error);
        for (uint64_t i = 0; i < 4; i++)
            assert_true(append(writer, 5, i, &error));
        char *path = only_session(*state, true);
        char *aside = NULL;
        assert_true(asprintf(&aside, "%s.kept", path) > 0);
        rename(path, aside); /* out of the list, so that the next one is the only one again */
        pm_spool_writer_destroy(writer);
        paths[s] = path;
        struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000 + (time_t)s}};
        assert_int_equal(utimensat(AT_FDCWD, aside, times, 0), 0);
        free(aside);
    }
    uint64_t each = 0;
    for (int s = 0; s < SESSIONS; s++) {
        char *aside = NULL;
        assert_true(asprintf(&aside, "%s.kept", paths[s]) > 0);
        rename(aside, paths[s]);
        free(aside);
        struct stat status;
        assert_int_equal(stat(paths[s], &status), 0);
        each = (uint64_t)status.st_size;
    }
    /* Beside the oldest lies what would be sent of it: it must go along. */
    char *upload = pm_spool_upload_path(paths[0], 0);
    assert_true(pm_file_write(upload, "body", 4, &error));

    struct pm_spool_writer *writer = pm_spool_writer_create(*state, each * SESSIONS + 4, &error);
    assert_true(append(writer, 6, 0, &error));
    assert_true(access(paths[0], F_OK) != 0);
    assert_true(access(upload, F_OK) != 0);
    for (int s = 1; s < SESSIONS; s++)
        assert_int_equal(access(paths[s], F_OK), 0);
    uint64_t i = 1;
    while (append(writer, 6, i, &error)) {
        assert_true(pm_spool_folder_bytes(*state) <= each * SESSIONS + 4);
        assert_true(++i < 10000);
    }
    /* It fails only once nothing is left but its own file. */
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    for (int s = 0; s < SESSIONS; s++) {
        assert_true(access(paths[s], F_OK) != 0);
        free(paths[s]);
    }
    pm_spool_writer_destroy(writer);
    char *path = only_session(*state, false);
    struct expected expected = {.seed = 6};
    uint64_t damaged_at;
    assert_true(pm_spool_read(path, expect_next, &expected, &damaged_at, &error));
    assert_true(damaged_at == UINT64_MAX);
    assert_int_equal(expected.next, i);
    free(path);
    free(upload);
}

static uint64_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static char *put(const char *folder, const char *name, size_t size, time_t age)
{
    static const char zeros[4096];
    struct pm_error error;
    char *path = NULL;
    const struct timespec times[2] = {{.tv_sec = age}, {.tv_sec = age}};
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    assert_true(pm_file_write(path, zeros, size, &error));
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    return path;
}

/* What was refused goes one by one, the oldest first; and nothing goes for what would not fit
 * then. */
static void no_more_goes_than_it_takes(void **state)
{
    struct pm_error error = {0};
    char folder[160];
    snprintf(folder, sizeof folder, "%s/refused", (char *)*state);
    assert_true(pm_make_folder(folder, &error));
    char *old = put(folder, "old.upload", 4000, 1), *young = put(folder, "young.upload", 4000, 2);
    char *reason = put(folder, "old.reason", 10, 3), *rules = put(folder, "old.rules", 10, 3);
    struct pm_spool_writer *ended = pm_spool_writer_create(*state, ROOM, &error);
    assert_true(append(ended, 1, 0, &error));
    char *session = only_session(*state, true);
    pm_spool_writer_destroy(ended);
    struct pm_spool_writer *live = pm_spool_writer_create(*state, ROOM, &error);
    for (uint64_t i = 0; i < 8; i++)
        assert_true(append(live, 2, i, &error));
    const uint64_t used = pm_spool_folder_bytes(*state);
    const uint64_t removable = 8020 + size_of(session);

    /* Beside the live one there is no room for a record: it would all go in vain. */
    struct pm_spool_writer *writer = pm_spool_writer_create(*state, used - removable + 20, &error);
    assert_false(append(writer, 3, 0, &error));
    assert_int_equal(error.code, PM_ERROR_LIMIT);
    assert_int_equal(pm_spool_folder_bytes(*state), used);
    pm_spool_writer_destroy(writer);

    /* One upload, with what lies beside it, is enough. */
    writer = pm_spool_writer_create(*state, used, &error);
    assert_true(append(writer, 3, 0, &error));
    pm_spool_writer_destroy(writer);
    assert_int_not_equal(access(old, F_OK), 0);
    assert_int_not_equal(access(reason, F_OK), 0);
    assert_int_not_equal(access(rules, F_OK), 0);
    assert_int_equal(access(young, F_OK), 0);
    assert_int_equal(access(session, F_OK), 0);
    pm_spool_writer_destroy(live);
    free(old);
    free(young);
    free(reason);
    free(rules);
    free(session);
}

static void a_file_size_limit_is_an_error_and_no_signal(void **state)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct pm_error error = {0};
        struct pm_spool_writer *writer = pm_spool_writer_create(*state, ROOM, &error);
        uint64_t i = 0;
        while (i < 3 && append(writer, 8, i, &error))
            i++;
        struct rlimit limit = {4096, 4096};
        setrlimit(RLIMIT_FSIZE, &limit);
        while (append(writer, 8, i, &error))
            i++;
        if (error.code != PM_ERROR_IO || !strstr(error.message, "File too large"))
            _exit(100);
        pm_spool_writer_destroy(writer);
        _exit((int)i);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status))
        fail_msg("killed by signal %d", WTERMSIG(status));
    assert_in_range(WEXITSTATUS(status), 3, 99);
    char *path = only_session(*state, false);
    struct expected expected = {.seed = 8};
    uint64_t damaged_at;
    struct pm_error error;
    assert_true(pm_spool_read(path, expect_next, &expected, &damaged_at, &error));
    assert_true(damaged_at == UINT64_MAX);
    assert_int_equal(expected.next, WEXITSTATUS(status));
    free(path);
}

/* A disk that fills and empties again: the session goes on behind the last whole record. */
static void a_full_disk_is_survived(void **state)
{
    if (!full_disk_namespace() || !full_disk_mount(*state, 128)) {
        print_message("cannot mount a tmpfs here (%s)\n", strerror(errno));
        skip();
    }
    struct pm_error error = {0};
    char *filler = NULL;
    assert_true(asprintf(&filler, "%s/filler", (char *)*state) > 0);
    assert_true(full_disk_fill(filler, 32 << 10));
    struct pm_spool_writer *writer = pm_spool_writer_create(*state, ROOM, &error);
    uint64_t i = 0;
    while (append(writer, 9, i, &error))
        assert_true(++i < 10000);
    assert_int_equal(error.code, PM_ERROR_IO);
    assert_non_null(strstr(error.message, "No space left"));
    assert_true(i > 0);
    unlink(filler);
    for (int more = 0; more < 5; more++)
        assert_true(append(writer, 9, i++, &error));
    pm_spool_writer_destroy(writer);
    char *path = only_session(*state, false);
    struct expected expected = {.seed = 9};
    uint64_t damaged_at;
    assert_true(pm_spool_read(path, expect_next, &expected, &damaged_at, &error));
    assert_true(damaged_at == UINT64_MAX);
    assert_int_equal(expected.next, i);
    free(path);
    free(filler);
    umount2(*state, MNT_DETACH);
}

static void a_forked_child_leaves_the_session_alone(void **state)
{
    struct pm_error error = {0};
    struct pm_spool_writer *writer = pm_spool_writer_create(*state, ROOM, &error);
    assert_true(append(writer, 2, 0, &error));
    pid_t child = fork();
    if (child == 0) {
        pm_spool_writer_abandon(writer);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    free(only_session(*state, true)); /* still held by us */
    assert_true(append(writer, 2, 1, &error));
    pm_spool_writer_destroy(writer);
    char *path = only_session(*state, false);
    struct expected expected = {.seed = 2};
    uint64_t damaged_at;
    assert_true(pm_spool_read(path, expect_next, &expected, &damaged_at, &error));
    assert_int_equal(expected.next, 2);
    free(path);
}

static void an_unusable_folder_is_said_clearly(void **state)
{
    struct pm_error error = {0};
    char *path = NULL;
    assert_true(asprintf(&path, "%s/file", (char *)*state) > 0);
    assert_true(pm_file_write(path, "x", 1, &error));
    assert_null(pm_spool_writer_create(path, ROOM, &error));
    assert_non_null(strstr(error.message, "Not a directory"));
    struct pm_spool_session *sessions;
    size_t count;
    assert_false(pm_spool_list(path, &sessions, &count, &error));
    uint64_t damaged_at;
    assert_false(pm_spool_read(path, expect_next, NULL, &damaged_at, &error));
    assert_non_null(strstr(error.message, "this is no spool file"));
    free(path);
    pm_spool_writer_destroy(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(what_is_appended_is_read),
        TEST(an_invalid_checkpoint_is_refused_and_leaves_no_trace),
        TEST(every_cut_keeps_every_whole_record),
        TEST(every_flipped_bit_is_noticed),
        TEST(a_visitor_can_stop),
        TEST(killed_writers_lose_nothing_acknowledged),
        TEST(the_oldest_ended_sessions_make_room),
        TEST(no_more_goes_than_it_takes),
        TEST(a_file_size_limit_is_an_error_and_no_signal),
        TEST(a_forked_child_leaves_the_session_alone),
        TEST(an_unusable_folder_is_said_clearly),
        TEST(
            a_full_disk_is_survived), /* the last: a user may be root of a namespace from then on */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
