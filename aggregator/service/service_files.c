/* The files that the service reads when it starts, and again when they changed. */
#include "aggregator/service/service_state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the start ---- */

static bool copy_path(char **to, const char *path, struct pm_error *error)
{
    *to = path ? strdup(path) : NULL;
    return *to || !path || pm_fail(error, PM_ERROR_MEMORY, "out of memory for a service");
}

static bool copy_paths(struct pm_service *service, const struct pm_service_info *info,
                       struct pm_error *error)
{
    return copy_path(&service->token_file, info->token_file, error) &&
           copy_path(&service->dashboard_token_file, info->dashboard_token_file, error) &&
           copy_path(&service->certificate_file, info->certificate_file, error) &&
           copy_path(&service->key_file, info->key_file, error);
}

static bool read_tokens(struct pm_tokens *tokens, const char *path, struct pm_error *error)
{
    struct pm_tokens_changed changed;
    tokens->asked = path != NULL;
    return !path || pm_tokens_read(tokens, path, &changed, error);
}

static bool read_certificate(struct pm_service *service, const struct pm_service_info *info,
                             struct pm_error *error)
{
    const bool made = info->certificate && info->key;
    if (!made && !info->certificate_file != !info->key_file)
        return pm_fail(error, PM_ERROR_INPUT, "TLS needs both a certificate and its key");
    if (!made && !info->certificate_file)
        return true;
    if (MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "this libmicrohttpd was built without TLS");
    service->credentials = made
                               ? pm_credentials_make(info->certificate, info->key, error)
                               : pm_credentials_load(info->certificate_file, info->key_file, error);
    service->first_credentials = pm_credentials_share(service->credentials);
    return service->credentials != NULL;
}

bool pm_files_read(struct pm_service *service, const struct pm_service_info *info,
                   struct pm_error *error)
{
    return copy_paths(service, info, error) &&
           read_tokens(&service->uploaders, info->token_file, error) &&
           read_tokens(&service->readers, info->dashboard_token_file, error) &&
           read_certificate(service, info, error);
}

void pm_files_finish(struct pm_service *service)
{
    pm_credentials_drop(service->credentials);
    pm_credentials_drop(service->first_credentials);
    free(service->token_file);
    free(service->dashboard_token_file);
    free(service->certificate_file);
    free(service->key_file);
}

/* ---- again ---- */

static bool reload_tokens(struct pm_service *service, struct pm_tokens *tokens, const char *path)
{
    struct pm_tokens_changed changed;
    struct pm_error error;
    if (!path)
        return true;
    if (!pm_tokens_read(tokens, path, &changed, &error)) {
        pm_log_error(service->log, "%s. The tokens that were read before stay", error.message);
        return false;
    }
    pm_log_info(service->log, "%s: %zu tokens, %zu of them new; %zu are withdrawn", path,
                changed.count, changed.added, changed.gone);
    return true;
}

/* A certificate that nobody would trust now is not better than the one in use. */
static bool is_valid(const struct pm_credentials *credentials, const char *path,
                     char date[static 32], struct pm_error *error)
{
    const time_t now = time(NULL);
    struct tm parts;
    time_t from, until;
    if (!pm_credentials_dates(credentials, 0, &from, &until))
        return pm_fail(error, PM_ERROR_INPUT, "%s: has no certificate", path);
    strftime(date, 32, "%Y-%m-%d", gmtime_r(now < from ? &from : &until, &parts));
    if (now < from)
        return pm_fail(error, PM_ERROR_INPUT, "%s: is not valid before %s", path, date);
    return now <= until || pm_fail(error, PM_ERROR_INPUT, "%s: ended on %s", path, date);
}

static bool reload_certificate(struct pm_service *service)
{
    struct pm_credentials *read, *before;
    struct pm_error error;
    char date[32];
    if (!service->certificate_file)
        return true;
    read = pm_credentials_load(service->certificate_file, service->key_file, &error);
    if (!read || !is_valid(read, service->certificate_file, date, &error)) {
        pm_credentials_drop(read);
        pm_log_error(service->log, "%s. The certificate that was read before stays", error.message);
        return false;
    }
    pthread_mutex_lock(&service->mutex);
    before = service->credentials;
    service->credentials = read;
    pthread_mutex_unlock(&service->mutex);
    pm_credentials_drop(before);
    pm_log_info(service->log, "%s: valid until %s; who connects from now on sees it",
                service->certificate_file, date);
    return true;
}

bool pm_service_reload(struct pm_service *service)
{
    const bool uploaders = reload_tokens(service, &service->uploaders, service->token_file);
    const bool readers = reload_tokens(service, &service->readers, service->dashboard_token_file);
    return reload_certificate(service) && uploaders && readers;
}
