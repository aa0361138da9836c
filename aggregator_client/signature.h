/*
 * Ed25519 signatures (RFC 8032) with keys in PEM, as `openssl genpkey -algorithm ed25519` makes
 * them and `openssl pkey -pubout` prints the public part of them.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/signed_verdicts.h"

/* key_file: the private key. */
bool pm_signature_make(const char *key_file, const void *data, size_t size,
                       uint8_t signature[static PM_SIGNATURE_BYTES], struct pm_error *error);

/* key_file: the public key. PM_ERROR_INPUT: it is not the signature of that, or no such key. */
bool pm_signature_check(const char *key_file, const void *data, size_t size,
                        const uint8_t signature[static PM_SIGNATURE_BYTES], struct pm_error *error);
