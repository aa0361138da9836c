#include "base/json_text.h"
#include "base/utf8.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 64 };

struct cursor {
    const struct pm_json_text *json;
    size_t at;
    struct pm_error *error;
};

bool pm_json_fail(const struct pm_json_text *json, size_t at, struct pm_error *error,
                  const char *format, ...)
{
    size_t line = 1, column = 1;
    for (size_t i = 0; i < at && i < json->size; i++) {
        unsigned char c = (unsigned char)json->text[i];
        if (c == '\n') {
            line++;
            column = 1;
        } else if ((c & 0xC0) != 0x80) {
            column++;
        }
    }
    char what[sizeof(error->message)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return pm_fail(error, PM_ERROR_INPUT, "%s:%zu:%zu: %s", json->name, line, column, what);
}

/* The byte at the cursor, or -1 behind the end. */
static int peek(const struct cursor *c)
{
    return c->at < c->json->size ? (unsigned char)c->json->text[c->at] : -1;
}

static void skip_space(struct cursor *c)
{
    for (int b = peek(c); b == ' ' || b == '\t' || b == '\n' || b == '\r'; b = peek(c))
        c->at++;
}

/* "expected X, found Y" at the cursor. */
static bool unexpected(const struct cursor *c, const char *expected)
{
    int found = peek(c);
    if (found < 0)
        return pm_json_fail(c->json, c->at, c->error, "expected %s, but the text ends", expected);
    if (found < 0x20 || found == 0x7F)
        return pm_json_fail(c->json, c->at, c->error, "expected %s, found byte 0x%02X", expected,
                            (unsigned)found);
    int bytes = (int)pm_utf8_length(c->json->text + c->at, c->json->size - c->at);
    return pm_json_fail(c->json, c->at, c->error, "expected %s, found '%.*s'", expected, bytes,
                        c->json->text + c->at);
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool check_digits(struct cursor *c)
{
    if (!is_digit(peek(c)))
        return unexpected(c, "a digit");
    while (is_digit(peek(c)))
        c->at++;
    return true;
}

static bool check_number(struct cursor *c)
{
    if (peek(c) == '-')
        c->at++;
    if (peek(c) == '0') {
        c->at++;
        if (is_digit(peek(c)))
            return pm_json_fail(c->json, c->at - 1, c->error, "a number must not start with 0");
    } else if (!check_digits(c)) {
        return false;
    }
    if (peek(c) == '.') {
        c->at++;
        if (!check_digits(c))
            return false;
    }
    if (peek(c) == 'e' || peek(c) == 'E') {
        c->at++;
        if (peek(c) == '+' || peek(c) == '-')
            c->at++;
        if (!check_digits(c))
            return false;
    }
    return true;
}

/* The four digits of a \u escape at the cursor. */
static bool check_hex(struct cursor *c, unsigned *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        int b = peek(c);
        unsigned digit;
        if (is_digit(b))
            digit = (unsigned)b - '0';
        else if ((b | 0x20) >= 'a' && (b | 0x20) <= 'f')
            digit = (unsigned)(b | 0x20) - 'a' + 10;
        else
            return unexpected(c, "four hexadecimal digits after \\u");
        *unit = *unit << 4 | digit;
        c->at++;
    }
    return true;
}

/* At the backslash. */
static bool check_escape(struct cursor *c)
{
    size_t start = c->at++;
    int b = peek(c);
    if (b != 'u') {
        if (b <= 0 || !strchr("\"\\/bfnrt", b))
            return unexpected(c, "one of \" \\ / b f n r t u after \\");
        c->at++;
        return true;
    }
    c->at++;
    unsigned unit, low;
    if (!check_hex(c, &unit))
        return false;
    if (unit == 0)
        return pm_json_fail(c->json, start, c->error, "\\u0000 is not allowed in a string");
    if (unit < 0xD800 || unit > 0xDFFF)
        return true;
    bool paired =
        unit < 0xDC00 && c->at + 1 < c->json->size && memcmp(c->json->text + c->at, "\\u", 2) == 0;
    if (paired) {
        c->at += 2;
        if (!check_hex(c, &low))
            return false;
        paired = low >= 0xDC00 && low <= 0xDFFF;
    }
    return paired || pm_json_fail(c->json, start, c->error, "half of a surrogate pair in a string");
}

static bool check_string(struct cursor *c)
{
    size_t start = c->at++;
    for (;;) {
        int b = peek(c);
        if (b == '"') {
            c->at++;
            return true;
        }
        if (b < 0)
            return pm_json_fail(c->json, start, c->error, "this string has no closing quote");
        if (b < 0x20)
            return pm_json_fail(c->json, c->at, c->error,
                                b == '\n' ? "a string must end on its line"
                                          : "a control character in a string must be escaped");
        if (b == '\\') {
            if (!check_escape(c))
                return false;
        } else {
            c->at++;
        }
    }
}

static bool check_value(struct cursor *c, int depth);

static bool check_members(struct cursor *c, int depth, char close)
{
    bool object = close == '}';
    c->at++;
    skip_space(c);
    if (peek(c) == close) {
        c->at++;
        return true;
    }
    for (;;) {
        if (object) {
            if (peek(c) != '"')
                return unexpected(c, "a key in quotes");
            if (!check_string(c))
                return false;
            skip_space(c);
            if (peek(c) != ':')
                return unexpected(c, "':' after a key");
            c->at++;
            skip_space(c);
        }
        if (!check_value(c, depth + 1))
            return false;
        skip_space(c);
        if (peek(c) == close) {
            c->at++;
            return true;
        }
        if (peek(c) != ',')
            return unexpected(c, object ? "',' or '}'" : "',' or ']'");
        c->at++;
        skip_space(c);
    }
}

static bool check_word(struct cursor *c, const char *word)
{
    size_t length = strlen(word);
    if (c->json->size - c->at < length || memcmp(c->json->text + c->at, word, length) != 0)
        return unexpected(c, "a value (a string in quotes, a number, true, false, null, { or [)");
    c->at += length;
    return true;
}

static bool check_value(struct cursor *c, int depth)
{
    if (depth > DEEPEST)
        return pm_json_fail(c->json, c->at, c->error, "nested more than %d deep", DEEPEST);
    int b = peek(c);
    if (b == '{')
        return check_members(c, depth, '}');
    if (b == '[')
        return check_members(c, depth, ']');
    if (b == '"')
        return check_string(c);
    if (b == '-' || is_digit(b))
        return check_number(c);
    return check_word(c, b == 't' ? "true" : b == 'f' ? "false" : "null");
}

bool pm_json_check(const struct pm_json_text *json, struct pm_error *error)
{
    size_t bad = pm_utf8_check(json->text, json->size);
    if (bad < json->size)
        return pm_json_fail(json, bad, error, "byte 0x%02X is not UTF-8",
                            (unsigned char)json->text[bad]);
    struct cursor c = {json, 0, error};
    skip_space(&c);
    if (!check_value(&c, 0))
        return false;
    skip_space(&c);
    if (c.at < json->size)
        return unexpected(&c, "nothing more after the value");
    return true;
}

void pm_json_walk_begin(struct pm_json_walk *walk, const struct pm_json_text *json, size_t value)
{
    *walk =
        (struct pm_json_walk){.json = json, .at = value + 1, .object = json->text[value] == '{'};
}

bool pm_json_walk_next(struct pm_json_walk *walk)
{
    struct pm_error ignored;
    struct cursor c = {walk->json, walk->at, &ignored};
    skip_space(&c);
    if (peek(&c) == ',') {
        c.at++;
        skip_space(&c);
    }
    if (peek(&c) == '}' || peek(&c) == ']' || peek(&c) < 0)
        return false;
    walk->name = c.at;
    if (walk->object) {
        if (!check_string(&c))
            return false;
        skip_space(&c);
        c.at++;
        skip_space(&c);
    }
    walk->value = c.at;
    if (!check_value(&c, 0))
        return false;
    walk->value_end = walk->at = c.at;
    return true;
}

size_t pm_json_root(const struct pm_json_text *json)
{
    struct cursor c = {json, 0, NULL};
    skip_space(&c);
    return c.at;
}
