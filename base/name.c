#include "base/name.h"
#include "base/utf8.h"
#include <string.h>

bool pm_name_check(const char *text, const char *what, size_t most, struct pm_error *error)
{
    size_t length = strlen(text);
    if (length > most)
        return pm_fail(error, PM_ERROR_INPUT, "%s has %zu bytes, more than %zu", what, length,
                       most);
    size_t bad = pm_utf8_check_line(text, length);
    if (bad == length)
        return true;
    const bool control =
        (unsigned char)text[bad] < 0x20 || text[bad] == 0x7F || pm_utf8_check(text, length) > bad;
    return pm_fail(error, PM_ERROR_INPUT, "%s: byte %zu is %s", what, bad,
                   control ? "a control character" : "not UTF-8");
}

bool pm_game_check(const char *game, const char *what, size_t most, struct pm_error *error)
{
    if (game[0] == '\0')
        return pm_fail(error, PM_ERROR_INPUT, "%s is empty", what);
    if (strcmp(game, ".") == 0 || strcmp(game, "..") == 0)
        return pm_fail(error, PM_ERROR_INPUT, "%s is \"%s\", which no path can have", what, game);
    return pm_name_check(game, what, most, error);
}
