/*
 * What the service shows of itself over TLS. libmicrohttpd knows one certificate, that of its
 * start; so each connection is given the one of its time when it is accepted, before it says
 * anything, and keeps it as long as it lasts.
 *
 * Thread safety: any thread; credentials never change, and are counted by references.
 */
#pragma once

#include "base/error.h"
#include <microhttpd.h>
#include <time.h>

struct pm_credentials; /* a certificate and its key */

/* With one reference. NULL: PM_ERROR_IO, a file cannot be read; PM_ERROR_INPUT: they are not what
 * they should be, or do not belong together. The message names the files. */
struct pm_credentials *pm_credentials_load(const char *certificate_file, const char *key_file,
                                           struct pm_error *error);
/* The same from PEM texts, which are copied. */
struct pm_credentials *pm_credentials_make(const char *certificate, const char *key,
                                           struct pm_error *error);
/* Any thread. NULL is allowed. */
struct pm_credentials *pm_credentials_share(struct pm_credentials *credentials);
void pm_credentials_drop(struct pm_credentials *credentials);
/* PEM, as long as there is a reference. */
const char *pm_credentials_certificate(const struct pm_credentials *credentials);
const char *pm_credentials_key(const struct pm_credentials *credentials);
/* When certificate `i` of the chain, the server's own first, is valid: false: there are no more. */
bool pm_credentials_dates(const struct pm_credentials *credentials, unsigned i, time_t *from,
                          time_t *until);
/* What a connection that was just accepted shall show. */
void pm_credentials_use(const struct pm_credentials *credentials,
                        struct MHD_Connection *connection);
