/*
 * Errors are values: a callee that fails fills a struct pm_error with a code and a sentence a user
 * can act on, and the caller passes it up to whoever can decide. Functions return bool, true on
 * success.
 *
 * Thread safety: a struct pm_error belongs to one thread at a time; the functions keep no state.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

enum pm_code {
    PM_OK = 0,
    PM_ERROR_MEMORY, /* out of memory, or a cap was reached while allocating */
    PM_ERROR_IO,     /* the operating system refused; the message ends with its reason */
    PM_ERROR_INPUT,  /* malformed input; the message names the place (file:line:column, byte, word)
                      */
    PM_ERROR_UNSUPPORTED, /* well-formed, but nothing we can handle; the message says what and why
                           */
    PM_ERROR_NEWER,  /* of a version that we are too old for; the message names what is not known */
    PM_ERROR_LIMIT,  /* a configured bound was reached */
    PM_ERROR_DEVICE, /* a Vulkan driver refused; the message has the VkResult's name */
    PM_ERROR_NETWORK,  /* the aggregator could not be reached or answered with something unusable */
    PM_ERROR_STATE,    /* not possible now (no consent, no database yet, already running) */
    PM_ERROR_CONFLICT, /* another came between; the same again may succeed at once */
    PM_ERROR_STOPPED,  /* the thread was asked to stop (stop.h) */
    PM_ERROR_TIMEOUT,  /* took longer than it may; later it may succeed */
    PM_ERROR_UNSURE,   /* done, but it may not last; the same again, later, finds out */
};

struct pm_error {
    enum pm_code code;
    char message[480]; /* one line, UTF-8, no newline at the end; truncated at a character's
                          boundary */
};

/* Fills *error (which may be NULL) and returns false, so that a failing function can end in
 * `return pm_fail(error, PM_ERROR_INPUT, "%s: byte %zu: …", path, at);`. */
bool pm_fail(struct pm_error *error, enum pm_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As pm_fail, and appends ": " and strerror(saved_errno). */
bool pm_fail_errno(struct pm_error *error, int saved_errno, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A copy for who remembers few errors of many things, malloc'ed; NULL: out of memory. And what it
 * says, into *error (which may be NULL); kept NULL: that memory was out. Returns false. */
struct pm_error *pm_error_keep(const struct pm_error *error);
bool pm_error_recall(const struct pm_error *kept, struct pm_error *error);

/* Puts "prefix: " before the message that *error already has and returns false. */
bool pm_fail_prefix(struct pm_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
