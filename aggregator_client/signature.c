#include "aggregator_client/signature.h"

#include "base/file.h"
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <string.h>

#define KEY_CAP ((size_t)1 << 16)

static bool fail(struct pm_error *error, const char *key_file, const char *what, int code)
{
    return pm_fail(error, PM_ERROR_INPUT, "%s: %s (%s)", key_file, what, gnutls_strerror(code));
}

static bool make(const char *key_file, const struct pm_buffer *pem, const gnutls_datum_t *data,
                 uint8_t signature[static PM_SIGNATURE_BYTES], struct pm_error *error)
{
    const gnutls_datum_t text = {pem->data, (unsigned)pem->size};
    gnutls_datum_t made = {0};
    gnutls_privkey_t key;
    int code = gnutls_privkey_init(&key);
    if (code < 0)
        return fail(error, key_file, "no memory for a key", code);
    code = gnutls_privkey_import_x509_raw(key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code >= 0 && gnutls_privkey_get_pk_algorithm(key, NULL) != GNUTLS_PK_EDDSA_ED25519)
        code = GNUTLS_E_UNSUPPORTED_SIGNATURE_ALGORITHM;
    bool done = code >= 0 || fail(error, key_file, "is no private Ed25519 key in PEM", code);
    if (done) {
        code = gnutls_privkey_sign_data2(key, GNUTLS_SIGN_EDDSA_ED25519, 0, data, &made);
        done = (code >= 0 && made.size == PM_SIGNATURE_BYTES) ||
               fail(error, key_file, "cannot sign with it", code);
    }
    if (done)
        memcpy(signature, made.data, PM_SIGNATURE_BYTES);
    gnutls_free(made.data);
    gnutls_privkey_deinit(key);
    return done;
}

bool pm_signature_make(const char *key_file, const void *data, size_t size,
                       uint8_t signature[static PM_SIGNATURE_BYTES], struct pm_error *error)
{
    const gnutls_datum_t signed_data = {(void *)(uintptr_t)data, (unsigned)size};
    struct pm_buffer pem;
    pm_buffer_init(&pem, KEY_CAP);
    const bool done =
        pm_file_read(key_file, &pem, error) && make(key_file, &pem, &signed_data, signature, error);
    if (pem.data)
        explicit_bzero(pem.data, pem.size);
    pm_buffer_finish(&pem);
    return done;
}

static bool check(const char *key_file, const struct pm_buffer *pem, const gnutls_datum_t *data,
                  const gnutls_datum_t *signature, struct pm_error *error)
{
    const gnutls_datum_t text = {pem->data, (unsigned)pem->size};
    gnutls_pubkey_t key;
    int code = gnutls_pubkey_init(&key);
    if (code < 0)
        return fail(error, key_file, "no memory for a key", code);
    code = gnutls_pubkey_import(key, &text, GNUTLS_X509_FMT_PEM);
    bool done = code >= 0 || fail(error, key_file, "is no public key in PEM", code);
    if (done) {
        code = gnutls_pubkey_verify_data2(key, GNUTLS_SIGN_EDDSA_ED25519, 0, data, signature);
        done = code >= 0 || fail(error, key_file, "it is not signed with this key", code);
    }
    gnutls_pubkey_deinit(key);
    return done;
}

bool pm_signature_check(const char *key_file, const void *data, size_t size,
                        const uint8_t signature[static PM_SIGNATURE_BYTES], struct pm_error *error)
{
    const gnutls_datum_t signed_data = {(void *)(uintptr_t)data, (unsigned)size};
    const gnutls_datum_t made = {(void *)(uintptr_t)signature, PM_SIGNATURE_BYTES};
    struct pm_buffer pem;
    pm_buffer_init(&pem, KEY_CAP);
    const bool done =
        pm_file_read(key_file, &pem, error) && check(key_file, &pem, &signed_data, &made, error);
    pm_buffer_finish(&pem);
    return done;
}
