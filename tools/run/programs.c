#include "tools/run/programs.h"

#include "base/file.h"
#include "base/name.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line a pair: the game, a tab, the program. */
enum { MOST_BYTES = 256 << 10, MOST_LINES = 512 };

static char *file_path(struct pm_error *error)
{
    char *path = pm_place_path(PM_PLACE_DATA, "programs");
    if (!path)
        pm_fail(error, PM_ERROR_MEMORY, "no home, or out of memory");
    return path;
}

static char *whole(const char *path)
{
    char *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
    if (real && strpbrk(real, "\t\n")) {
        free(real);
        return NULL;
    }
    return real;
}

char *pm_program_path(const char *name)
{
    const char *at = getenv("PATH");
    if (strchr(name, '/') || !at)
        return whole(name);
    char *found = NULL;
    for (;;) {
        const size_t length = strcspn(at, ":");
        char path[PATH_MAX];
        if (length + strlen(name) + 2 <= sizeof path) {
            memcpy(path, at, length);
            path[length] = '/';
            strcpy(path + length + 1, name);
            found = whole(length > 0 ? path : name);
        }
        if (found || at[length] == '\0')
            return found;
        at += length + 1;
    }
}

/* The file's text; empty where there is none. */
static bool read_text(const char *path, struct pm_buffer *text, struct pm_error *error)
{
    return (access(path, F_OK) != 0 && errno == ENOENT) || pm_file_read(path, text, error);
}

/* Cuts the next whole line into its two parts. */
static bool next_line(char **rest, char **game, char **program)
{
    for (char *line; (line = strsep(rest, "\n"));) {
        *game = strsep(&line, "\t");
        *program = line;
        if (line && pm_game_check(*game, "game", PM_NAME_BYTES, NULL))
            return true;
    }
    return false;
}

bool pm_program_games(const char *program, struct pm_names *games, struct pm_error *error)
{
    struct pm_buffer text;
    char *path = file_path(error);
    pm_buffer_init(&text, MOST_BYTES);
    bool ok = path && read_text(path, &text, error);
    char *rest = ok && text.size > 0 ? (char *)text.data : NULL;
    for (char *game, *of; ok && next_line(&rest, &game, &of);) {
        if (strcmp(of, program) == 0 && !pm_names_add(games, game))
            ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    pm_buffer_finish(&text);
    free(path);
    return ok;
}

bool pm_program_remember(const char *program, const struct pm_names *games, struct pm_error *error)
{
    struct pm_buffer text, now;
    struct pm_error damaged = {0};
    char *path = file_path(error), *folder = pm_place_path(PM_PLACE_DATA, NULL);
    pm_buffer_init(&text, MOST_BYTES);
    pm_buffer_init(&now, MOST_BYTES);
    bool ok = path && folder && pm_make_folder(folder, error);
    /* One that cannot be read any more is begun anew. */
    if (ok && !read_text(path, &text, &damaged))
        text.size = 0;
    for (size_t i = 0; ok && i < games->count; i++)
        ok = pm_buffer_printf(&now, "%s\t%s\n", games->names[i], program) ||
             pm_fail(error, PM_ERROR_LIMIT, "%s: too long a name", program);
    char *rest = ok && text.size > 0 ? (char *)text.data : NULL;
    size_t lines = games->count;
    for (char *game, *of; ok && lines < MOST_LINES && next_line(&rest, &game, &of);) {
        /* The oldest go where there is no room. */
        if (strcmp(of, program) != 0) {
            if (!pm_buffer_printf(&now, "%s\t%s\n", game, of))
                break;
            lines++;
        }
    }
    ok = ok && pm_file_put(path, now.data, now.size, error);
    pm_buffer_finish(&now);
    pm_buffer_finish(&text);
    free(folder);
    free(path);
    return ok;
}
