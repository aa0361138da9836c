/*
 * Bearer tokens (RFC 6750). Only digests are kept and compared, all of them and in full, so that
 * neither the length of a token nor how much of it was right can be told from the time it takes.
 */
#include "aggregator/service_private.h"

#include "base/file.h"
#include <blake2.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_CAP ((size_t)1 << 20)

static bool add_token(struct pm_tokens *tokens, const char *token, size_t length)
{
    uint8_t(*digests)[PM_TOKEN_DIGEST_BYTES] =
        realloc(tokens->digests, (tokens->count + 1) * sizeof(*digests));
    if (!digests)
        return false;
    tokens->digests = digests;
    if (blake2b(digests[tokens->count], token, NULL, PM_TOKEN_DIGEST_BYTES, length, 0) != 0)
        return false;
    tokens->count++;
    return true;
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
    if (done && tokens->count == 0)
        return pm_fail(error, PM_ERROR_INPUT, "%s: has no token, so nobody would be let in", path);
    return done;
}

bool pm_tokens_allow(const struct pm_tokens *tokens, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    uint8_t digest[PM_TOKEN_DIGEST_BYTES], nearest = 0xff;
    if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
        return false;
    const char *token = authorization + strlen(scheme);
    if (blake2b(digest, token, NULL, sizeof(digest), strlen(token), 0) != 0)
        return false;
    for (size_t i = 0; i < tokens->count; i++) {
        uint8_t difference = 0;
        for (size_t j = 0; j < sizeof(digest); j++)
            difference |= (uint8_t)(digest[j] ^ tokens->digests[i][j]);
        nearest &= (uint8_t)((difference | -difference) >> 8); /* 0 only for equal ones */
    }
    return nearest == 0;
}
