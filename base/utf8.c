#include "base/utf8.h"
#include <stdint.h>

/* Bytes of the well-formed character at text, 0 when there is none. */
static size_t character(const unsigned char *text, size_t size)
{
    unsigned lead = text[0];
    if (lead < 0x80)
        return 1;
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (length == 0 || lead > 0xF4 || length > size)
        return 0;
    uint32_t value = lead & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (text[i] & 0x3Fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (value < least[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    return length;
}

size_t pm_utf8_check(const char *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t length = character((const unsigned char *)text + at, size - at);
        if (length == 0)
            return at;
        at += length;
    }
    return size;
}

size_t pm_utf8_check_line(const char *text, size_t size)
{
    const size_t bad = pm_utf8_check(text, size);
    for (size_t i = 0; i < bad; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return i;
        /* U+0080 to U+009F, which are control characters as much. */
        if ((unsigned char)text[i] == 0xC2 && (unsigned char)text[i + 1] < 0xA0)
            return i;
    }
    return bad;
}

size_t pm_utf8_length(const char *text, size_t size)
{
    size_t length = character((const unsigned char *)text, size);
    return length ? length : 1;
}
