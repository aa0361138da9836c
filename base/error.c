#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cuts a message that filled its array back to a whole UTF-8 character, and keeps it on one line.
 */
static void tidy(char *message, size_t size, bool truncated)
{
    size_t length = strlen(message);
    if (truncated && length == size - 1) {
        size_t start = length;
        while (start > 0 && ((unsigned char)message[start - 1] & 0xC0) == 0x80)
            start--;
        if (start > 0) {
            unsigned char lead = (unsigned char)message[start - 1];
            size_t need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
            if (length - (start - 1) < need)
                length = start - 1;
        }
        message[length] = '\0';
    }
    for (size_t i = 0; i < length; i++) {
        if (message[i] == '\n' || message[i] == '\r' || message[i] == '\t')
            message[i] = ' ';
    }
    while (length > 0 && message[length - 1] == ' ')
        message[--length] = '\0';
}

static void fill(struct pm_error *error, enum pm_code code, const char *format, va_list arguments,
                 const char *tail)
{
    error->code = code;
    int n = vsnprintf(error->message, sizeof(error->message), format, arguments);
    size_t used = n < 0 ? 0 : (size_t)n;
    if (n < 0)
        error->message[0] = '\0';
    if (tail && used < sizeof(error->message)) {
        n = snprintf(error->message + used, sizeof(error->message) - used, ": %s", tail);
        used += n < 0 ? 0 : (size_t)n;
    }
    tidy(error->message, sizeof(error->message), used >= sizeof(error->message));
}

bool pm_fail(struct pm_error *error, enum pm_code code, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, code, format, arguments, NULL);
        va_end(arguments);
    }
    return false;
}

bool pm_fail_errno(struct pm_error *error, int saved_errno, const char *format, ...)
{
    if (error) {
        /* Neither translated nor shared between threads, unlike strerror. */
        const char *reason = strerrordesc_np(saved_errno);
        va_list arguments;
        va_start(arguments, format);
        fill(error, PM_ERROR_IO, format, arguments, reason ? reason : "unknown error");
        va_end(arguments);
    }
    return false;
}

bool pm_fail_prefix(struct pm_error *error, const char *format, ...)
{
    if (error) {
        char old[sizeof(error->message)];
        memcpy(old, error->message, sizeof(old));
        va_list arguments;
        va_start(arguments, format);
        fill(error, error->code, format, arguments, old);
        va_end(arguments);
    }
    return false;
}

struct pm_error *pm_error_keep(const struct pm_error *error)
{
    struct pm_error *kept = malloc(sizeof *kept);
    if (kept)
        *kept = *error;
    return kept;
}

bool pm_error_recall(const struct pm_error *kept, struct pm_error *error)
{
    if (!kept)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory");
    if (error)
        *error = *kept;
    return false;
}
