#include "tools/run/run_options.h"

#include "base/config.h"
#include "base/config_typos.h"
#include "base/log.h"
#include "tools/common/launch.h"
#include "tools/common/options.h"
#include "tools/common/tool.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal run [OPTION…] -- PROGRAM [ARGUMENT…]\n\n"
    "  --game NAME        what the game is called (else its config, its own name for itself, its "
    "executable)\n"
    "  --config FILE      the config to use\n"
    "  --set KEY=VALUE    one key of the config, as in sampler.batch=all; may be given often\n"
    "  --local            everything on this machine: profile, curate, use; no server\n"
    "  --ab               use the game's own shaders and the specialized ones in turn, and say "
    "how much faster\n"
    "                     its frames are with the latter\n"
    "  --ab-frames N      frames that either is used at a time (32)\n"
    "  --trace FILE       what happens, as a trace for ui.perfetto.dev\n\n"
    "Pulls the game's PGO database, runs the program with the layer, uploads what was sampled "
    "(with consent, where the\n"
    "config names an aggregator). Ends with the program's own exit status, 128 + N when signal N "
    "killed it.\n";

void pm_run_warn(const struct pm_error *error)
{
    fprintf(stderr, "piecemeal run: %s\n", error->message);
}

char **pm_run_environment_now(void)
{
    size_t count = 0;
    while (environ[count])
        count++;
    char **now = calloc(count + 1, sizeof(*now));
    if (now)
        memcpy(now, environ, count * sizeof(*now));
    return now ? now : calloc(1, sizeof(*now));
}

/* Checked here, so that a typo is told before the game starts; it travels through the environment.
 */
bool pm_run_set(const char *key, const char *value, const char *what, struct pm_error *error)
{
    char variable[128];
    struct pm_config probe;
    pm_config_init(&probe);
    const bool ok = pm_config_set(&probe, key, value, what, error);
    pm_config_finish(&probe);
    return ok && ((pm_config_variable(key, variable, sizeof(variable)) &&
                   setenv(variable, value, 1) == 0) ||
                  pm_fail(error, PM_ERROR_INPUT, "%s: cannot be set", key));
}

static bool set_key(const char *text, struct pm_error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return pm_fail(error, PM_ERROR_INPUT, "--set %s: not KEY=VALUE", text);
    char key[128];
    const size_t size = (size_t)(equals - text);
    if (size >= sizeof(key))
        return pm_fail(error, PM_ERROR_INPUT, "--set: the key is too long");
    memcpy(key, text, size);
    key[size] = 0;
    return pm_run_set(key, equals + 1, "--set", error);
}

int pm_run_options_read(int argc, char **argv, struct pm_run_options *options)
{
    enum { GAME = 256, CONFIG, SET, LOCAL, AB, AB_FRAMES, TRACE };
    static const struct option known[] = {
        {"game", 1, 0, GAME},   {"config", 1, 0, CONFIG}, {"set", 1, 0, SET},
        {"local", 0, 0, LOCAL}, {"ab", 0, 0, AB},         {"ab-frames", 1, 0, AB_FRAMES},
        {"trace", 1, 0, TRACE}, {"help", 0, 0, 'h'},      {0}};
    struct pm_error error = {0};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:h", known, NULL)) != -1) {
        switch (option) {
        case GAME:
            options->game = optarg;
            break;
        case CONFIG:
            options->config = optarg;
            break;
        case SET:
            if (!set_key(optarg, &error))
                return pm_tool_usage("run", "%s", error.message);
            break;
        case LOCAL:
            options->local = true;
            break;
        case AB:
            options->ab = true;
            break;
        case AB_FRAMES:
            if (!pm_run_set("ab.frames", optarg, "--ab-frames", &error))
                return pm_tool_usage("run", "%s", error.message);
            break;
        case TRACE:
            options->trace = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return PM_EXIT_OK;
        default:
            return pm_tool_bad_option("run", argv, known, option == ':');
        }
    }
    if (optind >= argc)
        return pm_tool_usage("run", "no program to run");
    options->program = argv + optind;
    return -1;
}

/* What is not there is named all the same, so that the layer passes everything through instead of
 * taking another config for it. */
static void set_config(const char *config)
{
    struct pm_error error = {0};
    char *path = realpath(config, NULL), *folder = NULL;
    if (!path) {
        pm_fail_errno(&error, errno, "%s", config);
        folder = config[0] != '/' ? getcwd(NULL, 0) : NULL;
        if (asprintf(&path, "%s%s%s", folder ? folder : "", folder ? "/" : "", config) < 0)
            path = NULL;
    }
    if ((!path || setenv("PIECEMEAL_CONFIG", path, 1) != 0) && error.code == PM_OK)
        pm_fail(&error, PM_ERROR_MEMORY, "out of memory");
    if (error.code != PM_OK)
        pm_run_warn(&error);
    free(folder);
    free(path);
}

static void say_typo(void *user, const char *message)
{
    (void)user;
    fprintf(stderr, "piecemeal run: %s\n", message);
}

void pm_run_environment(const struct pm_run_options *options)
{
    struct pm_error error = {0};
    pm_config_variable_typos(environ, say_typo, NULL);
    if (options->config)
        set_config(options->config);
    if (options->game && !pm_run_set("game.name", options->game, "--game", &error))
        pm_run_warn(&error);
    /* The game may close or redirect its stderr; the layer's lines still belong on ours. */
    const int log = dup(STDERR_FILENO);
    char descriptor[64];
    if (log >= 0 && pm_log_descriptor_format(log, descriptor, sizeof(descriptor)))
        setenv("PIECEMEAL_LOG_FD", descriptor, 1);
    else
        unsetenv("PIECEMEAL_LOG_FD");
    if (!pm_launch_environment(&error))
        pm_run_warn(&error);
}
