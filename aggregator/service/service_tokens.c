#include "aggregator/service/service_tokens.h"

#include "base/file.h"
#include <blake2.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_CAP ((size_t)256 << 20) /* some millions of tokens */
#define TOKENS_LEAST 64

static bool add_token(struct pm_token_list *list, const char *token, size_t length, bool fleet)
{
    if (list->count == list->room) {
        const size_t room = list->room ? list->room * 2 : TOKENS_LEAST;
        struct pm_token *tokens = reallocarray(list->tokens, room, sizeof(*tokens));
        if (!tokens)
            return false;
        list->tokens = tokens;
        list->room = room;
    }
    struct pm_token *added = &list->tokens[list->count];
    if (blake2b(added->digest, token, NULL, PM_TOKEN_DIGEST_BYTES, length, 0) != 0)
        return false;
    added->fleet = fleet;
    list->count++;
    return true;
}

/* Could it be in a header? */
static bool is_token(const char *token, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (token[i] <= ' ' || token[i] > '~')
            return false;
    }
    return true;
}

static int compare_digests(const void *a, const void *b)
{
    const struct pm_token *left = a, *right = b;
    return memcmp(left->digest, right->digest, PM_TOKEN_DIGEST_BYTES);
}

/* Is there the word behind the token? Then *length is the token's. */
static bool take_fleet(const char *line, size_t *length)
{
    static const char word[] = "fleet";
    const size_t size = sizeof(word) - 1;
    if (*length <= size || memcmp(line + *length - size, word, size) != 0 ||
        !isspace((unsigned char)line[*length - size - 1]))
        return false;
    *length -= size;
    while (*length > 0 && isspace((unsigned char)line[*length - 1]))
        --*length;
    return true;
}

/* One line, without its end; number: of the line. */
static bool read_line(struct pm_token_list *list, const char *path, size_t number, const char *line,
                      size_t length, struct pm_error *error)
{
    while (length > 0 && isspace((unsigned char)*line)) {
        line++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)line[length - 1]))
        length--;
    if (length == 0 || line[0] == '#')
        return true;
    const bool fleet = take_fleet(line, &length);
    if (!is_token(line, length))
        return pm_fail(error, PM_ERROR_INPUT,
                       "%s:%zu: a token is of visible ASCII characters without spaces, and "
                       "nothing but the word fleet may be behind it",
                       path, number);
    return add_token(list, line, length, fleet) ||
           pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for its tokens", path);
}

bool pm_token_list_load(struct pm_token_list *list, const char *path, struct pm_error *error)
{
    struct pm_buffer text;
    size_t number = 1;
    *list = (struct pm_token_list){0};
    pm_buffer_init(&text, FILE_CAP);
    bool done = pm_file_read(path, &text, error);
    for (size_t at = 0; done && at < text.size; number++) {
        const char *line = (const char *)text.data + at;
        const char *end = memchr(line, '\n', text.size - at);
        const size_t length = end ? (size_t)(end - line) : text.size - at;
        done = read_line(list, path, number, line, length, error);
        at += length + 1;
    }
    if (text.data)
        explicit_bzero(text.data, text.size);
    pm_buffer_finish(&text);
    if (done && list->count == 0)
        done = pm_fail(error, PM_ERROR_INPUT, "%s: has no token, so nobody would be let in", path);
    if (done)
        qsort(list->tokens, list->count, sizeof(*list->tokens), compare_digests);
    else
        pm_token_list_finish(list);
    return done;
}

void pm_token_list_finish(struct pm_token_list *list)
{
    free(list->tokens);
    *list = (struct pm_token_list){0};
}

static const struct pm_token *find(const struct pm_token_list *list,
                                   const uint8_t digest[PM_TOKEN_DIGEST_BYTES])
{
    struct pm_token wanted;
    memcpy(wanted.digest, digest, sizeof(wanted.digest));
    return list->count > 0
               ? bsearch(&wanted, list->tokens, list->count, sizeof(*list->tokens), compare_digests)
               : NULL;
}

/* Of the tokens of one, how many the other has not. */
static size_t missing(const struct pm_token_list *one, const struct pm_token_list *other)
{
    size_t count = 0;
    for (size_t i = 0; i < one->count; i++)
        count += !find(other, one->tokens[i].digest);
    return count;
}

/* ---- those in use ---- */

void pm_tokens_init(struct pm_tokens *tokens)
{
    *tokens = (struct pm_tokens){0};
    pthread_mutex_init(&tokens->mutex, NULL);
}

void pm_tokens_finish(struct pm_tokens *tokens)
{
    pm_token_list_finish(&tokens->list);
    pthread_mutex_destroy(&tokens->mutex);
}

bool pm_tokens_read(struct pm_tokens *tokens, const char *path, struct pm_tokens_changed *changed,
                    struct pm_error *error)
{
    struct pm_token_list list, before;
    if (!pm_token_list_load(&list, path, error))
        return false;
    /* Only this thread changes it, so that it may be read without the lock. */
    *changed = (struct pm_tokens_changed){.count = list.count,
                                          .added = missing(&list, &tokens->list),
                                          .gone = missing(&tokens->list, &list)};
    pthread_mutex_lock(&tokens->mutex);
    before = tokens->list;
    tokens->list = list;
    pthread_mutex_unlock(&tokens->mutex);
    pm_token_list_finish(&before);
    return true;
}

bool pm_tokens_digest(const char *authorization, uint8_t digest[static PM_TOKEN_DIGEST_BYTES])
{
    static const char scheme[] = "Bearer ";
    if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
        return false;
    const char *token = authorization + strlen(scheme);
    return blake2b(digest, token, NULL, PM_TOKEN_DIGEST_BYTES, strlen(token), 0) == 0;
}

bool pm_tokens_allow(struct pm_tokens *tokens, const char *authorization)
{
    uint8_t digest[PM_TOKEN_DIGEST_BYTES];
    if (!pm_tokens_digest(authorization, digest))
        return false;
    pthread_mutex_lock(&tokens->mutex);
    const bool allowed = find(&tokens->list, digest) != NULL;
    pthread_mutex_unlock(&tokens->mutex);
    return allowed;
}

bool pm_tokens_is_fleet(struct pm_tokens *tokens,
                        const uint8_t digest[static PM_TOKEN_DIGEST_BYTES])
{
    pthread_mutex_lock(&tokens->mutex);
    const struct pm_token *token = find(&tokens->list, digest);
    const bool fleet = token && token->fleet;
    pthread_mutex_unlock(&tokens->mutex);
    return fleet;
}
