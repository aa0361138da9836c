#include "aggregator/service.h"
#include "tools/tool.h"
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal serve --storage FILE [OPTION…]\n\n"
    "  --storage FILE        the SQLite file; made when missing\n"
    "  --address A           what to listen on (127.0.0.1)\n"
    "  --port N              0 takes any free one (8370)\n"
    "  --token-file FILE     one bearer token a line; without it none is asked\n"
    "  --certificate FILE    PEM; with --key: serve HTTPS\n"
    "  --key FILE            PEM\n"
    "  --curate-seconds N    how often databases are curated (10)\n"
    "  --half-width X        publish when every interval is within ±X (0.05) …\n"
    "  --half-width-relative X  … or ±X of the estimate (0.10)\n"
    "  --dev                 publish every covered shader, whatever its intervals\n"
    "  --log-level L         error, warning, info, debug (info)\n\n"
    "Prints `listening on ADDRESS port N` once it does. SIGTERM or SIGINT: commits what was "
    "accepted, and ends.\n";

struct options {
    struct pm_service_info service;
    struct pm_aggregator_info aggregator;
    const char *storage;
    enum pm_log_level level;
};

static bool parse_fraction(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return !errno && *text && !*end && *value > 0 && *value <= 1e6;
}

/* -1: go on. */
static int parse(int argc, char **argv, struct options *options)
{
    enum {
        STORAGE = 256,
        ADDRESS,
        PORT,
        TOKENS,
        CERTIFICATE,
        KEY,
        CURATE,
        WIDTH,
        RELATIVE,
        DEV,
        LEVEL
    };
    static const struct option known[] = {
        {"storage", 1, 0, STORAGE},
        {"address", 1, 0, ADDRESS},
        {"port", 1, 0, PORT},
        {"token-file", 1, 0, TOKENS},
        {"certificate", 1, 0, CERTIFICATE},
        {"key", 1, 0, KEY},
        {"curate-seconds", 1, 0, CURATE},
        {"half-width", 1, 0, WIDTH},
        {"half-width-relative", 1, 0, RELATIVE},
        {"dev", 0, 0, DEV},
        {"log-level", 1, 0, LEVEL},
        {"help", 0, 0, 'h'},
        {0},
    };
    uint64_t number;
    int option;
    while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
        switch (option) {
        case STORAGE:
            options->storage = optarg;
            break;
        case ADDRESS:
            options->service.address = optarg;
            break;
        case PORT:
            if (!pm_tool_number(optarg, 65535, &number))
                return pm_tool_usage("serve", "--port: '%s' is not a port", optarg);
            options->service.port = (uint16_t)number;
            break;
        case TOKENS:
            options->service.token_file = optarg;
            break;
        case CERTIFICATE:
            options->service.certificate_file = optarg;
            break;
        case KEY:
            options->service.key_file = optarg;
            break;
        case CURATE:
            if (!pm_tool_number(optarg, 86400, &number) || number == 0)
                return pm_tool_usage("serve", "--curate-seconds: '%s' is not 1 to 86400", optarg);
            options->service.curate_seconds = (uint32_t)number;
            break;
        case WIDTH:
            if (!parse_fraction(optarg, &options->aggregator.half_width_absolute))
                return pm_tool_usage("serve", "--half-width: '%s' is not a positive number",
                                     optarg);
            break;
        case RELATIVE:
            if (!parse_fraction(optarg, &options->aggregator.half_width_relative))
                return pm_tool_usage(
                    "serve", "--half-width-relative: '%s' is not a positive number", optarg);
            break;
        case DEV:
            options->aggregator.publish_all = true;
            break;
        case LEVEL:
            if (!pm_log_level_parse(optarg, &options->level))
                return pm_tool_usage("serve", "--log-level: unknown level '%s'", optarg);
            break;
        case 'h':
            fputs(help, stdout);
            return PM_EXIT_OK;
        default:
            return pm_tool_usage("serve", "see above");
        }
    }
    if (optind < argc)
        return pm_tool_usage("serve", "what is '%s'?", argv[optind]);
    if (!options->storage)
        return pm_tool_usage("serve", "--storage is needed");
    if (!options->service.certificate_file != !options->service.key_file)
        return pm_tool_usage("serve", "--certificate and --key go together");
    return -1;
}

static int serve(struct options *options, const sigset_t *stop)
{
    struct pm_error error = {0};
    int status = PM_EXIT_FAILED;
    struct pm_log *log = pm_log_create(NULL, STDERR_FILENO, options->level, &error);
    struct pm_aggregator *aggregator = NULL;
    struct pm_service *service = NULL;
    options->aggregator.log = options->service.log = log;
    aggregator = pm_aggregator_open(options->storage, &options->aggregator, &error);
    if (!aggregator)
        goto done;
    options->service.aggregator = aggregator;
    service = pm_service_create(&options->service, &error);
    if (!service)
        goto done;
    printf("listening on %s port %u\n",
           options->service.address ? options->service.address : "127.0.0.1",
           (unsigned)pm_service_port(service));
    fflush(stdout);
    int caught;
    sigwait(stop, &caught);
    status = PM_EXIT_OK;
done:
    if (status != PM_EXIT_OK)
        pm_tool_failed("serve", &error);
    pm_service_destroy(service);
    pm_aggregator_destroy(aggregator);
    pm_log_destroy(log);
    return status;
}

int pm_command_serve(int argc, char **argv)
{
    struct options options = {.service.port = 8370, .level = PM_LOG_INFO};
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;
    /* Blocked before the service's threads start, so that only sigwait sees them. */
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is answered with 507 like a full disk */
    return serve(&options, &stop);
}
