/* Is a service's configuration as it should be? (service.h) */
#include "aggregator/service_private.h"

#include "base/file.h"
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PEM_CAP ((size_t)1 << 20)
#define SECONDS_A_DAY 86400
#define RENEWAL_DAYS 14 /* a certificate that ends sooner is warned of */
#define MOST_CERTIFICATES 16

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
    struct pm_tokens tokens = {0};
    struct pm_error error = {0};
    if (!path) {
        SAY(check, PM_FINDING_WARNING, "%s: none is given, so %s", name, without);
        return;
    }
    if (pm_tokens_load(&tokens, path, &error))
        SAY(check, PM_FINDING_OK, "%s: %s has %zu tokens", name, path, tokens.count);
    else
        SAY(check, PM_FINDING_ERROR, "%s: %s", name, error.message);
    check_mode(check, path);
    free(tokens.digests);
}

static void check_tokens(const struct check *check)
{
    const struct pm_service_info *info = check->info;
    check_token_file(check, "token_file", info->token_file, "anybody may upload");
    check_token_file(check, "dashboard_token_file", info->dashboard_token_file,
                     "only this machine may see the dashboard, if any may");
}

/* ---- TLS ---- */

static bool read_pem(const char *path, struct pm_buffer *text, gnutls_datum_t *datum,
                     struct pm_error *error)
{
    pm_buffer_init(text, PEM_CAP);
    if (!pm_file_read(path, text, error))
        return false;
    if (text->size == 0)
        return pm_fail(error, PM_ERROR_INPUT, "%s: is empty", path);
    *datum = (gnutls_datum_t){text->data, (unsigned)text->size};
    return true;
}

static void check_dates(const struct check *check, const gnutls_datum_t *pem)
{
    gnutls_x509_crt_t certificates[MOST_CERTIFICATES];
    unsigned count = MOST_CERTIFICATES;
    const char *path = check->info->certificate_file;
    if (gnutls_x509_crt_list_import(certificates, &count, pem, GNUTLS_X509_FMT_PEM, 0) < 0)
        return; /* the caller says why */
    const time_t now = time(NULL);
    for (unsigned i = 0; i < count; i++) {
        const time_t from = gnutls_x509_crt_get_activation_time(certificates[i]);
        const time_t until = gnutls_x509_crt_get_expiration_time(certificates[i]);
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
        gnutls_x509_crt_deinit(certificates[i]);
    }
}

static void check_tls(const struct check *check)
{
    struct pm_buffer certificate = {0}, key = {0};
    gnutls_datum_t certificate_pem, key_pem;
    struct pm_error error = {0};
    gnutls_certificate_credentials_t credentials = NULL;
    if (!check->info->certificate_file || !check->info->key_file)
        return;
    if (!read_pem(check->info->certificate_file, &certificate, &certificate_pem, &error) ||
        !read_pem(check->info->key_file, &key, &key_pem, &error)) {
        SAY(check, PM_FINDING_ERROR, "certificate: %s", error.message);
    } else if (gnutls_certificate_allocate_credentials(&credentials) == 0) {
        const int code = gnutls_certificate_set_x509_key_mem(credentials, &certificate_pem,
                                                             &key_pem, GNUTLS_X509_FMT_PEM);
        if (code < 0)
            SAY(check, PM_FINDING_ERROR, "certificate: %s with key %s: %s",
                check->info->certificate_file, check->info->key_file, gnutls_strerror(code));
        else
            check_dates(check, &certificate_pem);
        gnutls_certificate_free_credentials(credentials);
    }
    check_mode(check, check->info->key_file);
    if (key.data)
        explicit_bzero(key.data, key.size);
    pm_buffer_finish(&key);
    pm_buffer_finish(&certificate);
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
