/*
 * A certificate for trials: for this machine alone, made when asked for, with a key that is in
 * memory only.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/error.h"

struct pm_dev_tls {
    char *certificate, *key; /* PEM; malloc'ed */
    char fingerprint[96];    /* SHA-256 of the certificate, "AB:CD:…" */
};

/* Signed by itself, good for 30 days, for localhost, 127.0.0.1, ::1, this host's name and the
 * address (numeric; NULL: none). path: takes the certificate, which clients are then told to trust;
 * a file that is there is replaced. */
bool pm_dev_tls_create(struct pm_dev_tls *tls, const char *address, const char *path,
                       struct pm_error *error);
void pm_dev_tls_finish(struct pm_dev_tls *tls);
