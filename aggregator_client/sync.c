#include "aggregator_client/sync.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/* Is this game one that the caller speaks of? */
static bool is_asked(const struct pm_sync_info *info, const char *game)
{
    return (!info->game && !info->games) || (info->game && strcmp(info->game, game) == 0) ||
           (info->games && pm_names_has(info->games, game));
}

bool pm_game_settings_init(struct pm_game_settings *settings, const struct pm_sync_info *info,
                           const char *game, struct pm_error *error)
{
    struct pm_error why = {0};
    memset(settings, 0, sizeof(*settings));
    pm_config_init(&settings->own);
    const bool asked = is_asked(info, game);
    char *const *environment = asked || !info->environment ? environ : info->environment;
    bool understood = pm_config_load_waiting(&settings->own, game, environment, &why);
    if (!understood && why.code == PM_ERROR_MEMORY) {
        pm_config_finish(&settings->own);
        return pm_fail(error, why.code, "%s", why.message);
    }
    const bool applies = asked && info->config && info->config->aggregator.url;
    settings->server = applies ? info->config : &settings->own;
    if (!understood && !(applies && info->replaces)) {
        /* It may be the file that withholds consent. */
        settings->withheld = true;
        snprintf(settings->why, sizeof(settings->why), "%s", why.message);
        pm_log_error(info->log, "nothing of %s is uploaded: %s", game, why.message);
    } else if (settings->own.consent_withheld || (info->config && info->config->consent_withheld)) {
        settings->withheld = true;
        snprintf(settings->why, sizeof(settings->why), "consent.upload withholds it");
    } else if (!settings->server->aggregator.url) {
        settings->withheld = true;
        snprintf(settings->why, sizeof(settings->why), "no aggregator.url is configured");
    }
    return true;
}

void pm_game_settings_finish(struct pm_game_settings *settings)
{
    pm_config_finish(&settings->own);
}

struct pm_http *pm_sync_http(struct pm_http **kept, const struct pm_config *config,
                             struct pm_error *error)
{
    if (*kept && !pm_http_serves(*kept, config)) {
        pm_http_destroy(*kept);
        *kept = NULL;
    }
    if (!*kept)
        *kept = pm_http_create(config, error);
    return *kept;
}

int pm_sync_lock(const char *path, const struct pm_retry *retry, struct pm_error *error)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        pm_fail_errno(error, errno, "%s: cannot open", path);
        return -1;
    }
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int why = errno;
        if (why == EINTR)
            continue;
        if (why == EWOULDBLOCK && pm_retry_left(retry) > 0) {
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
            continue;
        }
        if (why == EWOULDBLOCK)
            pm_fail(error, PM_ERROR_STATE, "%s: another piecemeal-sync is still at work", path);
        else
            pm_fail_errno(error, why, "%s: cannot lock", path);
        close(fd);
        return -1;
    }
    return fd;
}

bool pm_answer_is_temporary(const struct pm_http_answer *answer)
{
    return answer->status == 408 || answer->status == 425 || answer->status == 429 ||
           answer->status >= 500;
}

enum pm_trouble pm_answer_trouble(const struct pm_http_answer *answer)
{
    switch (answer->status) {
    case 0:
    case 401:
    case 404:
    case 405:
    case 407:
    case 429:
        return PM_TROUBLE_SERVER;
    case 507: /* of a game that is new there; others go on */
        return PM_TROUBLE_UPLOAD;
    default:
        break;
    }
    if (answer->status / 100 == 3)
        return PM_TROUBLE_SERVER;
    /* 403, and 2xx that is none of the aggregator's: somebody between answers for it. */
    return pm_answer_is_temporary(answer) || answer->status == 403 || answer->status / 100 == 2
               ? PM_TROUBLE_NOW
               : PM_TROUBLE_UPLOAD;
}

bool pm_answer_fail(const struct pm_http_answer *answer, const char *what, struct pm_error *error)
{
    /* What a stranger sent goes to a terminal: printable ASCII only, one line, not too long. */
    char text[201];
    size_t length = 0;
    for (size_t i = 0; i < answer->body.size && length < sizeof(text) - 1; i++) {
        unsigned char c = answer->body.data[i];
        if (c == '\n' || c == '\r')
            break;
        text[length++] = c >= ' ' && c < 0x7F ? (char)c : '?';
    }
    text[length] = '\0';
    return pm_fail(error, PM_ERROR_NETWORK, "%s: HTTP %ld%s%s", what, answer->status,
                   length ? ": " : "", text);
}

void pm_game_remember(const char *game)
{
    char *folder = pm_place_path(PM_PLACE_CACHE, "databases"), *safe = pm_file_safe_name(game);
    char *path = NULL;
    if (folder && safe && asprintf(&path, "%s/%s" PM_GAME_SUFFIX, folder, safe) >= 0) {
        if (access(path, F_OK) != 0 && pm_make_folder(folder, NULL))
            (void)pm_file_write(path, game, strlen(game), NULL);
        free(path);
    }
    free(safe);
    free(folder);
}

bool pm_sync_check(const struct pm_config *config, struct pm_error *error)
{
    struct pm_http *http = pm_http_create(config, error);
    const bool good = http != NULL;
    pm_http_destroy(http);
    return good &&
           (!config->aggregator.ca_file || access(config->aggregator.ca_file, R_OK) == 0 ||
            pm_fail_errno(error, errno, "aggregator.ca_file: %s", config->aggregator.ca_file));
}
