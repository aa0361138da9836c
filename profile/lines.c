#include "profile/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool pm_lines_begin(const char **at, const char *end, const char *header)
{
    const size_t length = strlen(header);
    if ((size_t)(end - *at) < length || memcmp(*at, header, length) != 0)
        return false;
    *at += length;
    return true;
}

bool pm_lines_next(const char **at, const char *end, struct pm_line *line)
{
    const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
    if (!newline)
        return false;
    const size_t length = (size_t)(newline - *at);
    line->count = 0;
    if (length < sizeof line->text && !memchr(*at, '\0', length)) {
        memcpy(line->text, *at, length);
        line->text[length] = '\0';
        char *rest = NULL;
        for (char *word = strtok_r(line->text, " ", &rest); word;
             word = strtok_r(NULL, " ", &rest)) {
            if (line->count == PM_LINE_WORDS) {
                line->count = 0;
                break;
            }
            line->words[line->count++] = word;
        }
    }
    *at = newline + 1;
    return true;
}

bool pm_line_is(const struct pm_line *line, const char *word, size_t count)
{
    return line->count == count && strcmp(line->words[0], word) == 0;
}

bool pm_line_number(const char *text, uint32_t *value)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits] != '\0')
        return false;
    *value = (uint32_t)strtoul(text, NULL, 10);
    return true;
}

bool pm_line_long_number(const char *text, int base, uint64_t *value)
{
    const char *const all = base == 16 ? "0123456789abcdef" : "0123456789";
    const size_t digits = strspn(text, all);
    if (digits == 0 || digits > 20 || text[digits] != '\0')
        return false;
    errno = 0;
    *value = strtoull(text, NULL, base);
    return errno == 0;
}
