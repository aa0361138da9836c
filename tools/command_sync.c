#include "tools/command_sync.h"
#include "aggregator_client/client.h"
#include "base/config_typos.h"
#include "tools/common/next_sync.h"
#include "tools/common/options.h"
#include "tools/common/tool.h"
#include <stdio.h>
#include <unistd.h>

/* Somebody waits for it; the timer is more patient. */
enum { RETRY_SECONDS = 3 };

static const char help[] =
    "usage: piecemeal sync [--dry-run] [--game NAME] [--config FILE]\n\n"
    "  --dry-run      print, as JSON, exactly what would leave, and send nothing\n"
    "  --game NAME    pull only this game's database\n"
    "  --config FILE  the config to use\n\n"
    "Uploads every ended session, with consent, then pulls PGO databases.\n";

static int dry_run(const struct pm_sync_info *info)
{
    struct pm_error error = {0};
    struct pm_buffer out;
    pm_buffer_init(&out, (size_t)1 << 30);
    bool ok = pm_sync_dry_run(info, &out, &error);
    if (ok && out.size)
        fwrite(out.data, 1, out.size, stdout);
    pm_buffer_finish(&out);
    return ok ? PM_EXIT_OK : pm_tool_failed("sync", &error);
}

static void say(const struct pm_sync_report *report)
{
    printf("uploaded %zu session%s (%zu shader profile%s)", report->sessions_uploaded,
           report->sessions_uploaded == 1 ? "" : "s", report->shaders_uploaded,
           report->shaders_uploaded == 1 ? "" : "s");
    pm_tool_say_waiting(stdout, report->sessions_waiting, report->waits_for);
    if (report->sessions_damaged > 0)
        printf(", %zu damaged", report->sessions_damaged);
    if (report->sessions_refused > 0)
        printf(", %zu refused", report->sessions_refused);
    if (report->uploads_again > 0)
        printf(", %zu taken that were refused", report->uploads_again);
    if (report->database_pulled || report->database_unchanged)
        printf("; database %s\n", report->database_pulled ? "pulled" : "unchanged");
    else
        printf("; no database pulled%s%s\n", report->not_pulled[0] ? ": " : "", report->not_pulled);
}

static int sync_now(const struct pm_sync_info *info)
{
    struct pm_error error = {0};
    struct pm_sync_report report = {0};
    int status = PM_EXIT_OK;
    if (!pm_sync_upload(info, &report, &error))
        status = pm_tool_sync_failed("sync", &error, report.sessions_waiting);
    error = (struct pm_error){0};
    if (!pm_sync_pull(info, &report, &error))
        status = pm_tool_sync_failed("sync", &error, report.sessions_waiting);
    if (status == PM_EXIT_OK || report.sessions_uploaded > 0 || report.uploads_again > 0)
        say(&report);
    return status;
}

static void say_typo(void *user, const char *message)
{
    (void)user;
    fprintf(stderr, "piecemeal sync: %s\n", message);
}

int pm_command_sync(int argc, char **argv)
{
    const char *game = NULL, *path = NULL;
    bool dry = false;
    const struct pm_option options[] = {PM_OPTION_FLAG("dry-run", &dry),
                                        PM_OPTION_TEXT("game", &game),
                                        PM_OPTION_TEXT("config", &path)};
    int status = pm_tool_options("sync", help, options, sizeof(options) / sizeof(options[0]), argc,
                                 argv, NULL);
    if (status >= 0)
        return status;
    struct pm_error error = {0};
    struct pm_config config;
    pm_config_init(&config);
    if (!pm_tool_config(&config, game, path, &error)) {
        status = pm_tool_failed("sync", &error);
    } else {
        struct pm_log *log = pm_log_create(NULL, STDERR_FILENO, config.log.level, NULL);
        const struct pm_sync_info info = {
            .config = &config, .log = log, .game = game, .retry_seconds = RETRY_SECONDS};
        pm_config_variable_typos(environ, say_typo, NULL);
        status = dry ? dry_run(&info) : sync_now(&info);
        pm_log_destroy(log);
    }
    pm_config_finish(&config);
    return status;
}
