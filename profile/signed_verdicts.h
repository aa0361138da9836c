/*
 * An operator's verdicts on specialized shaders, which clients believe without a trial of their own
 * (docs/statistics.md, Whom it believes). A text file for each game, detached from its database:
 *
 *     piecemeal verdicts 1
 *     game NAME
 *     serial N
 *     expires SECONDS
 *     faster KEY SUBGROUP VENDOR DEVICE DRIVER VERSION
 *     slower KEY …
 *     signature HEX
 *
 * Serial: a later file has a greater one, and an earlier one is never taken again. Expires: since
 * the epoch. A verdict is of a specialized shader's key in an environment (numbers are decimal).
 * The signature is Ed25519's (RFC 8032), 128 hexadecimal digits, of all bytes before its line.
 * Whoever reads such a file checks it (aggregator_client/signature.h), or has it from somebody who
 * did.
 *
 * Thread safety: a struct is read-only once it was read.
 */
#pragma once

#include "profile/profile.h"

#define PM_SIGNATURE_BYTES 64
#define PM_SIGNED_VERDICTS_BYTES ((size_t)8 << 20) /* the longest file */

struct pm_signed_verdict {
    struct pm_shader_key key;
    struct pm_environment environment;
    bool faster; /* else it is slower */
};

struct pm_signed_verdicts {
    const char *game; /* the arena's */
    uint64_t serial;
    uint64_t expires;                         /* seconds since the epoch */
    const struct pm_signed_verdict *verdicts; /* the arena's; sorted by key and environment */
    size_t count;
    uint8_t signature[PM_SIGNATURE_BYTES];
    size_t signed_bytes; /* of the text, from its beginning */
};

/* Appends all but the signature. */
bool pm_signed_verdicts_write(const struct pm_signed_verdicts *verdicts, struct pm_buffer *out,
                              struct pm_error *error);
/* Appends the line of the signature. */
bool pm_signed_verdicts_close(struct pm_buffer *out,
                              const uint8_t signature[static PM_SIGNATURE_BYTES],
                              struct pm_error *error);
/* PM_ERROR_INPUT: "line 7: what is wrong". The signature is not checked. */
bool pm_signed_verdicts_read(const char *text, size_t size, struct pm_arena *arena,
                             struct pm_signed_verdicts *verdicts, struct pm_error *error);
/* NULL: there is none, or they have ended by `now` (seconds since the epoch). */
const struct pm_signed_verdict *pm_signed_verdicts_find(const struct pm_signed_verdicts *verdicts,
                                                        const struct pm_shader_key *key,
                                                        const struct pm_environment *environment,
                                                        uint64_t now);
