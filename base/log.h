/*
 * The log, passed in and never global. A log writes to a file or a descriptor, or to nothing; the layer adds
 * a callback for VK_EXT_debug_utils messengers.
 *
 * Thread safety: pm_log_* may be called from any thread with the same log; one message is one write(2).
 */
#pragma once

#include "base/error.h"
#include <stddef.h>

enum pm_log_level { PM_LOG_ERROR, PM_LOG_WARNING, PM_LOG_INFO, PM_LOG_DEBUG };

struct pm_log;

/* Called with every message at or below the log's level, without a newline. Must not log itself. */
typedef void (*pm_log_callback)(void *user, enum pm_log_level level, const char *message);

/* Writes to the file at path (created 0600, appended to), or to the descriptor fd when path is NULL (the log
 * does not close it), or nowhere when path is NULL and fd is -1. NULL when out of memory; a file that cannot be
 * opened gives a log that writes to fd, and *error filled. A program may close descriptors that are not its own
 * and get their numbers for files of its own: what is another file by then is not written to. */
struct pm_log *pm_log_create(const char *path, int fd, enum pm_log_level level, struct pm_error *error);
void pm_log_destroy(struct pm_log *log);

void pm_log_set_callback(struct pm_log *log, pm_log_callback callback, void *user);

/* How a line begins. A program that starts a log of its own sets it before others use it. */
enum pm_log_style {
    PM_LOG_PLAIN,   /* "piecemeal: LEVEL: " */
    PM_LOG_TIMED,   /* the same after the time, "2026-11-20T17:40:24Z " */
    PM_LOG_JOURNAL, /* "<4>", what systemd's journal takes for a level (sd-daemon(3)); it keeps the time itself */
};
void pm_log_set_style(struct pm_log *log, enum pm_log_style style);

/* PM_LOG_JOURNAL where fd is the stream that systemd gave this process for its journal (JOURNAL_STREAM), else
 * PM_LOG_TIMED. */
enum pm_log_style pm_log_style_of(int fd);

/* At most so many lines a minute from one place in the program (one format), so that nobody who can cause a message
 * can fill a disk with it; how many were left out is said with the next one. 0, as it is at first: all. Set before
 * others use the log. */
void pm_log_set_limit(struct pm_log *log, unsigned lines);

/* "error", "warning", "info" or "debug"; false for anything else. */
bool pm_log_level_parse(const char *name, enum pm_log_level *level);

/* A descriptor as text that a process gives to those it starts, "NUMBER:DEVICE:INODE". false: it is not open, or
 * there is no room. */
bool pm_log_descriptor_format(int fd, char *text, size_t size);
/* The descriptor; -1 when it is not open here or is another file, or the text is NULL or none of ours. */
int pm_log_descriptor_parse(const char *text);

/* A NULL log drops the message. A line reads as the style says, then the message. */
void pm_logf(struct pm_log *log, enum pm_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define pm_log_error(log, ...) pm_logf(log, PM_LOG_ERROR, __VA_ARGS__)
#define pm_log_warning(log, ...) pm_logf(log, PM_LOG_WARNING, __VA_ARGS__)
#define pm_log_info(log, ...) pm_logf(log, PM_LOG_INFO, __VA_ARGS__)
#define pm_log_debug(log, ...) pm_logf(log, PM_LOG_DEBUG, __VA_ARGS__)
