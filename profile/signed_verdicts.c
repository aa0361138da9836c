#include "profile/signed_verdicts.h"

#include "base/name.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "piecemeal verdicts 1";

bool pm_signed_verdicts_write(const struct pm_signed_verdicts *verdicts, struct pm_buffer *out,
                              struct pm_error *error)
{
    if (!pm_game_check(verdicts->game, "game", PM_NAME_BYTES, error))
        return false;
    bool done = pm_buffer_printf(out, "%s\ngame %s\nserial %" PRIu64 "\nexpires %" PRIu64 "\n",
                                 head, verdicts->game, verdicts->serial, verdicts->expires);
    for (size_t i = 0; done && i < verdicts->count; i++) {
        const struct pm_signed_verdict *one = &verdicts->verdicts[i];
        const struct pm_environment *at = &one->environment;
        char key[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&one->key, key);
        done = pm_buffer_printf(out, "%s %s %u %u %u %u %u\n", one->faster ? "faster" : "slower",
                                key, at->subgroup_size, at->vendor_id, at->device_id, at->driver_id,
                                at->driver_version);
    }
    return done || pm_fail(error, PM_ERROR_LIMIT, "more verdicts than %zu bytes hold", out->cap);
}

bool pm_signed_verdicts_close(struct pm_buffer *out,
                              const uint8_t signature[static PM_SIGNATURE_BYTES],
                              struct pm_error *error)
{
    bool done = pm_buffer_append_string(out, "signature ");
    for (size_t i = 0; done && i < PM_SIGNATURE_BYTES; i++)
        done = pm_buffer_printf(out, "%02x", signature[i]);
    return (done && pm_buffer_append_string(out, "\n")) ||
           pm_fail(error, PM_ERROR_LIMIT, "more verdicts than %zu bytes hold", out->cap);
}

/* ---- reading ---- */

struct reader {
    const char *text;
    size_t size, at, line;
    const char *start; /* of the line that was read last; not terminated */
    size_t length;
};

static bool next_line(struct reader *reader)
{
    if (reader->at >= reader->size)
        return false;
    const char *end = memchr(reader->text + reader->at, '\n', reader->size - reader->at);
    if (!end)
        return false;
    reader->start = reader->text + reader->at;
    reader->length = (size_t)(end - reader->start);
    reader->at += reader->length + 1;
    reader->line++;
    return true;
}

/* What follows the word and a space in the line; NULL: it begins otherwise. */
static char *rest_of(const struct reader *reader, const char *word, struct pm_arena *arena)
{
    const size_t length = strlen(word);
    if (reader->length <= length + 1 || memcmp(reader->start, word, length) != 0 ||
        reader->start[length] != ' ' || memchr(reader->start, 0, reader->length))
        return NULL;
    const size_t rest = reader->length - length - 1;
    char *copy = pm_arena_alloc(arena, rest + 1);
    if (copy) {
        memcpy(copy, reader->start + length + 1, rest);
        copy[rest] = 0;
    }
    return copy;
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 20;
}

static bool take_number(struct reader *reader, const char *word, struct pm_arena *arena,
                        uint64_t *value)
{
    const char *text = next_line(reader) ? rest_of(reader, word, arena) : NULL;
    if (!text || !is_number(text))
        return false;
    *value = strtoull(text, NULL, 10);
    return true;
}

static bool take_verdict(const char *text, struct pm_signed_verdict *verdict)
{
    char key[PM_SHADER_KEY_TEXT];
    struct pm_environment *at = &verdict->environment;
    int end = 0;
    return sscanf(text, "%48s %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32 "%n", key,
                  &at->subgroup_size, &at->vendor_id, &at->device_id, &at->driver_id,
                  &at->driver_version, &end) == 6 &&
           text[end] == 0 && pm_shader_key_parse(key, &verdict->key);
}

static int compare(const void *a, const void *b)
{
    const struct pm_signed_verdict *left = a, *right = b;
    const int order = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    return order != 0 ? order
                      : memcmp(&left->environment, &right->environment, sizeof(left->environment));
}

static bool take_signature(const char *text, uint8_t out[static PM_SIGNATURE_BYTES])
{
    if (strlen(text) != (size_t)2 * PM_SIGNATURE_BYTES ||
        strspn(text, "0123456789abcdef") != (size_t)2 * PM_SIGNATURE_BYTES)
        return false;
    for (size_t i = 0; i < PM_SIGNATURE_BYTES; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return true;
}

static bool take_body(struct reader *reader, struct pm_arena *arena,
                      struct pm_signed_verdicts *verdicts)
{
    /* No verdict is shorter. */
    const size_t most = (reader->size - reader->at) / PM_SHADER_KEY_TEXT + 1;
    struct pm_signed_verdict *all = pm_arena_zalloc(arena, most, sizeof(*all));
    const char *text;
    verdicts->verdicts = all;
    for (verdicts->signed_bytes = reader->at; all && next_line(reader);
         verdicts->signed_bytes = reader->at) {
        if ((text = rest_of(reader, "signature", arena)))
            return reader->at == reader->size && take_signature(text, verdicts->signature);
        struct pm_signed_verdict *one = &all[verdicts->count];
        one->faster = reader->length > 0 && reader->start[0] == 'f';
        text = rest_of(reader, one->faster ? "faster" : "slower", arena);
        if (verdicts->count == most || !text || !take_verdict(text, one))
            return false;
        verdicts->count++;
    }
    return false;
}

bool pm_signed_verdicts_read(const char *text, size_t size, struct pm_arena *arena,
                             struct pm_signed_verdicts *verdicts, struct pm_error *error)
{
    struct reader reader = {.text = text, .size = size};
    *verdicts = (struct pm_signed_verdicts){0};
    const bool done = next_line(&reader) && reader.length == strlen(head) &&
                      memcmp(reader.start, head, reader.length) == 0 && next_line(&reader) &&
                      (verdicts->game = rest_of(&reader, "game", arena)) != NULL &&
                      pm_game_check(verdicts->game, "game", PM_NAME_BYTES, NULL) &&
                      take_number(&reader, "serial", arena, &verdicts->serial) &&
                      take_number(&reader, "expires", arena, &verdicts->expires) &&
                      take_body(&reader, arena, verdicts);
    if (!done)
        return pm_fail(error, PM_ERROR_INPUT, "line %zu: is not as in a file of verdicts",
                       reader.line ? reader.line : 1);
    qsort((void *)(uintptr_t)verdicts->verdicts, verdicts->count, sizeof(*verdicts->verdicts),
          compare);
    return true;
}

const struct pm_signed_verdict *pm_signed_verdicts_find(const struct pm_signed_verdicts *verdicts,
                                                        const struct pm_shader_key *key,
                                                        const struct pm_environment *environment,
                                                        uint64_t now)
{
    const struct pm_signed_verdict name = {.key = *key, .environment = *environment};
    return verdicts->count > 0 && now < verdicts->expires
               ? bsearch(&name, verdicts->verdicts, verdicts->count, sizeof(name), compare)
               : NULL;
}
