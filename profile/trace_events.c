#include "profile/trace_events.h"

#include "base/clock.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONGEST_LINE = 1024, TEXTS = 4, NUMBERS = 4 };

static const char *const types[PM_TRACE_TYPES] = {
    [PM_TRACE_NAME] = "name", [PM_TRACE_CLOCKS] = "clocks",   [PM_TRACE_BEGIN] = "begin",
    [PM_TRACE_END] = "end",   [PM_TRACE_INSTANT] = "instant", [PM_TRACE_FRAME] = "frame"};

static int counts_of(enum pm_trace_type type)
{
    return type == PM_TRACE_FRAME ? PM_TRACE_COUNTS : type == PM_TRACE_CLOCKS ? 2 : 0;
}

int pm_trace_events_open(const char *path, struct pm_error *error)
{
    /* O_NONBLOCK: a FIFO without a reader must not hang a game. */
    const int file =
        open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (file < 0)
        pm_fail_errno(error, errno, "%s", path);
    return file;
}

/* ---- writing ---- */

static size_t put_text(char *line, size_t at, const char *text)
{
    line[at++] = '\t';
    for (size_t i = 0; i + 1 < PM_TRACE_TEXT && text[i] != '\0'; i++) {
        const unsigned char byte = (unsigned char)text[i];
        line[at++] = byte < ' ' || byte == 0x7F ? ' ' : text[i];
    }
    return at;
}

bool pm_trace_events_write(int file, const struct pm_trace_event *event, size_t *bytes)
{
    char line[LONGEST_LINE];
    const int numbers =
        snprintf(line, sizeof line, "%s\t%lld\t%ld\t%" PRIu32 "\t%" PRId64, types[event->type],
                 (long long)getpid(), (long)syscall(SYS_gettid), event->device, pm_now());
    size_t size = (size_t)numbers;
    size = put_text(line, size, event->track);
    size = put_text(line, size, event->name);
    size = put_text(line, size, event->shader);
    size = put_text(line, size, event->detail);
    for (int i = 0; i < counts_of(event->type); i++)
        size += (size_t)snprintf(line + size, sizeof line - size, "\t%" PRIu64, event->counts[i]);
    line[size++] = '\n';
    *bytes = size;
    return pm_write_all(file, line, size) == 0;
}

/* ---- reading ---- */

static bool find_type(const char *name, enum pm_trace_type *type)
{
    for (int i = 0; i < PM_TRACE_TYPES; i++) {
        *type = (enum pm_trace_type)i;
        if (strcmp(types[i], name) == 0)
            return true;
    }
    return false;
}

static bool take_number(char **rest, uint64_t most, uint64_t *number)
{
    const char *field = strsep(rest, "\t");
    char *end = NULL;
    if (field == NULL || *field < '0' || *field > '9')
        return false;
    errno = 0;
    *number = strtoull(field, &end, 10);
    return errno == 0 && *end == '\0' && *number <= most;
}

static bool take_text(char **rest, char *text)
{
    const char *field = strsep(rest, "\t");
    if (field == NULL || strlen(field) >= PM_TRACE_TEXT)
        return false;
    strcpy(text, field);
    return true;
}

bool pm_trace_events_parse(char *line, struct pm_trace_event *event, struct pm_error *error)
{
    uint64_t numbers[NUMBERS] = {0};
    char *rest = line;
    *event = (struct pm_trace_event){0};
    line[strcspn(line, "\n")] = '\0';
    bool ok = find_type(strsep(&rest, "\t"), &event->type);
    for (int i = 0; ok && i < NUMBERS; i++)
        ok = take_number(&rest, i == 2 ? UINT32_MAX : INT64_MAX, &numbers[i]);
    char *const texts[TEXTS] = {event->track, event->name, event->shader, event->detail};
    for (int i = 0; ok && i < TEXTS; i++)
        ok = take_text(&rest, texts[i]);
    for (int i = 0; ok && i < counts_of(event->type); i++)
        ok = take_number(&rest, INT64_MAX, &event->counts[i]);
    event->process = (int64_t)numbers[0];
    event->thread = (int64_t)numbers[1];
    event->device = (uint32_t)numbers[2];
    event->at = (int64_t)numbers[3];
    return (ok && rest == NULL) || pm_fail(error, PM_ERROR_INPUT, "is no event of a trace");
}
