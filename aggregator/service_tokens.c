/*
 * Bearer tokens (RFC 6750). Only digests are kept, sorted, and looked up: how long that takes tells
 * something of a digest, from which nothing of a token follows.
 */
#include "aggregator/service_private.h"

#include "base/file.h"
#include <blake2.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_CAP ((size_t)256 << 20) /* some millions of tokens */
#define TOKENS_LEAST 64

static bool add_token(struct pm_tokens *tokens, const char *token, size_t length)
{
    if (tokens->count == tokens->room) {
        const size_t room = tokens->room ? tokens->room * 2 : TOKENS_LEAST;
        uint8_t(*digests)[PM_TOKEN_DIGEST_BYTES] =
            realloc(tokens->digests, room * sizeof(*digests));
        if (!digests)
            return false;
        tokens->digests = digests;
        tokens->room = room;
    }
    if (blake2b(tokens->digests[tokens->count], token, NULL, PM_TOKEN_DIGEST_BYTES, length, 0) != 0)
        return false;
    tokens->count++;
    return true;
}

static int compare_digests(const void *a, const void *b)
{
    return memcmp(a, b, PM_TOKEN_DIGEST_BYTES);
}

bool pm_tokens_load(struct pm_tokens *tokens, const char *path, struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, FILE_CAP);
    bool done = pm_file_read(path, &text, error);
    char *rest = (char *)text.data, *line;
    while (done && rest && (line = strsep(&rest, "\n"))) {
        while (isspace((unsigned char)*line))
            line++;
        size_t length = strlen(line);
        while (length > 0 && isspace((unsigned char)line[length - 1]))
            length--;
        if (length == 0 || line[0] == '#')
            continue;
        if (!add_token(tokens, line, length))
            done = pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for its tokens", path);
    }
    if (text.data)
        explicit_bzero(text.data, text.size);
    pm_buffer_finish(&text);
    if (tokens->count > 0)
        qsort(tokens->digests, tokens->count, sizeof(*tokens->digests), compare_digests);
    if (done && tokens->count == 0)
        return pm_fail(error, PM_ERROR_INPUT, "%s: has no token, so nobody would be let in", path);
    return done;
}

bool pm_tokens_digest(const char *authorization, uint8_t digest[static PM_TOKEN_DIGEST_BYTES])
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
        return false;
    const char *token = authorization + strlen(scheme);
    return blake2b(digest, token, NULL, PM_TOKEN_DIGEST_BYTES, strlen(token), 0) == 0;
}

bool pm_tokens_allow(const struct pm_tokens *tokens, const char *authorization)
{
    uint8_t digest[PM_TOKEN_DIGEST_BYTES];
    return tokens->count > 0 && pm_tokens_digest(authorization, digest) &&
           bsearch(digest, tokens->digests, tokens->count, sizeof(*tokens->digests),
                   compare_digests) != NULL;
}
