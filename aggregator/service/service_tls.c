#include "aggregator/service/service_tls.h"

#include "base/buffer.h"
#include "base/file.h"
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PEM_CAP ((size_t)1 << 20)

struct pm_credentials {
    atomic_uint references;
    struct pm_buffer certificate, key; /* PEM, with a terminator */
    gnutls_certificate_credentials_t gnutls;
};

static void destroy(struct pm_credentials *credentials)
{
    if (credentials->gnutls)
        gnutls_certificate_free_credentials(credentials->gnutls);
    if (credentials->key.data)
        explicit_bzero(credentials->key.data, credentials->key.size);
    pm_buffer_finish(&credentials->key);
    pm_buffer_finish(&credentials->certificate);
    free(credentials);
}

static struct pm_credentials *create(struct pm_error *error)
{
    struct pm_credentials *credentials = calloc(1, sizeof(*credentials));
    if (!credentials) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a certificate");
        return NULL;
    }
    atomic_init(&credentials->references, 1);
    pm_buffer_init(&credentials->certificate, PEM_CAP);
    pm_buffer_init(&credentials->key, PEM_CAP);
    return credentials;
}

/* Do they belong together? */
static bool understand(struct pm_credentials *credentials, struct pm_error *error)
{
    const gnutls_datum_t certificate = {credentials->certificate.data,
                                        (unsigned)credentials->certificate.size};
    const gnutls_datum_t key = {credentials->key.data, (unsigned)credentials->key.size};
    if (gnutls_certificate_allocate_credentials(&credentials->gnutls) < 0)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a certificate");
    const int code = gnutls_certificate_set_x509_key_mem(credentials->gnutls, &certificate, &key,
                                                         GNUTLS_X509_FMT_PEM);
    const char *why = gnutls_strerror(code);
    return code >= 0 ||
           pm_fail(error, PM_ERROR_INPUT, "%.*s", (int)strcspn(why, "."), why); /* one sentence */
}

static bool read_pem(const char *path, struct pm_buffer *text, struct pm_error *error)
{
    return pm_file_read(path, text, error) &&
           (text->size > 0 || pm_fail(error, PM_ERROR_INPUT, "%s: is empty", path));
}

struct pm_credentials *pm_credentials_load(const char *certificate_file, const char *key_file,
                                           struct pm_error *error)
{
    struct pm_credentials *credentials = create(error);
    if (!credentials)
        return NULL;
    if (read_pem(certificate_file, &credentials->certificate, error) &&
        read_pem(key_file, &credentials->key, error)) {
        if (understand(credentials, error))
            return credentials;
        pm_fail_prefix(error, "%s with key %s", certificate_file, key_file);
    }
    destroy(credentials);
    return NULL;
}

struct pm_credentials *pm_credentials_make(const char *certificate, const char *key,
                                           struct pm_error *error)
{
    struct pm_credentials *credentials = create(error);
    if (!credentials)
        return NULL;
    if (!pm_buffer_append(&credentials->certificate, certificate, strlen(certificate)) ||
        !pm_buffer_append(&credentials->key, key, strlen(key)))
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a certificate");
    else if (understand(credentials, error))
        return credentials;
    destroy(credentials);
    return NULL;
}

struct pm_credentials *pm_credentials_share(struct pm_credentials *credentials)
{
    if (credentials)
        atomic_fetch_add(&credentials->references, 1);
    return credentials;
}

void pm_credentials_drop(struct pm_credentials *credentials)
{
    if (credentials && atomic_fetch_sub(&credentials->references, 1) == 1)
        destroy(credentials);
}

const char *pm_credentials_certificate(const struct pm_credentials *credentials)
{
    return (const char *)credentials->certificate.data;
}

const char *pm_credentials_key(const struct pm_credentials *credentials)
{
    return (const char *)credentials->key.data;
}

bool pm_credentials_dates(const struct pm_credentials *credentials, unsigned i, time_t *from,
                          time_t *until)
{
    gnutls_x509_crt_t *chain = NULL;
    unsigned count = 0;
    if (gnutls_certificate_get_x509_crt(credentials->gnutls, 0, &chain, &count) < 0)
        return false;
    if (i < count) {
        *from = gnutls_x509_crt_get_activation_time(chain[i]);
        *until = gnutls_x509_crt_get_expiration_time(chain[i]);
    }
    for (unsigned j = 0; j < count; j++)
        gnutls_x509_crt_deinit(chain[j]);
    gnutls_free(chain);
    return i < count;
}

void pm_credentials_use(const struct pm_credentials *credentials, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    /* Where this fails, the connection has that of the start. */
    if (info && info->tls_session)
        gnutls_credentials_set(info->tls_session, GNUTLS_CRD_CERTIFICATE, credentials->gnutls);
}
