#include "tools/common/tool.h"
#include "base/file.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int pm_tool_failed(const char *command, const struct pm_error *error)
{
    fprintf(stderr, "piecemeal %s: %s\n", command, error->message);
    return PM_EXIT_FAILED;
}

int pm_tool_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "piecemeal %s: ", command);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nTry `piecemeal %s --help`.\n", command);
    va_end(arguments);
    return PM_EXIT_USAGE;
}

bool pm_tool_config(struct pm_config *config, const char *game, const char *path,
                    struct pm_error *error)
{
    if (!path)
        return pm_config_load_game(config, game, error);
    return pm_config_load_file(config, path, error) &&
           pm_config_apply_environment(config, environ, error);
}

char *pm_tool_local_storage(void)
{
    return pm_place_path(PM_PLACE_DATA, "local/aggregator.sqlite");
}

char *pm_tool_report_path(const char *game, struct pm_error *error)
{
    char *folder = pm_place_path(PM_PLACE_DATA, "reports"), *safe = pm_file_safe_name(game);
    char *path = NULL;
    if (!folder || !safe || asprintf(&path, "%s/%s.html", folder, safe) < 0) {
        path = NULL;
        pm_fail(error, PM_ERROR_MEMORY, "no home, or out of memory");
    } else if (!pm_make_folder(folder, error)) {
        free(path);
        path = NULL;
    }
    free(folder);
    free(safe);
    return path;
}

bool pm_tool_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end || value > most)
        return false;
    *number = value;
    return true;
}

bool pm_tool_temporary(char *path, size_t size, const char *name, struct pm_error *error)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/%s-XXXXXX", folder && folder[0] == '/' ? folder : "/tmp", name);
    const int file = mkstemp(path);
    if (file < 0) {
        pm_fail_errno(error, errno, "%s", path);
        path[0] = '\0';
        return false;
    }
    close(file);
    return true;
}
