#include "tools/doctor/doctor_config.h"
#include "aggregator_client/client.h"
#include "base/config_typos.h"
#include "profile/trouble.h"
#include "tools/common/tool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* As sync would take it. of: what the configuration is of, for the line. */
static void say_aggregator(struct pm_doctor *doctor, const char *of, const struct pm_config *config)
{
    struct pm_error error = {0};
    if (!config->aggregator.url)
        pm_doctor_say(doctor, PM_FINDING_NOTE, "aggregator",
                      "%s: no aggregator.url: nothing leaves this machine", of);
    else if (!pm_sync_check(config, &error))
        pm_doctor_say(doctor, PM_FINDING_BAD, "aggregator", "%s: %s", of, error.message);
    else
        pm_doctor_say(doctor, PM_FINDING_OK, "aggregator", "%s: %s%s", of, config->aggregator.url,
                      config->consent_withheld ? "; consent.upload withholds uploads" : "");
    if (config->log.file && access(config->log.file, W_OK) != 0 && errno != ENOENT)
        pm_doctor_say(doctor, PM_FINDING_BAD, "log", "%s: %s: %s", of, config->log.file,
                      strerror(errno));
}

/* path NULL: there is no file. */
static void say_read(struct pm_doctor *doctor, bool is_read, const char *path,
                     const struct pm_error *error)
{
    if (!is_read)
        pm_doctor_say(doctor, PM_FINDING_BAD, "config", "%s (the layer passes everything through)",
                      error->message);
    else if (path)
        pm_doctor_say(doctor, PM_FINDING_OK, "config", "%s is well-formed", path);
}

/* path NULL: the environment alone. */
static void check_one(struct pm_doctor *doctor, const char *of, const char *path)
{
    struct pm_error error = {0};
    struct pm_config config;
    pm_config_init(&config);
    const bool read = (!path || pm_config_load_file(&config, path, &error)) &&
                      pm_config_apply_environment(&config, environ, &error);
    say_read(doctor, read, path, &error);
    if (read)
        say_aggregator(doctor, of, &config);
    pm_config_finish(&config);
}

static void say_misnamed(void *user, const char *path, const char *right)
{
    pm_doctor_say(user, PM_FINDING_BAD, "config", "no game reads %s: it would have to be called %s",
                  path, right);
}

static void check_named(void *user, const char *path)
{
    check_one(user, path, path);
}

static void check_game(struct pm_doctor *doctor, const char *game)
{
    char *own = pm_config_game_path(game), *shared = pm_config_shared_path(game);
    char *meant = pm_config_misnamed(game);
    if (!own || access(own, F_OK) != 0)
        pm_doctor_say(doctor, meant ? PM_FINDING_BAD : PM_FINDING_NOTE, "config",
                      "%s is not there: the defaults are used%s%s", own ? own : game,
                      meant ? "; nothing reads " : "", meant ? meant : "");
    if (shared && access(shared, F_OK) == 0)
        pm_doctor_say(doctor, PM_FINDING_NOTE, "config",
                      "%s is read for whether it withholds consent, and for nothing else", shared);
    struct pm_error error = {0};
    struct pm_config config;
    pm_config_init(&config);
    const bool is_read = pm_config_load_game(&config, game, &error);
    say_read(doctor, is_read, own && access(own, F_OK) == 0 ? own : NULL, &error);
    if (is_read)
        say_aggregator(doctor, game, &config);
    pm_config_finish(&config);
    free(meant);
    free(shared);
    free(own);
}

static void say_typo(void *user, const char *message)
{
    pm_doctor_say(user, PM_FINDING_BAD, "environment", "%s", message);
}

static void say_trouble(void *user, const char *game, double at, const char *message)
{
    const time_t then = (time_t)at;
    struct tm parts;
    char text[32] = "";
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", gmtime_r(&then, &parts));
    pm_doctor_say(user, PM_FINDING_BAD, "last session", "%s, %s: %s", game, text, message);
}

static void say_consent(struct pm_doctor *doctor)
{
    struct pm_error error = {0};
    enum pm_consent consent;
    if (!pm_consent_read(&consent, &error))
        pm_doctor_say(doctor, PM_FINDING_BAD, "consent", "%s", error.message);
    else
        pm_doctor_say(doctor, PM_FINDING_OK, "consent", "%s",
                      consent == PM_CONSENT_GRANTED   ? "granted"
                      : consent == PM_CONSENT_REVOKED ? "revoked: nothing is sent"
                                                      : "not asked yet: nothing is sent");
}

void pm_doctor_config(struct pm_doctor *doctor, const char *game, const char *path)
{
    const char *named = getenv("PIECEMEAL_CONFIG");
    pm_config_variable_typos(environ, say_typo, doctor);
    if (!path && named && named[0])
        path = named;
    if (path) {
        check_one(doctor, path, path);
    } else if (game) {
        check_game(doctor, game);
    } else {
        check_one(doctor, "games without a config of their own", NULL);
        pm_config_files(say_misnamed, check_named, doctor);
    }
    pm_trouble_each(say_trouble, doctor);
    say_consent(doctor);
}
