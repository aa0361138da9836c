#include "tools/serve/command_serve.h"
#include "aggregator/dashboard/dashboard.h"
#include "aggregator/service/dev_tls.h"
#include "aggregator/service/service_listen.h"
#include "tools/common/options.h"
#include "tools/common/tool.h"
#include "tools/serve/notify.h"
#include "tools/serve/serve_check.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_help(void)
{
    fputs("usage: piecemeal serve --storage FILE [OPTION…]\n\n"
          "  --config FILE              a JSON object with any of the options below, as in\n"
          "                             {\"token_file\": \"FILE\"}; the command line wins\n"
          "  --check                    says whether it would run, and whether the storage is "
          "whole, and changes nothing\n",
          stdout);
    pm_serve_options_help(stdout);
    fputs("\nPrints `listening on ADDRESS port N` once it does. SIGHUP: reads the files of tokens "
          "and of "
          "the certificate again.\nSIGTERM or SIGINT: commits what was accepted, and ends.\n",
          stdout);
}

/* What getopt_long returns: one of these, or OPTION + the row of the table. */
enum { HELP = 'h', CONFIG = 256, CHECK, OPTION };

/* What is no option of the server, but says where they come from and what to do with them. */
struct request {
    const char *config; /* NULL: none */
    bool check;
};

/* One pass over the command line. options NULL: only for the request and --help. -1: go on. */
static int read_command_line(int argc, char **argv, struct pm_serve_options *options,
                             struct request *request)
{
    enum { MOST = 128 };
    struct option known[MOST] = {
        {"config", 1, 0, CONFIG}, {"check", 0, 0, CHECK}, {"help", 0, 0, HELP}};
    size_t count = 3;
    for (const struct pm_serve_option *row = pm_serve_option_table; row->name && count + 1 < MOST;
         row++)
        known[count++] = (struct option){row->name, row->argument != NULL, 0,
                                         OPTION + (int)(row - pm_serve_option_table)};
    optind = 0; /* glibc: from the start again */
    opterr = 0;
    for (int got; (got = getopt_long(argc, argv, ":h", known, NULL)) != -1;) {
        struct pm_error error = {0};
        if (got == HELP) {
            print_help();
            return PM_EXIT_OK;
        }
        if (got == CONFIG)
            request->config = optarg;
        if (got == CHECK)
            request->check = true;
        if (got < CONFIG)
            return pm_tool_bad_option("serve", argv, known, got == ':');
        if (got < OPTION || !options)
            continue;
        const struct pm_serve_option *row = &pm_serve_option_table[got - OPTION];
        if (!pm_serve_option_set(options, row, optarg, &error))
            return pm_tool_usage("serve", "--%s '%s': %s", row->name, optarg, error.message);
    }
    return optind < argc ? pm_tool_usage("serve", "what is '%s'?", argv[optind]) : -1;
}

/* The file first, so that the command line wins wherever --config stands in it. -1: go on. */
static int read_options(int argc, char **argv, struct pm_serve_options *options,
                        struct request *request)
{
    struct pm_error error = {0};
    int status = read_command_line(argc, argv, NULL, request);
    if (status >= 0)
        return status;
    if (request->config && !pm_serve_options_load(options, request->config, &error))
        return pm_tool_failed("serve", &error);
    status = read_command_line(argc, argv, options, request);
    if (status >= 0)
        return status;
    if (!pm_serve_options_agree(options, &error))
        return pm_tool_usage("serve", "%s", error.message);
    if (!pm_serve_options_settle(options, &error))
        return pm_tool_failed("serve", &error);
    return -1;
}

/* Makes the certificate of --dev-tls and says where it is. */
static bool make_certificate(struct pm_serve_options *options, struct pm_dev_tls *tls,
                             struct pm_error *error)
{
    const char *path =
        pm_arena_printf(options->strings, "%s-dev-tls.pem",
                        pm_aggregator_is_remote(options->storage) ? "piecemeal" : options->storage);
    if (!path)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (!pm_dev_tls_create(tls, options->service.address, path, error))
        return false;
    options->service.certificate = tls->certificate;
    options->service.key = tls->key;
    printf("certificate to trust: %s\nSHA-256: %s\n", path, tls->fingerprint);
    return true;
}

#define LOG_LINES 6 /* a minute, from one place in the program */

/* For whoever reads the log after the fact: what ran, where, and for whom. */
static void log_start(const struct pm_serve_options *options, const struct pm_service *service)
{
    const struct pm_service_info *info = &options->service;
    pm_log_info(info->log, "piecemeal %s serves %s on %s port %u, HTTP%s, %s", PM_VERSION,
                /* A URL may have a password in it. */
                pm_aggregator_is_remote(options->storage) ? "a PostgreSQL" : options->storage,
                info->address ? info->address : "127.0.0.1", (unsigned)pm_service_port(service),
                info->certificate_file || info->certificate ? "S" : "",
                info->token_file ? "with tokens" : "without tokens: anybody may upload");
}

/* Until it is told to stop. */
static void obey(struct pm_service *service, const sigset_t *signals, struct pm_log *log)
{
    int caught;
    sigwait(signals, &caught);
    for (; caught == SIGHUP; sigwait(signals, &caught)) {
        pm_notify("RELOADING=1");
        pm_log_info(log, "SIGHUP: reading the files of tokens and of the certificate again");
        pm_notify(pm_service_reload(service)
                      ? "READY=1\nSTATUS=Read its files again."
                      : "READY=1\nSTATUS=Could not read all of its files again; the log says why.");
    }
    pm_notify("STOPPING=1");
    pm_log_info(log, "%s: committing what was accepted, then ending",
                caught == SIGTERM ? "SIGTERM" : "SIGINT");
}

/* Before the storage is made, so that a port that is taken leaves no file. */
static bool can_listen(const struct pm_serve_options *options, struct pm_error *error)
{
    const int fd = pm_service_listen(&options->service, error);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Others can reach it, and can read on the way what should be secret. */
static void warn_open(const struct pm_serve_options *options, struct pm_log *log)
{
    const struct pm_service_info *info = &options->service;
    const char *address = info->address ? info->address : "127.0.0.1";
    const bool near = strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
    if (!near && !info->certificate_file && !options->dev_tls)
        pm_log_warning(log,
                       "%s is served without TLS: %s can be read on the way (--certificate and "
                       "--key; --dev-tls for trials)",
                       address, info->token_file ? "tokens and profiles" : "profiles");
}

static int serve(struct pm_serve_options *options, const sigset_t *signals)
{
    struct pm_dev_tls tls = {0};
    struct pm_error error = {0};
    int status = PM_EXIT_FAILED;
    struct pm_log *log = pm_log_create(NULL, STDERR_FILENO, options->level, &error);
    struct pm_aggregator *aggregator = NULL;
    struct pm_service *service = NULL;
    int hold = -1;
    pm_log_set_style(log, pm_log_style_of(STDERR_FILENO));
    pm_log_set_limit(log, LOG_LINES);
    options->aggregator.log = options->service.log = log;
    warn_open(options, log);
    if (!can_listen(options, &error) || !pm_aggregator_hold(options->storage, &hold, &error))
        goto done;
    aggregator = pm_aggregator_open(options->storage, &options->aggregator, &error);
    if (!aggregator)
        goto done;
    options->service.aggregator = aggregator;
    options->service.routes = &pm_dashboard_routes;
    if (options->dev_tls && !make_certificate(options, &tls, &error))
        goto done;
    service = pm_service_create(&options->service, &error);
    if (!service)
        goto done;
    printf("listening on %s port %u\n",
           options->service.address ? options->service.address : "127.0.0.1",
           (unsigned)pm_service_port(service));
    fflush(stdout);
    log_start(options, service);
    pm_notify("READY=1");
    obey(service, signals, log);
    status = PM_EXIT_OK;
done:
    if (status != PM_EXIT_OK)
        pm_tool_failed("serve", &error);
    pm_service_destroy(service);
    pm_aggregator_destroy(aggregator);
    if (hold >= 0)
        close(hold);
    if (status == PM_EXIT_OK)
        pm_log_info(log, "ended; what was acknowledged is stored");
    pm_log_destroy(log);
    pm_dev_tls_finish(&tls);
    return status;
}

int pm_command_serve(int argc, char **argv)
{
    struct pm_serve_options options;
    struct pm_error error = {0};
    if (!pm_serve_options_init(&options, &error))
        return pm_tool_failed("serve", &error);
    struct request request = {0};
    int status = read_options(argc, argv, &options, &request);
    if (status < 0 && request.check) {
        status = pm_serve_check(&options);
    } else if (status < 0) {
        /* Blocked before the service's threads start, so that only sigwait sees them. */
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        sigaddset(&signals, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is answered with 507 like a full disk */
        status = serve(&options, &signals);
    }
    pm_serve_options_finish(&options);
    return status;
}
