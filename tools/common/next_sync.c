#include "tools/common/next_sync.h"

#include "tools/common/tool.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TEXT 192

/* What systemctl says of the timer's next elapse, as "Mon 2026-11-23 14:05:10 UTC"; false: there is
 * no systemd, or the timer is not set. */
static bool ask_timer(char line[static TEXT])
{
    FILE *pipe = popen("systemctl --user show -P NextElapseUSecRealtime piecemeal-sync.timer "
                       "2>/dev/null",
                       "re");
    if (!pipe)
        return false;
    const bool read = fgets(line, TEXT / 2, pipe) != NULL;
    const bool ended = pclose(pipe) == 0;
    line[read ? strcspn(line, "\n") : 0] = '\0';
    return read && ended && line[0] != '\0' && strcmp(line, "n/a") != 0;
}

/* "Mon 2026-11-23 14:05:10 UTC, by piecemeal-sync.timer", else what somebody has to do. */
static void next_sync(char text[static TEXT])
{
    char line[TEXT];
    if (ask_timer(line))
        snprintf(text, TEXT, "%.96s, by piecemeal-sync.timer", line);
    else
        snprintf(text, TEXT,
                 "the next `piecemeal run` or `piecemeal sync` (piecemeal-sync.timer is not set)");
}

int pm_tool_sync_failed(const char *command, const struct pm_error *error, size_t waiting)
{
    char next[TEXT];
    if (error->code != PM_ERROR_NETWORK)
        return pm_tool_failed(command, error);
    next_sync(next);
    fprintf(stderr, "piecemeal %s: %s; ", command, error->message);
    if (waiting > 0)
        fprintf(stderr, "%zu session%s; ", waiting, waiting == 1 ? " waits" : "s wait");
    fprintf(stderr, "next try: %s\n", next);
    return PM_EXIT_FAILED;
}

void pm_tool_say_waiting(FILE *out, size_t waiting, const char *why)
{
    if (waiting > 0)
        fprintf(out, ", %zu wait%s (%s)", waiting, waiting == 1 ? "s" : "", why);
}
