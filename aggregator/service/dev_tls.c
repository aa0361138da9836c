#include "aggregator/service/dev_tls.h"

#include "base/file.h"
#include "base/random.h"
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DAYS 30
#define SECONDS_A_DAY 86400
#define SERIAL_BYTES 16

static bool failed(int code, struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_STATE, "cannot make a certificate: %s", gnutls_strerror(code));
}

static int add_address(gnutls_x509_crt_t certificate, const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    unsigned size = sizeof(struct in_addr);
    if (inet_pton(AF_INET, text, bytes) != 1) {
        size = sizeof(struct in6_addr);
        if (inet_pton(AF_INET6, text, bytes) != 1)
            return GNUTLS_E_SUCCESS; /* no address: nothing that could be named */
    }
    return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, bytes, size,
                                                GNUTLS_FSAN_APPEND);
}

static int add_name(gnutls_x509_crt_t certificate, const char *name)
{
    return gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME, name,
                                                (unsigned)strlen(name), GNUTLS_FSAN_APPEND);
}

/* Everything but the signature; a GnuTLS code. */
static int fill(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const char *address)
{
    static const char name[] = "piecemeal serve --dev-tls";
    const time_t now = time(NULL);
    char host[256] = "";
    unsigned char serial[SERIAL_BYTES];
    if (!pm_random_system(serial, sizeof(serial)))
        return GNUTLS_E_RANDOM_FAILED;
    serial[0] &= 0x7f; /* positive */
    if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == 0)
        snprintf(host, sizeof(host), "localhost");
    const int codes[] = {
        gnutls_x509_crt_set_version(certificate, 3),
        gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial)),
        gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                      (unsigned)strlen(name)),
        gnutls_x509_crt_set_activation_time(certificate, now - SECONDS_A_DAY),
        gnutls_x509_crt_set_expiration_time(certificate, now + DAYS * SECONDS_A_DAY),
        gnutls_x509_crt_set_key(certificate, key),
        gnutls_x509_crt_set_basic_constraints(certificate, 1, 0),
        gnutls_x509_crt_set_key_usage(certificate,
                                      GNUTLS_KEY_DIGITAL_SIGNATURE | GNUTLS_KEY_KEY_CERT_SIGN),
        add_name(certificate, "localhost"),
        add_name(certificate, host),
        add_address(certificate, "127.0.0.1"),
        add_address(certificate, "::1"),
        address ? add_address(certificate, address) : GNUTLS_E_SUCCESS,
        gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0),
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        if (codes[i] < 0)
            return codes[i];
    }
    return GNUTLS_E_SUCCESS;
}

static int export(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, struct pm_dev_tls *tls)
{
    gnutls_datum_t text = {0};
    unsigned char digest[32];
    size_t size = sizeof(digest);
    int code = gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text);
    tls->certificate = code < 0 ? NULL : strndup((const char *)text.data, text.size);
    gnutls_free(text.data);
    text = (gnutls_datum_t){0};
    if (code >= 0)
        code = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN,
                                                 &text);
    tls->key = code < 0 ? NULL : strndup((const char *)text.data, text.size);
    if (text.data)
        gnutls_memset(text.data, 0, text.size);
    gnutls_free(text.data);
    if (code >= 0)
        code = gnutls_x509_crt_get_fingerprint(certificate, GNUTLS_DIG_SHA256, digest, &size);
    for (size_t i = 0; code >= 0 && i < size; i++)
        snprintf(tls->fingerprint + 3 * i, 4, "%02X%s", digest[i], i + 1 < size ? ":" : "");
    return code >= 0 && (!tls->certificate || !tls->key) ? GNUTLS_E_MEMORY_ERROR : code;
}

bool pm_dev_tls_create(struct pm_dev_tls *tls, const char *address, const char *path,
                       struct pm_error *error)
{
    gnutls_x509_crt_t certificate = NULL;
    gnutls_x509_privkey_t key = NULL;
    *tls = (struct pm_dev_tls){0};
    int code = gnutls_x509_crt_init(&certificate);
    if (code >= 0)
        code = gnutls_x509_privkey_init(&key);
    if (code >= 0)
        code = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                            GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (code >= 0)
        code = fill(certificate, key, address);
    if (code >= 0)
        code = export(certificate, key, tls);
    if (key)
        gnutls_x509_privkey_deinit(key);
    if (certificate)
        gnutls_x509_crt_deinit(certificate);
    if (code >= 0 ? pm_file_write(path, tls->certificate, strlen(tls->certificate), error)
                  : failed(code, error))
        return true;
    pm_dev_tls_finish(tls);
    return false;
}

void pm_dev_tls_finish(struct pm_dev_tls *tls)
{
    if (tls->key)
        explicit_bzero(tls->key, strlen(tls->key));
    free(tls->key);
    free(tls->certificate);
    *tls = (struct pm_dev_tls){0};
}
