/* piecemeal-sync: uploads what the layer left in the spool and pulls PGO databases, in a process of
 * its own, so that TLS and HTTP never run inside a game (DESIGN, A profile). */
#include "aggregator_client/client.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* A timer starts it in the background: it may be patient. */
enum { DEADLINE_SECONDS = 300 };

static const char help[] =
    "usage: piecemeal-sync [--dry-run] [--game NAME] [--config FILE] [--spool FOLDER]\n"
    "\n"
    "Uploads every ended session that was recorded, and pulls the PGO databases of the games that "
    "were\n"
    "seen. Without consent (`piecemeal consent grant`) or without aggregator.url nothing leaves.\n"
    "\n"
    "  --dry-run        print as JSON exactly what would leave, and send nothing\n"
    "  --game NAME      pull only this game's database\n"
    "  --config FILE    the configuration to use, instead of each game's own\n"
    "  --spool FOLDER   where the sessions lie, instead of $XDG_DATA_HOME/piecemeal/spool\n"
    "  --deadline SECONDS  how long to go on trying (300)\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0, 1 (something could not be done; standard error says what), 2 (usage).\n";

struct options {
    struct pm_sync_info info;
    const char *config;
    bool dry_run;
};

static int usage(const char *what, const char *value)
{
    fprintf(stderr, "piecemeal-sync: %s%s\nTry `piecemeal-sync --help`.\n", what, value);
    return EXIT_USAGE;
}

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"dry-run", no_argument, NULL, 'n'},        {"game", required_argument, NULL, 'g'},
        {"config", required_argument, NULL, 'c'},   {"spool", required_argument, NULL, 's'},
        {"deadline", required_argument, NULL, 'd'}, {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},        {0}};
    for (int option; (option = getopt_long(argc, argv, "h", known, NULL)) != -1;) {
        char *end;
        unsigned long seconds;
        switch (option) {
        case 'n':
            options->dry_run = true;
            break;
        case 'g':
            options->info.game = optarg;
            break;
        case 'c':
            options->config = optarg;
            break;
        case 's':
            options->info.spool_folder = optarg;
            break;
        case 'd':
            seconds = strtoul(optarg, &end, 10);
            if (*optarg < '0' || *optarg > '9' || *end || seconds == 0 || seconds > 86400)
                return usage("--deadline must be from 1 to 86400, not ", optarg);
            options->info.deadline_seconds = (uint32_t)seconds;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_OK;
        case 'v':
            puts("piecemeal-sync " PM_VERSION);
            return EXIT_OK;
        default:
            fputs("Try `piecemeal-sync --help`.\n", stderr);
            return EXIT_USAGE;
        }
    }
    return optind < argc ? usage("unexpected argument: ", argv[optind]) : -1;
}

static int fail(const struct pm_error *error)
{
    fprintf(stderr, "piecemeal-sync: %s\n", error->message);
    return EXIT_FAILED;
}

static int dry_run(const struct pm_sync_info *info)
{
    struct pm_error error = {0};
    struct pm_buffer out;
    pm_buffer_init(&out, (size_t)1 << 30);
    bool printed = pm_sync_dry_run(info, &out, &error);
    if (printed && out.size &&
        (fwrite(out.data, 1, out.size, stdout) != out.size || fflush(stdout) != 0))
        printed = pm_fail(&error, PM_ERROR_IO, "cannot write to standard output");
    pm_buffer_finish(&out);
    return printed ? EXIT_OK : fail(&error);
}

static int sync_all(const struct pm_sync_info *info)
{
    struct pm_error error = {0};
    struct pm_sync_report report = {0};
    int status = EXIT_OK;
    if (!pm_sync_upload(info, &report, &error))
        status = fail(&error);
    if (!pm_sync_pull(info, &report, &error))
        status = fail(&error);
    printf("sessions: %zu uploaded (%zu shader profiles), %zu waiting%s%s%s, %zu damaged, %zu "
           "refused, "
           "%zu taken that were; database: "
           "%s\n",
           report.sessions_uploaded, report.shaders_uploaded, report.sessions_waiting,
           report.waits_for[0] ? " (" : "", report.waits_for, report.waits_for[0] ? ")" : "",
           report.sessions_damaged, report.sessions_refused, report.uploads_again,
           report.database_pulled      ? "pulled"
           : report.database_unchanged ? "unchanged"
                                       : "none");
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.info = {.deadline_seconds = DEADLINE_SECONDS}};
    int status = parse_options(argc, argv, &options);
    if (status >= 0)
        return status;
    struct pm_error error = {0};
    struct pm_config config;
    pm_config_init(&config);
    bool loaded = options.config ? pm_config_load_file(&config, options.config, &error) &&
                                       pm_config_apply_environment(&config, environ, &error)
                                 : pm_config_load_game(&config, options.info.game, &error);
    if (!loaded) {
        status = fail(&error);
    } else {
        struct pm_log *log = pm_log_create(config.log.file, STDERR_FILENO, config.log.level, NULL);
        options.info.config = &config;
        options.info.log = log;
        status = options.dry_run ? dry_run(&options.info) : sync_all(&options.info);
        pm_log_destroy(log);
    }
    pm_config_finish(&config);
    return status;
}
