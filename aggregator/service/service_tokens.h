/*
 * Bearer tokens (RFC 6750). Only digests are kept, sorted, and looked up: how long that takes tells
 * something of a digest, from which nothing of a token follows. A file that changed is read into a
 * list of its own, which then takes the place of the one in use.
 *
 * Thread safety: a list belongs to one thread; of those in use, any thread asks and one reads.
 */
#pragma once

#include "base/error.h"
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define PM_TOKEN_DIGEST_BYTES 32

struct pm_token {
    uint8_t digest[PM_TOKEN_DIGEST_BYTES];
    bool fleet; /* as in struct pm_ingest_source */
};

/* Bearer tokens, sorted by their digests. */
struct pm_token_list {
    struct pm_token *tokens;
    size_t count, room;
};

/* Those that are in use. */
struct pm_tokens {
    bool asked; /* else nobody needs one; set before the service serves */
    pthread_mutex_t mutex;
    struct pm_token_list list; /* under the mutex */
};

/* One a line, with " fleet" behind those of a fleet; a bad line is named as "path:line". On failure
 * the list is empty. */
bool pm_token_list_load(struct pm_token_list *list, const char *path, struct pm_error *error);
void pm_token_list_finish(struct pm_token_list *list);

void pm_tokens_init(struct pm_tokens *tokens);
void pm_tokens_finish(struct pm_tokens *tokens);
struct pm_tokens_changed {
    size_t count, added, gone;
};
/* Those of the file are the ones in use from now on; on failure those before stay. One thread at a
 * time. */
bool pm_tokens_read(struct pm_tokens *tokens, const char *path, struct pm_tokens_changed *changed,
                    struct pm_error *error);
/* authorization: the header's value, or NULL. false: it has no bearer token. */
bool pm_tokens_digest(const char *authorization, uint8_t digest[static PM_TOKEN_DIGEST_BYTES]);
bool pm_tokens_allow(struct pm_tokens *tokens, const char *authorization);
bool pm_tokens_is_fleet(struct pm_tokens *tokens,
                        const uint8_t digest[static PM_TOKEN_DIGEST_BYTES]);
