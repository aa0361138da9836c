#include "base/log.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SHORT_LINE = 1024,      /* bytes; longer lines are built on the heap */
    LONGEST_LINE = 1 << 16, /* bytes; what is longer is cut */
    PLACES = 64,            /* formats that are told apart; a power of two */
    MINUTE = 60,            /* seconds */
    PATIENCE = 10,          /* milliseconds that a full pipe may hold up a thread of the game */
};

/* The lines from one place in the program within a minute. */
struct place {
    int64_t since; /* seconds, monotonic */
    unsigned lines, left_out;
};

struct pm_log {
    int fd; /* -1: none */
    bool owned;
    struct stat file; /* that fd was when the log was made */
    enum pm_log_level level;
    pthread_mutex_t
        callback_lock; /* held while the callback runs, so that unsetting it waits for it */
    pm_log_callback callback;
    void *callback_user;
    atomic_bool has_callback;
    enum pm_log_style style;
    unsigned limit;              /* lines a minute from one place; 0: all */
    pthread_mutex_t places_lock; /* of what follows */
    struct place places[PLACES];
};

static const char *const level_names[] = {"error", "warning", "info", "debug"};

struct pm_log *pm_log_create(const char *path, int fd, enum pm_log_level level,
                             struct pm_error *error)
{
    struct pm_log *log = calloc(1, sizeof(*log));
    if (!log) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for the log");
        return NULL;
    }
    log->fd = fd;
    log->level = level;
    /* Error-checking, so that a callback that logs after all loses its message and not its thread.
     */
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&log->callback_lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_mutex_init(&log->places_lock, NULL);
    if (path) {
        /* O_NONBLOCK: a FIFO without a reader must not hang a game. */
        const int file =
            open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
        log->owned = file >= 0;
        if (file >= 0)
            log->fd = file;
        else
            pm_fail_errno(error, errno, "%s: cannot open the log file", path);
    }
    if (log->fd >= 0 && fstat(log->fd, &log->file) != 0)
        log->fd = -1;
    return log;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool pm_log_descriptor_format(int fd, char *text, size_t size)
{
    struct stat file;
    if (fstat(fd, &file) != 0)
        return false;
    int length =
        snprintf(text, size, "%d:%ju:%ju", fd, (uintmax_t)file.st_dev, (uintmax_t)file.st_ino);
    return length > 0 && (size_t)length < size;
}

int pm_log_descriptor_parse(const char *text)
{
    int fd, end = 0;
    uintmax_t device, inode;
    struct stat file;
    if (!text || sscanf(text, "%d:%ju:%ju%n", &fd, &device, &inode, &end) != 3 || text[end])
        return -1;
    return fd >= 0 && fstat(fd, &file) == 0 && file.st_dev == device && file.st_ino == inode ? fd
                                                                                             : -1;
}

void pm_log_destroy(struct pm_log *log)
{
    if (!log)
        return;
    struct stat now;
    if (log->owned && fstat(log->fd, &now) == 0 && is_same_file(&now, &log->file))
        close(log->fd);
    pthread_mutex_destroy(&log->callback_lock);
    pthread_mutex_destroy(&log->places_lock);
    free(log);
}

void pm_log_set_callback(struct pm_log *log, pm_log_callback callback, void *user)
{
    if (!log || pthread_mutex_lock(&log->callback_lock) != 0)
        return;
    log->callback = callback;
    log->callback_user = user;
    atomic_store(&log->has_callback, callback != NULL);
    pthread_mutex_unlock(&log->callback_lock);
}

void pm_log_set_style(struct pm_log *log, enum pm_log_style style)
{
    if (log)
        log->style = style;
}

enum pm_log_style pm_log_style_of(int fd)
{
    const char *stream = secure_getenv("JOURNAL_STREAM");
    uintmax_t device, inode;
    struct stat file;
    return stream && sscanf(stream, "%ju:%ju", &device, &inode) == 2 && fstat(fd, &file) == 0 &&
                   file.st_dev == device && file.st_ino == inode
               ? PM_LOG_JOURNAL
               : PM_LOG_TIMED;
}

void pm_log_set_limit(struct pm_log *log, unsigned lines)
{
    if (log)
        log->limit = lines;
}

bool pm_log_level_parse(const char *name, enum pm_log_level *level)
{
    for (int i = PM_LOG_ERROR; i <= PM_LOG_DEBUG; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *level = (enum pm_log_level)i;
            return true;
        }
    }
    return false;
}

static void deliver(struct pm_log *log, enum pm_log_level level, char *line, size_t prefix,
                    size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    }
    if (log->fd >= 0) {
        struct stat now;
        struct pollfd ready = {.fd = log->fd, .events = POLLOUT};
        if (fstat(log->fd, &now) == 0 && is_same_file(&now, &log->file) &&
            poll(&ready, 1, PATIENCE) == 1 && (ready.revents & POLLOUT)) {
            line[length] = '\n';
            (void)pm_write_all(log->fd, line, length + 1);
        }
    }
    if (!atomic_load_explicit(&log->has_callback, memory_order_relaxed))
        return;
    line[length] = '\0';
    if (pthread_mutex_lock(&log->callback_lock) != 0)
        return;
    if (log->callback)
        log->callback(log->callback_user, level, line + prefix);
    pthread_mutex_unlock(&log->callback_lock);
}

/* *left_out: how many lines of this place were left out before this one. Places that fall together
 * share their lines, which errs on the side of fewer. */
static bool may_say(struct pm_log *log, const char *format, unsigned *left_out)
{
    struct timespec now;
    *left_out = 0;
    if (log->limit == 0)
        return true;
    clock_gettime(CLOCK_MONOTONIC, &now);
    struct place *place = &log->places[((uintptr_t)format >> 3) % PLACES];
    pthread_mutex_lock(&log->places_lock);
    if (place->lines > 0 && now.tv_sec - place->since >= MINUTE) {
        place->lines = 0;
        *left_out = place->left_out;
        place->left_out = 0;
    }
    if (place->lines == 0)
        place->since = now.tv_sec;
    const bool may = place->lines < log->limit;
    place->lines += may;
    place->left_out += !may;
    pthread_mutex_unlock(&log->places_lock);
    return may;
}

/* The beginning of a line; its length. Fits into SHORT_LINE by far. */
static size_t begin_line(const struct pm_log *log, enum pm_log_level level, unsigned left_out,
                         char *line)
{
    static const int priorities[] = {3, 4, 6, 7}; /* of syslog(3) */
    size_t length = 0;
    if (log->style == PM_LOG_JOURNAL) {
        length = (size_t)snprintf(line, SHORT_LINE, "<%d>", priorities[level]);
    } else {
        const time_t now = time(NULL);
        struct tm parts;
        if (log->style == PM_LOG_TIMED)
            length = strftime(line, SHORT_LINE, "%Y-%m-%dT%H:%M:%SZ ", gmtime_r(&now, &parts));
        length += (size_t)snprintf(line + length, SHORT_LINE - length,
                                   "piecemeal: %s: ", level_names[level]);
    }
    if (left_out > 0)
        length += (size_t)snprintf(line + length, SHORT_LINE - length,
                                   "(%u lines like this were left out) ", left_out);
    return length;
}

void pm_logf(struct pm_log *log, enum pm_log_level level, const char *format, ...)
{
    if (!log || level > log->level)
        return;
    if (log->fd < 0 && !atomic_load_explicit(&log->has_callback, memory_order_relaxed))
        return;
    int saved_errno = errno;
    unsigned left_out;
    if (!may_say(log, format, &left_out))
        return;
    char short_line[SHORT_LINE];
    char *line = short_line, *heap = NULL;
    size_t size = sizeof(short_line);
    size_t prefix = begin_line(log, level, left_out, line);
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(line + prefix, size - prefix, format, arguments);
    va_end(arguments);
    size_t length = prefix + (n < 0 ? 0 : (size_t)n);
    /* One byte beyond the text is for the newline, which takes the terminator's place. */
    if (length >= size) {
        size_t wanted = length < LONGEST_LINE ? length + 1 : LONGEST_LINE;
        heap = malloc(wanted);
        if (heap) {
            line = heap;
            size = wanted;
            memcpy(line, short_line, prefix);
            va_start(arguments, format);
            vsnprintf(line + prefix, size - prefix, format, arguments);
            va_end(arguments);
        }
        if (length >= size)
            length = size - 1;
    }
    deliver(log, level, line, prefix, length);
    free(heap);
    errno = saved_errno;
}
