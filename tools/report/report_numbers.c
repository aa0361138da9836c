#include "tools/report/report_marks.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_part_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The length of the decimal number with a point that begins at text; 0: there is none. */
static size_t number_length(const char *text)
{
    size_t length = strspn(text, "0123456789");
    if (length == 0 || text[length] != '.')
        return 0;
    length += 1 + strspn(text + length + 1, "0123456789");
    if (text[length] != 'e')
        return length;
    const size_t digits = length + 1 + (text[length + 1] == '-' || text[length + 1] == '+');
    const size_t count = strspn(text + digits, "0123456789");
    return count ? digits + count : length;
}

/* The shortest text of the same single-precision value, with a point; false: it is not shorter. */
static bool shorten(const char *number, size_t length, char *out, size_t size)
{
    const float value = strtof(number, NULL);
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, size, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value)
            break;
    }
    if (strchr(out, 'n')) /* infinite */
        return false;
    if (!strpbrk(out, ".e"))
        strcat(out, ".0");
    return strlen(out) < length;
}

void pm_report_shorten_numbers(char *line)
{
    char *to = line;
    for (const char *at = line; *at;) {
        char text[32];
        const size_t length = at == line || !is_part_of_word(at[-1]) ? number_length(at) : 0;
        /* A double's ends with lf. */
        if (length && !is_part_of_word(at[length]) && shorten(at, length, text, sizeof(text))) {
            memcpy(to, text, strlen(text));
            to += strlen(text);
        } else {
            memmove(to, at, length ? length : 1);
            to += length ? length : 1;
        }
        at += length ? length : 1;
    }
    *to = '\0';
}
