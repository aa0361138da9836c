#include "profile/game_note.h"

#include "base/file.h"
#include "base/name.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 10, MOST_GAMES = 16 };

void pm_game_note(const char *game)
{
    const char *path = secure_getenv(PM_GAME_NOTE_VARIABLE);
    char line[PM_NAME_BYTES + 2];
    if (!path || path[0] != '/')
        return;
    const int size = snprintf(line, sizeof line, "%s\n", game);
    /* It was made by who reads it. */
    const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (size > 0 && size < (int)sizeof line)
        (void)pm_write_all(fd, line, (size_t)size);
    close(fd);
}

bool pm_game_note_read(const char *path, struct pm_names *games, struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    bool ok = pm_file_read(path, &text, error);
    char *rest = ok && text.size > 0 ? (char *)text.data : NULL;
    for (char *line; ok && games->count < MOST_GAMES && (line = strsep(&rest, "\n"));) {
        if (pm_game_check(line, "game", PM_NAME_BYTES, NULL) && !pm_names_add(games, line))
            ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    pm_buffer_finish(&text);
    return ok;
}
