#include "profile/shader_key.h"
#include <blake2.h>
#include <string.h>

enum { WORDS_AT_ONCE = 256 };

/* Two digests over the same words must never be taken for each other. */
static const char key_domain[] = "piecemeal shader key";
static const char raw_domain[] = "piecemeal raw shader";

static void add_u32(blake2b_state *state, uint32_t value)
{
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    blake2b_update(state, bytes, sizeof(bytes));
}

/* The length first, so that no two sequences of strings run together into the same bytes. */
static void add_string(blake2b_state *state, const char *string)
{
    size_t length = strlen(string);
    add_u32(state, (uint32_t)length);
    blake2b_update(state, (const uint8_t *)string, length);
}

/* Little-endian on every machine. */
static void add_words(blake2b_state *state, const uint32_t *words, size_t count)
{
    while (count > 0) {
        uint8_t bytes[WORDS_AT_ONCE * 4];
        size_t n = count < WORDS_AT_ONCE ? count : WORDS_AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < 4; k++)
                bytes[4 * i + k] = (uint8_t)(words[i] >> (8 * k));
        }
        blake2b_update(state, bytes, 4 * n);
        words += n;
        count -= n;
    }
}

struct pm_shader_key pm_shader_key_compute(const char *recipe, const uint32_t *words, size_t count)
{
    struct pm_shader_key key;
    blake2b_state state;
    blake2b_init(&state, sizeof(key.bytes));
    add_string(&state, key_domain);
    add_u32(&state, PM_SHADER_KEY_VERSION);
    add_string(&state, recipe);
    add_words(&state, words, count);
    blake2b_final(&state, key.bytes, sizeof(key.bytes));
    return key;
}

struct pm_shader_key pm_raw_digest_compute(const uint32_t *words, size_t word_count, uint32_t stage,
                                           const char *entry_point,
                                           const struct pm_spec_value *values, size_t value_count)
{
    struct pm_shader_key key;
    blake2b_state state;
    blake2b_init(&state, sizeof(key.bytes));
    add_string(&state, raw_domain);
    add_u32(&state, PM_SHADER_KEY_VERSION);
    add_u32(&state, stage);
    add_string(&state, entry_point);
    add_u32(&state, (uint32_t)value_count);
    for (size_t i = 0; i < value_count; i++) {
        add_u32(&state, values[i].spec_id);
        add_u32(&state, values[i].size);
        add_u32(&state, (uint32_t)values[i].bits);
        add_u32(&state, (uint32_t)(values[i].bits >> 32));
    }
    add_words(&state, words, word_count);
    blake2b_final(&state, key.bytes, sizeof(key.bytes));
    return key;
}

bool pm_shader_key_equal(const struct pm_shader_key *a, const struct pm_shader_key *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool pm_shader_key_is_none(const struct pm_shader_key *key)
{
    static const struct pm_shader_key none;
    return pm_shader_key_equal(key, &none);
}

void pm_shader_key_format(const struct pm_shader_key *key, char text[static PM_SHADER_KEY_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof(key->bytes); i++) {
        text[2 * i] = digits[key->bytes[i] >> 4];
        text[2 * i + 1] = digits[key->bytes[i] & 15];
    }
    text[PM_SHADER_KEY_TEXT - 1] = '\0';
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool pm_shader_key_parse(const char *text, struct pm_shader_key *key)
{
    struct pm_shader_key parsed;
    if (strlen(text) != PM_SHADER_KEY_TEXT - 1)
        return false;
    for (size_t i = 0; i < sizeof(parsed.bytes); i++) {
        int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        parsed.bytes[i] = (uint8_t)(high << 4 | low);
    }
    *key = parsed;
    return true;
}
