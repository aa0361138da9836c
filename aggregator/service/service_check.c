/* Is a service's configuration as it should be? (service.h) */
#include "aggregator/service/service_listen.h"
#include "aggregator/service/service_tls.h"
#include "aggregator/service/service_tokens.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_A_DAY 86400
#define RENEWAL_DAYS 14 /* a certificate that ends sooner is warned of */

struct check {
    const struct pm_service_info *info;
    pm_check_report report;
    void *user;
};

#define SAY(check, finding, ...) pm_check_say((check)->report, (check)->user, finding, __VA_ARGS__)

/* What is secret is for its owner. */
static void check_mode(const struct check *check, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && (status.st_mode & (S_IRWXO | S_IWGRP)) != 0)
        SAY(check, PM_FINDING_WARNING, "%s: others may use it (mode %03o); `chmod o=,g-w` it", path,
            (unsigned)status.st_mode & 0777);
}

static void check_token_file(const struct check *check, const char *name, const char *path,
                             const char *without)
{
    struct pm_token_list tokens;
    struct pm_error error = {0};
    if (!path) {
        SAY(check, PM_FINDING_WARNING, "%s: none is given, so %s", name, without);
        return;
    }
    if (pm_token_list_load(&tokens, path, &error))
        SAY(check, PM_FINDING_OK, "%s: %s has %zu tokens", name, path, tokens.count);
    else
        SAY(check, PM_FINDING_ERROR, "%s: %s", name, error.message);
    check_mode(check, path);
    pm_token_list_finish(&tokens);
}

static void check_tokens(const struct check *check)
{
    const struct pm_service_info *info = check->info;
    check_token_file(check, "token_file", info->token_file, "anybody may upload");
    check_token_file(check, "dashboard_token_file", info->dashboard_token_file,
                     "only this machine may see the dashboard, if any may");
}

/* ---- TLS ---- */

static void check_dates(const struct check *check, const struct pm_credentials *credentials)
{
    const char *path = check->info->certificate_file;
    const time_t now = time(NULL);
    time_t from, until;
    for (unsigned i = 0; pm_credentials_dates(credentials, i, &from, &until); i++) {
        char date[32] = "";
        struct tm parts;
        strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(now < from ? &from : &until, &parts));
        if (now < from)
            SAY(check, PM_FINDING_ERROR, "certificate: %s: number %u is not valid before %s", path,
                i + 1, date);
        else if (now > until)
            SAY(check, PM_FINDING_ERROR, "certificate: %s: number %u ended on %s: renew it", path,
                i + 1, date);
        else if (until - now < (time_t)RENEWAL_DAYS * SECONDS_A_DAY)
            SAY(check, PM_FINDING_WARNING, "certificate: %s: number %u ends on %s: renew it", path,
                i + 1, date);
        else
            SAY(check, PM_FINDING_OK, "certificate: %s: number %u is valid until %s", path, i + 1,
                date);
    }
}

static void check_tls(const struct check *check)
{
    struct pm_error error = {0};
    if (!check->info->certificate_file || !check->info->key_file)
        return;
    struct pm_credentials *credentials =
        pm_credentials_load(check->info->certificate_file, check->info->key_file, &error);
    if (credentials)
        check_dates(check, credentials);
    else
        SAY(check, PM_FINDING_ERROR, "certificate: %s", error.message);
    check_mode(check, check->info->key_file);
    pm_credentials_drop(credentials);
}

/* ---- the address ---- */

static void check_address(const struct check *check)
{
    const char *address = check->info->address ? check->info->address : "127.0.0.1";
    struct pm_error error = {0};
    const int fd = pm_service_listen(check->info, &error);
    if (fd >= 0) {
        SAY(check, PM_FINDING_OK, "address: %s port %u can be listened on", address,
            check->info->port);
        close(fd);
    } else if (error.code == PM_ERROR_STATE) {
        SAY(check, PM_FINDING_WARNING,
            "address: %s port %u is taken; fine if it is by the server that runs", address,
            check->info->port);
    } else {
        SAY(check, PM_FINDING_ERROR, "address: %s", error.message);
    }
    if (!check->info->certificate_file && strcmp(address, "127.0.0.1") != 0 &&
        strcmp(address, "::1") != 0)
        SAY(check, PM_FINDING_WARNING,
            "address: %s is served without TLS: tokens can be read on the way", address);
}

void pm_service_check(const struct pm_service_info *info, pm_check_report report, void *user)
{
    const struct check check = {info, report, user};
    check_address(&check);
    check_tls(&check);
    check_tokens(&check);
}
